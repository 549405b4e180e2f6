#!/usr/bin/env bash
# Builds the container image and tries it as it is meant to run: not root, read-only root file system, no capabilities,
# a memory limit, the store on a volume. Calls it through a socket, asks its health check, ends it with SIGTERM, starts
# it again and finds the actions. Exit 0: all true, or (with a word) this machine runs no containers.
#   deploy/image_test.sh [BIN_DIR]    programs that are built already, see deploy/image.sh --bin
set -euo pipefail
cd "$(dirname "$0")/.."

skip() { echo "image test skipped: $*"; exit 0; }
fail() { echo "image test FAILED: $*" >&2; exit 1; }
[[ $EUID -eq 0 ]] || skip "not root"
./deploy/install.sh deploy/image-packages.txt || skip "no buildah, podman and runc here"

work=$(mktemp -d /tmp/tcact-image.XXXXXX)
name=tcact-test-$$
clean() {
  podman rm --force --time 2 "$name" > /dev/null 2>&1 || true
  # Layers hold files that only the storage may remove.
  podman rmi --all --force > /dev/null 2>&1 || true
  rm -rf "$work"
}
# A storage of its own, and settings that hold inside a container too (CI).
export CONTAINERS_STORAGE_CONF=$work/storage.conf CONTAINERS_CONF=$work/containers.conf BUILDAH_ISOLATION=chroot
printf '[storage]\ndriver = "vfs"\ngraphroot = "%s/store"\nrunroot = "%s/run"\n' "$work" "$work" > "$work/storage.conf"
cat > "$work/containers.conf" << END
[containers]
default_ulimits = ["nofile=16384:16384", "nproc=8192:8192"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
END
trap clean EXIT

# Timers of health checks need a running systemd, which podman says at length; here the check is run by hand.
podman() { command podman "$@" 2> >(grep -v 'systemd connection' >&2); }

image=localhost/tcact:test
./deploy/image.sh --tag=$image --archive="$work/tcact.tar" ${1:+--bin="$1"}
megabytes=$(podman image inspect --format '{{.Size}}' $image | awk '{print int($1 / 1000000)}')
[[ $megabytes -le 60 ]] || fail "the image has $megabytes MB; it was under 60"
[[ -s $work/tcact.tar ]] || fail "no archive was written"

mkdir "$work/volume" "$work/socket"
chown 10001:10001 "$work/volume" "$work/socket"
export TCACT_SERVER=unix:$work/socket/tcactd.sock
tcact=$work/tcact
root=$(podman image mount $image)
chroot "$root" /usr/bin/tcactd --version > /dev/null || fail "tcactd does not start in the image's root"
cp "$root/usr/bin/tcact" "$tcact"
podman image unmount $image > /dev/null

# The program starts in that root, so a container that does not is the machine's way.
command podman run --rm --network none --entrypoint /usr/bin/tcactd $image --version > /dev/null 2> "$work/probe" ||
  skip "this machine runs no containers: $(tail -1 "$work/probe")"

start() {
  podman run --detach --name "$name" --network none --read-only --cap-drop all --security-opt no-new-privileges \
    --memory 256m --volume "$work/volume:/var/lib/tcact" \
    --volume "$work/socket:/run/tcact" \
    --env TCACT_LISTEN=0.0.0.0:9341,unix:/run/tcact/tcactd.sock $image > /dev/null
  for _ in $(seq 100); do
    "$tcact" health > /dev/null 2>&1 && return
    sleep 0.2
  done
  podman logs "$name"
  fail "it does not serve"
}

# Ends it with SIGTERM and requires the drain: exit code 0, and the log's last words.
stop() {
  local code
  podman kill --signal TERM "$name" > /dev/null
  code=$(timeout 30 podman wait "$name") || fail "it did not end within 30 s of SIGTERM"
  [[ $code == 0 ]] || fail "exit code $code after SIGTERM"
  podman logs "$name" 2>&1 | grep -q 'ended after' || fail "the log does not tell of an end in order"
  podman rm "$name" > /dev/null
}

start
[[ $(podman inspect --format '{{.Config.User}}' "$name") == 10001:10001 ]] || fail "it does not run as 10001"
status=/proc/$(podman inspect --format '{{.State.Pid}}' "$name")/status
grep -qE '^Uid:\s+10001\s+10001' "$status" || fail "the process has another uid: $(grep Uid "$status")"
grep -qE '^CapEff:\s+0+$' "$status" || fail "the process has capabilities: $(grep CapEff "$status")"
grep -qE '^NoNewPrivs:\s+1' "$status" || fail "the process may gain privileges"
healthcheck=$(podman inspect --format "{{.Config.Healthcheck.Test}}" "$name")
[[ $healthcheck == "[CMD /usr/bin/tcact health]" ]] || fail "the health check is $healthcheck"
podman healthcheck run "$name" || fail "the health check says no"

limit=$(podman inspect --format '{{.HostConfig.Memory}}' "$name")
[[ $limit == $((256 << 20)) ]] || fail "the memory limit is $limit"

"$tcact" actions add action gact drop index 1 cookie c0ffee
"$tcact" actions add action police rate 1mbit burst 10k index 7
"$tcact" bind action gact index 1 > /dev/null
"$tcact" stats add action gact index 1 packets 3 bytes 180
before=$("$tcact" actions ls action gact; "$tcact" actions ls action police)
podman exec "$name" /usr/bin/tcact actions get action police index 7 > /dev/null || fail "tcact in the image does not work"

stop
start
after=$("$tcact" actions ls action gact; "$tcact" actions ls action police)
[[ $after == "$before" ]] || fail "other actions after the restart: $(diff <(echo "$before") <(echo "$after"))"
"$tcact" -s actions get action gact index 1 | grep -q 'Sent 180 bytes 3 pkt' || fail "the statistics are gone"
[[ $("$tcact" actions ls action gact | grep -c 'ref 2 bind 1') == 1 ]] || fail "the bind is gone"
podman pause "$name" > /dev/null 2>&1 && {
  ! timeout 30 podman healthcheck run "$name" > /dev/null 2>&1 || fail "the health check says yes of a paused server"
  podman unpause "$name" > /dev/null
}
stop
echo "image test: $megabytes MB, uid 10001, read-only root, no capabilities; health, SIGTERM and restart are right"
