#!/usr/bin/env bash
# Installs what deploy/packages.txt names and this machine lacks. Root, Debian 12. Says nothing when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
while read -r package; do
  [[ -z $package || $package == \#* ]] && continue
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done < packages.txt
[[ ${#missing[@]} -eq 0 ]] && exit 0

echo "installing ${#missing[@]} packages: ${missing[*]}"
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" > /dev/null
