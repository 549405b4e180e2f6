#!/usr/bin/env bash
# The systemd unit is sound, and its exposure, as systemd itself judges it, stays low.
#   unit_test.sh UNIT TCACTD
set -euo pipefail
readonly most=15  # tenths; 1.2 at the time of writing
command -v systemd-analyze > /dev/null || { echo "unit not checked: no systemd-analyze here"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The program need not be installed to be checked.
sed "s|^ExecStart=/usr/bin/tcactd|ExecStart=$(realpath "$2")|; /^Documentation=/d" "$1" > "$work/tcactd.service"
said=$(systemd-analyze verify --man=no "$work/tcactd.service" 2>&1 | grep -F tcactd.service || true)
[[ -z $said ]] || { echo "$said"; exit 1; }

score=$(systemd-analyze security --offline=true "$1" | sed -n 's/.*exposure level for [^:]*: \([0-9]*\)\.\([0-9]\).*/\1\2/p')
[[ -n $score ]] || { echo "systemd-analyze tells no exposure level"; exit 1; }
echo "exposure level, in tenths: $score"
[[ $((10#$score)) -le $most ]] || { echo "more than $most"; exit 1; }
