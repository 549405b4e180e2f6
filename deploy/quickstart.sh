#!/usr/bin/env bash
# From nothing to a running, loaded tcactd in one command, on a fresh Debian 12 machine as root. It installs what is
# missing, builds, starts the server on loopback, drives load through it, shows actions with tcact, and stops.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

say "1/5 packages"
./deploy/install.sh
echo "all there (deploy/packages.txt)"

say "2/5 build (minutes the first time, seconds after that)"
bazel build --config=release //server:tcactd //client:tcact //client:tcact-load
bin=$(bazel info --config=release bazel-bin 2> /dev/null)

work=$(mktemp -d)
server_pid=
stop() {
  if [[ -n $server_pid ]]; then
    kill -TERM "$server_pid" 2> /dev/null || true
    wait "$server_pid" || true
  fi
  rm -rf "$work"
}
trap stop EXIT

say "3/5 start tcactd on a free loopback port"
port=9341
while (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do port=$((port + 1)); done
export TCACT_SERVER=127.0.0.1:$port
"$bin/server/tcactd" --listen="$TCACT_SERVER" --store=memory > "$work/tcactd.log" 2>&1 &
server_pid=$!
for _ in $(seq 100); do
  "$bin/client/tcact" health > /dev/null 2>&1 && break
  kill -0 "$server_pid" 2> /dev/null || { cat "$work/tcactd.log"; exit 1; }
  sleep 0.1
done
cat "$work/tcactd.log"

say "4/5 five seconds of create and destroy over the Apply stream"
"$bin/client/tcact-load" run --scenario=churn --mode=apply --duration=5s --server="$TCACT_SERVER"

say "5/5 actions, as tc shows them"
set -x
"$bin/client/tcact" actions add action gact drop index 1 cookie c0ffee
"$bin/client/tcact" actions add action police rate 1mbit burst 10k index 7
"$bin/client/tcact" bind action gact index 1
"$bin/client/tcact" stats add action gact index 1 packets 3 bytes 180
"$bin/client/tcact" -s actions ls action gact
"$bin/client/tcact" -j -p actions get action police index 7
"$bin/client/tcact" slabinfo
{ set +x; } 2> /dev/null

say "where to look next"
cat << EOF
server      $bin/server/tcactd --help
tc's words  $bin/client/tcact --help
load        $bin/client/tcact-load run --help
the idea    $bin/client/tcact-load compare    per-object against slab against slab-merged, every lock
read        README.md, docs/design.md, docs/api.md, docs/performance.md
EOF
