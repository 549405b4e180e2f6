#!/usr/bin/env bash
# Conformance with the real tc: cases and sessions recorded elsewhere, where they lie beside the checkout. (Our own
# cases run under `bazel test`.)
#   tests/conformance/run.sh path/to/tcact path/to/tcactd
set -uo pipefail
cd "$(dirname "$0")/../.."
tcact=$1
tcactd=$2
shared=${TCACT_SHARED:-../shared}
failed=0

if [[ -d $shared/tdc && -d $shared/transcripts ]]; then
  python3 tests/conformance/tdc_runner.py --tc "$tcact" --server-binary "$tcactd" \
    "$shared"/tdc/*.json || failed=1
  python3 tests/conformance/replay.py --tc "$tcact" --server-binary "$tcactd" \
    "$shared"/transcripts/*.jsonl || failed=1
else
  echo "recorded cases skipped: no $shared (set TCACT_SHARED)"
fi
exit $failed
