"""Compares the protos with what was released: check.py [--update] ROOT RELEASED

Exit 1 if something that was released changed or vanished. --update writes RELEASED anew, when nothing did: run it (by
tests/proto/released/update.sh) when a release adds to the protos.
"""

import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import snapshot
import descriptors

HEAD = """# What released clients rely on; snapshot.py tells the form. Written by update.sh, never by hand.
"""


def main():
    update = sys.argv[1] == "--update"
    root, released_path = sys.argv[-2:]
    current = list(snapshot.lines_of(descriptors.describe(root, descriptors.proto_files(root, "proto"))))
    path = pathlib.Path(released_path)
    released = [line for line in path.read_text().splitlines() if line and not line.startswith("#")] \
        if path.exists() else []
    if not released and not update:
        sys.exit(f"{path}: nothing released; is this the right file?")
    found = snapshot.faults(released, current)
    for text in found:
        print(text)
    added = set(current) - set(released)
    print(f"{len(released)} released lines, {len(found)} broken; {len(added)} added since")
    if found:
        sys.exit(1)
    if update:
        path.write_text(HEAD + "\n".join(current) + "\n")


if __name__ == "__main__":
    main()
