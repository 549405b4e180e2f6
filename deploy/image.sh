#!/usr/bin/env bash
# Builds the container image from this repository: FROM scratch, tcactd and tcact and the libraries that they load.
# On a fresh Debian 12 machine as root it installs what is missing first. No registry of images is asked.
#   deploy/image.sh [--tag=NAME:TAG] [--bin=DIR] [--archive=FILE]
#     --tag      the image's name; default tcact:VERSION
#     --bin      use the programs built there (server/tcactd, client/tcact) instead of building them
#     --archive  also write the image to FILE, for `docker load` or `podman load` elsewhere
# Storage and runtime are those of buildah on this machine (containers-storage.conf(5)), so podman finds the image.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

tag=
bin=
archive=
for word in "$@"; do
  case $word in
    --tag=?*) tag=${word#*=} ;;
    --bin=?*) bin=$(realpath "${word#*=}") ;;
    --archive=?*) archive=$(realpath -m "${word#*=}") ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "deploy/image.sh: unknown option '$word'; see --help" >&2; exit 2 ;;
  esac
done
cd "$here/.."

"$here/install.sh" "$here/image-packages.txt"
if [[ -z $bin ]]; then
  "$here/install.sh"
  bazel build --config=release //server:tcactd //client:tcact
  bin=$(bazel info --config=release bazel-bin 2> /dev/null)
fi
version=$("$bin/server/tcactd" --version | cut -d' ' -f2)
[[ -n $tag ]] || tag=tcact:$version

work=$(mktemp -d)
container=
clean() {
  [[ -z $container ]] || buildah rm "$container" > /dev/null
  rm -rf "$work"
}
trap clean EXIT

"$here/image_root.sh" "$bin" "$work/root"
# The health check is part of Docker's format only.
container=$(buildah from --format docker scratch)
# Owners and modes come along: run/tcact and var/lib/tcact belong to the user.
buildah copy --quiet "$container" "$work/root" / > /dev/null

# The same words as in the Containerfile; tests/deploy compares the two.
buildah config \
  --user 10001:10001 \
  --workingdir / \
  --port 9341 \
  --volume /var/lib/tcact \
  --env TCACT_LISTEN=0.0.0.0:9341 \
  --env TCACT_INSECURE_LISTEN=true \
  --env TCACT_STORE=rocksdb:/var/lib/tcact/store \
  --entrypoint '["/usr/bin/tcactd"]' \
  --cmd '' \
  --stop-signal SIGTERM \
  --healthcheck 'CMD /usr/bin/tcact health' \
  --healthcheck-interval 10s --healthcheck-timeout 5s --healthcheck-start-period 30s --healthcheck-retries 3 \
  --label org.opencontainers.image.title=tcact \
  --label org.opencontainers.image.version="$version" \
  --label org.opencontainers.image.licenses=Apache-2.0 \
  "$container"
buildah commit --quiet --format docker "$container" "$tag" > /dev/null
if [[ -n $archive ]]; then
  rm -f "$archive"
  buildah push --quiet "$tag" "docker-archive:$archive:$tag"
fi
echo "$tag: $(du -sm "$work/root" | cut -f1) MB, $(find "$work/root" -type f | wc -l) files"
