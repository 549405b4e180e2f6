#!/usr/bin/env bash
# clang-tidy by .clang-tidy: on the files that differ from a revision (default HEAD~1), or on all with --all.
# Needs compile_commands.json (tests/lint/compile_commands.py).
set -uo pipefail
cd "$(dirname "$0")/../.."

if [[ ${1:-} == --all ]]; then
  mapfile -t files < <(git ls-files 'server/*.cc' 'client/*.cc' 'proto/kinds/*.cc')
else
  mapfile -t files < <(git diff --name-only --diff-filter=d "${1:-HEAD~1}" -- \
    'server/*.cc' 'client/*.cc' 'proto/kinds/*.cc' 2> /dev/null)
fi
echo "clang-tidy on ${#files[@]} files"
[[ ${#files[@]} -eq 0 ]] && exit 0
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p .
