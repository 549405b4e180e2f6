#!/bin/sh
# Unary and Apply rates of tcactd beside RPCs that do nothing, on the same server settings and with messages of the
# same sizes. Rounds alternate; medians and ratios are printed.
#
#   tests/bench/rpc_vs_empty.sh TCACTD TCACT_LOAD EMPTY_SERVER EMPTY_LOAD [ROUNDS]
set -eu
[ $# -ge 4 ] || { sed -n '2,5p' "$0" >&2; exit 2; }
tcactd=$1 load=$2 empty_server=$3 empty_load=$4 rounds=${5:-5}
dir=$(mktemp -d /tmp/rpc_vs_empty_XXXXXX)
pids=
finish() {
  for pid in $pids; do kill "$pid" 2>/dev/null || true; done
  for pid in $pids; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM

"$tcactd" --listen="unix:$dir/tcactd" --store=memory >"$dir/tcactd.log" 2>&1 &
pids="$pids $!"
"$empty_server" --listen="unix:$dir/empty" >"$dir/empty.log" 2>&1 &
pids="$pids $!"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  [ -S "$dir/tcactd" ] && [ -S "$dir/empty" ] && break
  sleep 0.25
done
[ -S "$dir/tcactd" ] || { cat "$dir/tcactd.log" >&2; exit 1; }
[ -S "$dir/empty" ] || { cat "$dir/empty.log" >&2; exit 1; }

number() { sed -n 's/.*"operations_per_second": \([0-9]*\).*/\1/p' "$1"; }
ours() {  # mode operations
  "$load" run --server="unix:$dir/tcactd" --scenario=churn --mode="$1" --ops-per-message="$2" \
    --duration=2s --warmup=500ms --json="$dir/out" >/dev/null 2>"$dir/err" || { cat "$dir/err" >&2; exit 1; }
  number "$dir/out" >>"$dir/ours_$1_$2"
}
empty() {
  "$empty_load" --server="unix:$dir/empty" --mode="$1" --ops_per_message="$2" --duration=2s >"$dir/out"
  number "$dir/out" >>"$dir/empty_$1_$2"
}
median() { sort -n "$1" | awk '{v[NR] = $1} END {print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }

cases="unary:1 apply:1 apply:32 apply:512"
round=1
while [ "$round" -le "$rounds" ]; do
  for case in $cases; do
    # Who goes first changes from round to round.
    if [ $((round % 2)) -eq 1 ]; then
      ours "${case%:*}" "${case#*:}"
      empty "${case%:*}" "${case#*:}"
    else
      empty "${case%:*}" "${case#*:}"
      ours "${case%:*}" "${case#*:}"
    fi
  done
  [ -t 2 ] && printf '\rround %d of %d' "$round" "$rounds" >&2
  round=$((round + 1))
done
[ -t 2 ] && printf '\r\033[K' >&2

printf '%-8s %5s %14s %14s %7s\n' mode ops 'tcactd ops/s' 'empty ops/s' ratio
for case in $cases; do
  mode=${case%:*} ops=${case#*:}
  a=$(median "$dir/ours_${mode}_$ops") b=$(median "$dir/empty_${mode}_$ops")
  awk -v m="$mode" -v o="$ops" -v a="$a" -v b="$b" \
    'BEGIN {printf "%-8s %5d %14.0f %14.0f %7.2f\n", m, o, a, b, (b > 0 ? a / b : 0)}'
done
