#!/usr/bin/env bash
# Makes the Debian package and looks into it: programs that start, all that the unit needs, sound dependencies.
#   tests/deploy/debian_test.sh BIN_DIR
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v dpkg-shlibdeps > /dev/null || { echo "debian package skipped: no dpkg-dev here"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "debian package FAILED: $*" >&2; exit 1; }

./deploy/debian/build.sh --bin="$1" --out="$work"
package=$(echo "$work"/tcact_*.deb)
dpkg-deb --field "$package" Depends | grep -q 'libgrpc++1' || fail "it does not depend on gRPC"
dpkg-deb --extract "$package" "$work/root"
[[ $("$work/root/usr/bin/tcactd" --version) == "tcactd $(dpkg-deb --field "$package" Version)" ]] || fail "version"
for path in usr/bin/tcact usr/bin/tcact-load usr/lib/systemd/system/tcactd.service usr/lib/sysusers.d/tcact.conf \
  etc/default/tcactd usr/share/man/man1/tcact.1.gz usr/share/bash-completion/completions/tcact; do
  [[ -e $work/root/$path ]] || fail "no $path"
done
# What it depends on is what this machine, which built it, has: so it would install here.
dpkg --no-act --install "$package" > "$work/dpkg.log" 2>&1 || fail "$(cat "$work/dpkg.log")"
if command -v systemd-sysusers > /dev/null; then
  mkdir -p "$work/etc/etc"
  systemd-sysusers --root="$work/etc" "$work/root/usr/lib/sysusers.d/tcact.conf" 2> "$work/sysusers.log" ||
    fail "sysusers: $(cat "$work/sysusers.log")"
  grep -q '^tcact:' "$work/etc/etc/passwd" || fail "sysusers made no user tcact"
fi
# The project has no mail address to name; a changelog is the repository's.
if command -v lintian > /dev/null; then
  lintian --allow-root --fail-on error --suppress-tags no-changelog,bogus-mail-host "$package"
fi
echo "debian package: $(du -k "$package" | cut -f1) KiB"
