#!/usr/bin/env bash
# Builds and tests. On a fresh Debian 12 machine as root it installs what it needs first.
#   ./tests/run.sh          build, unit, model, stress and conformance tests, lint
#   ./tests/run.sh --full   the same, then all under ASan+UBSan, the server under TSan, the fuzzers, the image and packages, a kind more
set -uo pipefail
cd "$(dirname "$0")/.."

full=false
for word in "$@"; do
  case $word in
    --full) full=true ;;
    -h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "tests/run.sh: unknown option '$word'; known: --full, --help" >&2; exit 2 ;;
  esac
done

passed=0
failed=0
failures=()

# Runs a step and counts it.
step() {
  local name=$1 start=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  if "$@"; then
    passed=$((passed + 1))
    printf '== %s: passed, %s s\n' "$name" $((SECONDS - start))
  else
    failed=$((failed + 1))
    failures+=("$name")
    printf '== %s: FAILED, %s s\n' "$name" $((SECONDS - start))
  fi
}

check_format() { git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror; }

tidy() {
  python3 tests/lint/compile_commands.py || return 1
  if $full; then ./tests/lint/clang_tidy.sh --all; else ./tests/lint/clang_tidy.sh; fi
}

conformance() {
  local bin
  bin=$(bazel info bazel-bin 2> /dev/null)
  ./tests/conformance/run.sh "$bin/client/tcact" "$bin/server/tcactd"
}

debian_package() { ./tests/deploy/debian_test.sh "$(bazel info bazel-bin 2> /dev/null)"; }

step "packages" ./deploy/install.sh
step "build" bazel build //...
step "tests" bazel test //...
step "architecture" ./tests/architecture/check.sh
step "format" check_format
step "clang-tidy" tidy
step "conformance" conformance
if $full; then
  step "asan" bazel test --config=asan //tests/...
  step "tsan" bazel test --config=tsan //tests/server/... //tests/stress/...
  step "fuzz" ./tests/fuzz/run.sh 60
  step "container image" ./deploy/image_test.sh
  step "kubernetes schemas" ./tests/deploy/kubernetes_schema.sh
  step "debian package" debian_package
  step "twentieth kind" ./tests/architecture/twentieth_kind.sh
fi

printf '\n'
for name in ${failures[@]+"${failures[@]}"}; do echo "failed: $name"; done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
