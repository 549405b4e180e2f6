#!/usr/bin/env bash
# usage: batch_vs_tc.sh TCACTD TCACT [ROUNDS]: 100,000 adds from a batch file, one a line and 32 a line: tcact against the
# kernel's own tc (act_mirred, in a network namespace of its own), in turns. Prints seconds. As root.
set -euo pipefail
tcactd=$1 tcact=$2 rounds=${3:-3}
work=$(mktemp -d)
port=9401
while (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do port=$((port + 1)); done
export TCACT_SERVER=127.0.0.1:$port
"$tcactd" --listen="$TCACT_SERVER" --log-level=error &
server=$!
trap 'kill $server; wait $server; rm -rf "$work"' EXIT
until "$tcact" health > /dev/null 2>&1; do sleep 0.1; done

# adds ACTION PER_LINE: 100,000 of them.
adds() {
  awk -v action="$1" -v each="$2" 'BEGIN { for (i = 1; i <= 100000; i += each) {
    line = "actions add"; for (j = i; j < i + each; j++) line = line " action " action " index " j; print line } }'
}

TIMEFORMAT=%R
for each in 1 32; do
  adds "mirred egress redirect dev lo" $each > "$work/tc.$each"
  adds "gact drop" $each > "$work/tcact.$each"
  for ((round = 0; round < rounds; round++)); do
    kernel=$({ time unshare -n tc -batch "$work/tc.$each"; } 2>&1)
    ours=$({ time "$tcact" -batch "$work/tcact.$each"; } 2>&1)
    "$tcact" actions flush action gact
    awk -v n=$each -v k="$kernel" -v o="$ours" \
      'BEGIN { printf "%2d a line: tc %.2f s, tcact %.2f s, %.1f times as fast\n", n, k, o, k / o }'
  done
done
