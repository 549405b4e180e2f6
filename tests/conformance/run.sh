#!/usr/bin/env bash
# Conformance with the real tc: our own cases, and the recorded ones where they lie beside the checkout.
#   tests/conformance/run.sh path/to/tcact path/to/tcactd
set -uo pipefail
cd "$(dirname "$0")/../.."
tcact=$1
tcactd=$2
shared=${TCACT_SHARED:-../shared}
failed=0

python3 tests/conformance/tdc_runner.py --tc "$tcact" --server-binary "$tcactd" tests/conformance/cases || failed=1
if [[ -d $shared/tdc && -d $shared/transcripts ]]; then
  python3 tests/conformance/tdc_runner.py --tc "$tcact" --server-binary "$tcactd" \
    "$shared/tdc/gact.json" "$shared/tdc/police.json" || failed=1
  python3 tests/conformance/replay.py --tc "$tcact" --server-binary "$tcactd" \
    "$shared"/transcripts/{30-kind-gact,30-kind-police,10-index,40-flags,50-batch,31-bad-input}.jsonl || failed=1
else
  echo "recorded cases skipped: no $shared (set TCACT_SHARED)"
fi
exit $failed
