#!/usr/bin/env python3
"""Writes compile_commands.json for clangd and clang-tidy, from what Bazel would run.

    bazel build //... && tests/lint/compile_commands.py

Generated headers must exist, hence the build first.
"""

import json
import pathlib
import subprocess

# Flags of gcc that clang does not know.
GCC_ONLY = {"-fno-canonical-system-headers", "-Wunused-but-set-parameter", "-Wno-free-nonheap-object", "-Wno-tsan"}


def bazel(*words):
    return subprocess.run(["bazel", *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def main():
    workspace = pathlib.Path(bazel("info", "workspace").strip())
    actions = json.loads(bazel("aquery", "--output=jsonproto", "--include_artifacts=false",
                               'mnemonic("CppCompile", deps(//...))'))["actions"]
    entries = {}
    for action in actions:
        words = [word for word in action["arguments"] if word not in GCC_ONLY]
        source = words[words.index("-c") + 1]
        if not source.startswith("external/"):
            # bazel-out is a link in the workspace, so relative paths hold there.
            entries[source] = {"directory": str(workspace), "file": source, "arguments": words}
    out = workspace / "compile_commands.json"
    out.write_text(json.dumps(list(entries.values()), indent=1) + "\n")
    print(f"{len(entries)} files in {out.name}")


if __name__ == "__main__":
    main()
