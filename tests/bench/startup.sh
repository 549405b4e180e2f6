#!/usr/bin/env bash
# usage: startup.sh TCACTD TCACT BARE_CLIENT [RUNS]: one command of tcact against one call of a bare gRPC client, each in a
# process of its own, in turns. Prints medians of wall time and their ratio.
set -euo pipefail
tcactd=$1 tcact=$2 bare=$3 runs=${4:-40}
port=9401
while (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do port=$((port + 1)); done
export TCACT_SERVER=127.0.0.1:$port
"$tcactd" --listen="$TCACT_SERVER" --log-level=error &
server=$!
trap 'kill $server; wait $server' EXIT
until "$tcact" health > /dev/null 2>&1; do sleep 0.1; done
"$tcact" actions add action gact pass index 1
python3 - "$tcact" "$bare" "$TCACT_SERVER" "$runs" << 'PY'
import statistics, subprocess, sys, time
tcact, bare, server, runs = sys.argv[1:]
commands = {"bare client": [bare, server], "tcact": [tcact, "actions", "get", "action", "gact", "index", "1"]}
times = {name: [] for name in commands}
for _ in range(int(runs)):
    for name, command in commands.items():
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times[name].append(time.perf_counter() - start)
medians = {name: statistics.median(values) for name, values in times.items()}
for name, median in medians.items():
    print(f"{name:12} {median * 1e3:6.1f} ms")
print(f"ratio        {medians['tcact'] / medians['bare client']:6.2f}")
PY
