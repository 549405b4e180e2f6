#!/usr/bin/env bash
# Holds deploy/kubernetes against the schemas of the Kubernetes API and of the Prometheus operator, as the npm packages
# named below have them: the TypeScript compiler finds fields that do not exist and values of wrong types, the packages'
# validators wrong formats and what is required. First it proves that both find a planted fault.
# Skipped with a word where there is no node, or no npm registry.
set -euo pipefail
cd "$(dirname "$0")/../.."
packages=(kubernetes-models@5.1.0 @kubernetes-models/prometheus-operator@6.0.0 typescript@5.9)

skip() { echo "kubernetes schemas skipped: $*"; exit 0; }
command -v node npm > /dev/null || skip "no node here"
python=/usr/bin/python3
"$python" -c 'import yaml' 2> /dev/null || skip "no python3-yaml here"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '{"private": true, "type": "module"}' > "$work/package.json"
(cd "$work" && npm install --silent --no-audit --no-fund "${packages[@]}" > npm.log 2>&1) ||
  skip "npm could not install: $(tail -1 "$work/npm.log")"

# check FILE...: both checks over the manifests; says what is wrong.
check() {
  rm -f "$work"/*.ts "$work/objects.json"
  "$python" tests/deploy/manifests_to_ts.py "$work" "$@" &&
    (cd "$work" && node node_modules/typescript/bin/tsc --noEmit --strict --skipLibCheck --target es2022 \
      --module nodenext --moduleResolution nodenext objects.ts) &&
    cp tests/deploy/validate_manifests.mjs "$work/" && (cd "$work" && node validate_manifests.mjs objects.json)
}

# planted SED_SCRIPT FILE: a fault in a copy of the manifest must be found.
planted() {
  sed "$1" "deploy/kubernetes/$2" > "$work/planted.yaml"
  ! cmp -s "$work/planted.yaml" "deploy/kubernetes/$2" || { echo "'$1' changes nothing in $2"; exit 1; }
  if check "$work/planted.yaml" > "$work/planted.log" 2>&1; then
    echo "a planted fault was not found: $1 in $2"
    exit 1
  fi
}
planted 's/readinessProbe/readynessProbe/' statefulset.yaml
planted 's/periodSeconds: 10/periodSeconds: ten/' statefulset.yaml
planted '/serviceName:/d; /matchLabels:/d' statefulset.yaml
planted 's/clusterIP: None/clusterIp: None/' service-headless.yaml
planted 's/maxUnavailable/maxUnavailible/' poddisruptionbudget.yaml
planted 's/scrapeTimeout: 10s/scrapeTimeout: soon/' servicemonitor.yaml

check deploy/kubernetes/*.yaml

# What a user applies: kustomize's own output.
if command -v kubectl > /dev/null; then
  kubectl kustomize deploy/kubernetes > "$work/applied.yaml"
  grep -q 'image: localhost/tcact:[0-9]' "$work/applied.yaml" || { echo "kustomize does not set the image"; exit 1; }
  check "$work/applied.yaml"
else
  echo "kustomization not tried: no kubectl here"
fi
