#!/usr/bin/env bash
# Installs what a list of packages names and this machine lacks: deploy/packages.txt, or the list that is given. Root,
# Debian 12. Says nothing when nothing is missing.
set -euo pipefail
list=$(realpath "${1:-$(dirname "$0")/packages.txt}")

missing=()
while read -r package; do
  [[ -z $package || $package == \#* ]] && continue
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done < "$list"
[[ ${#missing[@]} -eq 0 ]] && exit 0

echo "installing ${#missing[@]} packages: ${missing[*]}"
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" > /dev/null
