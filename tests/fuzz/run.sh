#!/usr/bin/env bash
# Lets libFuzzer look for inputs that break a promise, SECONDS (default 60) for each target, from the examples on. Needs
# clang-14, and installs it.
#   tests/fuzz/run.sh [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}

if ! command -v clang++-14 > /dev/null || ! ls /usr/lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a > /dev/null 2>&1; then
  apt-get install -y --no-install-recommends clang-14 libclang-rt-14-dev > /dev/null
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bazel build --config=fuzz //tests/fuzz:action_fuzz //tests/fuzz:grammar_fuzz //tests/fuzz:seeds
bin=$(bazel info --config=fuzz bazel-bin 2> /dev/null)
"$bin/tests/fuzz/seeds" "$work"
for target in grammar action; do
  echo "$target: $seconds s"
  "$bin/tests/fuzz/${target}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$work/" "$work/$target" > "$work/$target.log" 2>&1 || {
    tail -60 "$work/$target.log"
    for found in "$work"/crash-* "$work"/timeout-* "$work"/oom-*; do
      [[ -e $found ]] && base64 "$found"
    done
    exit 1
  }
  grep -E 'number_of_executed_units|new_units_added' "$work/$target.log"
done
