#!/usr/bin/env bash
# Lays out the root file system of the container image: the two programs without debug information, every library
# they load, the loader, and the files that name the user. Nothing else: no shell, no package manager.
#   deploy/image_root.sh BIN_DIR ROOT_DIR    BIN_DIR holds server/tcactd and client/tcact; ROOT_DIR is made
set -euo pipefail
[[ $# -eq 2 ]] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
bin=$1
root=$2
readonly uid=10001

mkdir "$root"
mkdir -p "$root"/{usr/bin,usr/lib,usr/lib64,etc/ssl/certs,run/tcact,var/lib/tcact}
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"

for program in server/tcactd client/tcact; do
  install -m 755 "$bin/$program" "$root/usr/bin/"
  strip --strip-all "$root/usr/bin/${program#*/}"
done

# Debian keeps libraries in /usr/lib; /lib is a link to it, there as here.
ldd "$bin/server/tcactd" "$bin/client/tcact" |
  awk '/=> not found/ {print "missing: " $1 > "/dev/stderr"; bad = 1}
       /=> \// {print $3} /^\t\/lib64\// {print $1} END {exit bad}' | sort -u |
  while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done

echo "root:x:0:0::/:/sbin/nologin
tcact:x:$uid:$uid::/var/lib/tcact:/sbin/nologin" > "$root/etc/passwd"
echo "root:x:0:
tcact:x:$uid:" > "$root/etc/group"
echo "hosts: files dns" > "$root/etc/nsswitch.conf"
# Certificates of public authorities, for tcact against a server that has one of theirs.
if [[ -e /etc/ssl/certs/ca-certificates.crt ]]; then
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
fi
install -m 644 "$(dirname "$0")/../LICENSE" "$root/LICENSE"
# Who may not change its own identity (a build without root) leaves that to the COPY --chown of the caller.
chown "$uid:$uid" "$root/run/tcact" "$root/var/lib/tcact"
chmod 750 "$root/run/tcact" "$root/var/lib/tcact"
