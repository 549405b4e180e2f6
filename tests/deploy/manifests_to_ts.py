"""Writes the objects of Kubernetes manifests as objects.ts, each typed by its API class, and as objects.json.

    manifests_to_ts.py OUT_DIR MANIFEST...

The TypeScript compiler then refuses fields that the class does not have. Files for kustomize are left out: they
describe no object.
"""

import json
import pathlib
import sys

import yaml

GROUP_PACKAGES = {"monitoring.coreos.com": "@kubernetes-models/prometheus-operator"}


def module_of(api_version, kind):
    group, _, version = api_version.rpartition("/")
    package = GROUP_PACKAGES.get(group, "kubernetes-models")
    return "/".join(part for part in (package, group, version, kind) if part)


def main():
    out = pathlib.Path(sys.argv[1])
    lines, objects = [], []
    for name in sys.argv[2:]:
        for document in yaml.safe_load_all(pathlib.Path(name).read_text()):
            if document["kind"] == "Kustomization":
                continue
            module = module_of(document["apiVersion"], document["kind"])
            alias = f"I{document['kind']}"
            number = len(objects)
            lines.append(f'import type {{ {alias} as T{number} }} from "{module}";')
            lines.append(f"// {name}")
            lines.append(f"export const object{number}: T{number} = {json.dumps(document, indent=1)};")
            objects.append({"file": name, "module": module, "kind": document["kind"], "object": document})
    if not objects:
        sys.exit("no object in " + ", ".join(sys.argv[2:]))
    (out / "objects.ts").write_text("\n".join(lines) + "\n")
    (out / "objects.json").write_text(json.dumps(objects))


if __name__ == "__main__":
    main()
