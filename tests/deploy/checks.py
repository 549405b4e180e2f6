"""What the checks of this folder share: the flags that the built tcactd has, and a list of faults."""

import dataclasses
import re
import subprocess
import sys


@dataclasses.dataclass(frozen=True)
class Flag:
    group: str     # "Serving"
    name: str      # "cq-threads"
    default: str   # as --help shows it
    help: str      # one line
    variable: str  # "TCACT_CQ_THREADS"


def flags_of(tcactd):
    """name -> Flag in the order of --help, so that a new flag joins by itself."""
    text = subprocess.run([tcactd, "--help"], check=True, capture_output=True, text=True).stdout
    found = {}
    for group, body in re.findall(r"^(\w[\w ]*):\n((?:  .*\n)+)", text, re.M):
        for name, default, lines, variable in re.findall(
                r"^  --([a-z0-9-]+)=(.*)\n((?:      .*\n)*?)      Also (TCACT_[A-Z0-9_]+)\.$", body, re.M):
            found[name] = Flag(group, name, default, " ".join(lines.split()), variable)
    if "listen" not in found or len(found) != len(re.findall(r"^  --[a-z0-9-]+=", text, re.M)):
        sys.exit("the flags of --help cannot be read:\n" + text)
    return found


class Faults:
    def __init__(self):
        self.texts = []

    def add(self, text):
        self.texts.append(text)

    def require(self, truth, text):
        if not truth:
            self.add(text)

    def finish(self, what):
        for text in self.texts:
            print("FAULT:", text)
        print(f"{what}: {len(self.texts)} faults")
        sys.exit(1 if self.texts else 0)
