#!/usr/bin/env bash
# Makes a Debian package of the three programs, with the systemd unit, the user, the man page and the completion.
#   deploy/debian/build.sh [--bin=DIR] [--out=DIR]
#     --bin   use the programs built there (server/tcactd, client/tcact, client/tcact-load) instead of building them
#     --out   where the package goes; default: the current folder
# Installing it makes the user tcact and enables nothing: `systemctl enable --now tcactd` does.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$PWD
bin=
for word in "$@"; do
  case $word in
    --bin=?*) bin=$(realpath "${word#*=}") ;;
    --out=?*) out=$(realpath "${word#*=}") ;;
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "deploy/debian/build.sh: unknown option '$word'; see --help" >&2; exit 2 ;;
  esac
done
cd "$here/../.."

if [[ -z $bin ]]; then
  ./deploy/install.sh
  bazel build --config=release //server:tcactd //client:tcact //client:tcact-load
  bin=$(bazel info --config=release bazel-bin 2> /dev/null)
fi
version=$("$bin/server/tcactd" --version | cut -d' ' -f2)
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
umask 022

put() { install -D -m "$1" "$2" "$root/$3"; }
for program in server/tcactd client/tcact client/tcact-load; do
  put 755 "$bin/$program" "usr/bin/${program#*/}"
  strip --strip-all "$root/usr/bin/${program#*/}"
done
put 644 deploy/systemd/tcactd.service usr/lib/systemd/system/tcactd.service
put 644 deploy/systemd/sysusers.conf usr/lib/sysusers.d/tcact.conf
put 644 deploy/systemd/tmpfiles.conf usr/lib/tmpfiles.d/tcact.conf
put 644 deploy/systemd/default etc/default/tcactd
put 644 deploy/completion/tcact.bash usr/share/bash-completion/completions/tcact
put 644 docs/man/tcact.1 usr/share/man/man1/tcact.1
gzip -9n "$root/usr/share/man/man1/tcact.1"
for page in docs/*.md; do put 644 "$page" "usr/share/doc/tcact/${page#docs/}"; done
cat > "$root/usr/share/doc/tcact/copyright" << END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tcact

Files: *
Copyright: 2026 the tcact authors
License: Apache-2.0
 On Debian systems the text of the licence is in /usr/share/common-licenses/Apache-2.0.
END

# Which packages hold the libraries that the programs load. dpkg-shlibdeps wants a source package's control file.
mkdir -p "$work/debian" "$root/DEBIAN"
printf 'Source: tcact\n\nPackage: tcact\nArchitecture: any\n' > "$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O root/usr/bin/* 2> /dev/null | sed -n 's/^shlibs:Depends=//p')
cat > "$root/DEBIAN/control" << END
Package: tcact
Version: $version
Architecture: $architecture
Maintainer: the tcact authors <tcact@localhost>
Depends: $depends
Recommends: systemd | systemd-sysusers
Section: net
Priority: optional
Installed-Size: $(du -sk "$root" | cut -f1)
Description: traffic-control action store over gRPC
 tcactd keeps Linux-style traffic-control actions of many network namespaces
 and serves them over gRPC; tcact speaks tc's own words to it, and tcact-load
 loads it.
END
echo /etc/default/tcactd > "$root/DEBIAN/conffiles"
install -m 755 "$here/postinst" "$here/prerm" "$here/postrm" "$root/DEBIAN/"
package=$out/tcact_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" > /dev/null
echo "$package: $(du -k "$package" | cut -f1) KiB"
