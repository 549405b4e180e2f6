"""Holds docs/operations.md against the flags of the built tcactd: flags_doc.py [--update] TCACTD PAGE

The table between the marks must be what --help says, and every flag that the page names elsewhere must be one of
tcactd, or of OTHERS. --update writes the table.
"""

import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks

BEGIN, END = "<!-- flags: begin -->\n", "<!-- flags: end -->\n"
# Of other programs on that page: tcactd's two without a value, cp's, docker's, flags_doc.py's own, systemctl's, tcact's.
OTHERS = {"help", "version", "detach", "update", "now", "server"}


def table_of(flags):
    """Groups as in --help, a table each."""
    lines = []
    group = None
    for flag in flags.values():
        if flag.group != group:
            group = flag.group
            lines += ["" if lines else None, f"**{group}**", "", "| flag | default | |", "|---|---|---|"]
        default = f"`{flag.default}`" if flag.default else ""
        text = flag.help.replace("|", "\\|")
        lines.append(f"| `--{flag.name}` | {default} | {text} |")
    return "\n".join(line for line in lines if line is not None) + "\n"


def main():
    update = sys.argv[1] == "--update"
    tcactd, page = sys.argv[-2:]
    flags = checks.flags_of(tcactd)
    text = pathlib.Path(page).read_text()
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    if update:
        pathlib.Path(page).write_text(before + BEGIN + table_of(flags) + END + after)
        return
    faults = checks.Faults()
    faults.require(table == table_of(flags), f"the table of flags is not that of --help; write it anew:\n"
                   f"    /usr/bin/python3 tests/deploy/flags_doc.py --update TCACTD {page}")
    for name in sorted(set(re.findall(r"(?<![\w-])--([a-z][a-z0-9-]+)", before + after))):
        faults.require(name in flags or name in OTHERS, f"{page} names --{name}, which tcactd does not have")
    for name in sorted(set(re.findall(r"\bTCACT_[A-Z_]+\b", before + after))):
        faults.require(name in {flag.variable for flag in flags.values()}, f"{page} names {name}: no flag of tcactd")
    faults.finish(page)


if __name__ == "__main__":
    main()
