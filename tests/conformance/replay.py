#!/usr/bin/env python3
"""Replays transcripts of the real tc against a tc command: exit codes and standard output must be equal.

    tests/conformance/replay.py --tc bazel-bin/client/tcact --server-binary bazel-bin/server/tcactd \\
        ../shared/transcripts

A transcript (.jsonl) holds an object a line: {"section", "cmd", "rc", "out", "err"}, or {"section"[, "note"]} as a
heading. A new section name starts with empty tables; here it gets a fresh namespace. Seconds since an action was
made or used are folded on both sides. Standard error is compared for information only.

Skipped, and counted by reason:
  - commands that need more than an action store (filter, qdisc, monitor, ip link, another user, ...),
  - commands that name a kind which the store lacks, and tools that the recording machine lacked,
  - commands whose answer depends on one of those: a skipped command that changed something taints the kinds it
    names, until a flush that succeeded without a warning has emptied the table (or the section ends),
  - deliberate differences, listed with their reason in differences.json beside this file.

Where a section depends on time that passes between its commands (`since`), differences.json says how long to wait
before which of them.
"""

import dataclasses
import json
import os
import re
import sys
import time

import harness
from harness import HarnessError, Outcome

NOT_IN_A_STORE = (
    (re.compile(r"\btc(?:\s+-\w+)*\s+(filter|qdisc|class|chain|monitor)\b"), "needs {}"),
    (re.compile(r"\bip\s+(link|addr|route)\b"), "needs ip {}"),
    (re.compile(r"\b(setpriv|busybox)\b"), "needs {}"),
)
# A file of the recording machine.
FILE = re.compile(r"\b(?:object-file|obj|bytecode-file|bcf)\s+(\S+)")
CANNOT_FIND_DEVICE = re.compile(r"Cannot find device")
LACKED_A_TOOL = re.compile(r"\b(\w+): (?:command )?not found")
CHANGES = re.compile(r"\b(add|change|replace|append|del|delete|flush)\b")
FLUSH = re.compile(r"\s*tc(?:\s+-\w+)*\s+actions?\s+flush\s+action\s+(\w+)\s*$")

SECONDS = (
    (re.compile(r"\b(installed|used|firstused) \d+ sec"), r"\1 N sec"),
    (re.compile(r'"(installed|last_used|first_used)":( ?)\d+'), r'"\1":\2N'),
)


def fold(text):
    """`text` with the seconds that a replay cannot repeat taken out."""
    for pattern, replacement in SECONDS:
        text = pattern.sub(replacement, text)
    return text


@dataclasses.dataclass
class Rule:
    """One entry of differences.json: which commands it is about, and what of them."""
    pattern: re.Pattern
    section: str
    value: object

    def matches(self, section, command):
        return section == self.section and self.pattern.fullmatch(command) is not None


@dataclasses.dataclass
class Rules:
    differences: list
    sleeps: list

    @staticmethod
    def load(path):
        def entries(name, value):
            return [Rule(re.compile(e["command"], re.DOTALL), e["section"], e[value]) for e in document[name]]
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        return Rules(entries("differences", "reason"), entries("sleeps", "seconds_before"))


def find_rule(rules, section, command):
    return next((rule for rule in rules if rule.matches(section, command)), None)


def read_sections(path):
    """A list of (section name, [entry with cmd]) in the file's order."""
    sections = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                entry = json.loads(line)
                if not sections or entry["section"] != sections[-1][0]:
                    sections.append((entry["section"], []))
                if "cmd" in entry:
                    sections[-1][1].append({field: entry[field] for field in ("cmd", "rc", "out", "err")})
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                raise HarnessError(f"{path}:{number}: not a transcript line: {error!r}") from error
    return sections


def reason_to_skip(entry, kinds, has_devices):
    """Why a command cannot be replayed against a store with `kinds`, whatever came before it; or None."""
    for pattern, reason in NOT_IN_A_STORE:
        match = pattern.search(entry["cmd"])
        if match:
            return reason.format(match.group(1))
    match = LACKED_A_TOOL.search(entry["err"])
    if match:
        return f"the recording machine had no {match.group(1)}"
    match = FILE.search(entry["cmd"])
    if match and entry["rc"] == 0 and not os.path.exists(match.group(1)):
        return "needs a file of the recording machine"
    if CANNOT_FIND_DEVICE.search(entry["err"]) and not has_devices:
        return "this machine lets us make no devices, so none is missing"
    missing = harness.kinds_named(entry["cmd"]) - kinds
    if missing:
        return f"kind {sorted(missing)[0]}"
    return None


def kinds_changed(entry):
    """The kinds whose tables a recorded command may have changed."""
    command = entry["cmd"]
    verbs = set(CHANGES.findall(command))
    # An add that fails undoes all it did; other lists keep what was done before the failure.
    if not verbs or (verbs == {"add"} and entry["rc"] != 0 and "-batch" not in command):
        return set()
    return harness.kinds_named(command)


def kind_emptied(entry):
    """The kind whose table is empty after a recorded command, or None."""
    match = FLUSH.match(entry["cmd"])
    return match.group(1) if match and entry["rc"] == 0 and not entry["err"] else None


class SectionRun:
    """One section, in a namespace of its own."""

    def __init__(self, bench, name, entries, rules):
        self._bench = bench
        self._name = name
        self._entries = entries
        self._rules = rules
        self._netns = bench.fresh_netns()
        self._tainted = set()

    def run(self):
        return [self._step(entry) for entry in self._entries]

    def _step(self, entry):
        name = f"[{self._name}] {entry['cmd']}"
        reason = reason_to_skip(entry, self._bench.kinds, self._bench.has_devices)
        if reason:
            self._tainted |= kinds_changed(entry)
            return Outcome(name, "skipped", reason)
        self._tainted.discard(kind_emptied(entry))
        if harness.kinds_named(entry["cmd"]) & self._tainted:
            # Not run: what it would do to the wrong table could only mislead what follows.
            self._tainted |= kinds_changed(entry)
            return Outcome(name, "skipped", "depends on a skipped command")
        sleep = find_rule(self._rules.sleeps, self._name, entry["cmd"])
        if sleep:
            time.sleep(sleep.value)
        return self._compare(name, entry, self._bench.run(entry["cmd"], self._netns))

    def _compare(self, name, entry, answer):
        deliberate = find_rule(self._rules.differences, self._name, entry["cmd"])
        if answer.code == entry["rc"] and fold(answer.out) == fold(entry["out"]):
            if deliberate:
                return Outcome(name, "failed", "differences.json lists it, but it does not differ")
            return Outcome(name, "passed", "" if answer.err == entry["err"] else "standard error differs")
        if deliberate:
            return Outcome(name, "skipped", f"on purpose: {deliberate.value}")
        return Outcome(name, "failed", f"expected exit code {entry['rc']} and\n{entry['out']}{entry['err']}"
                                       f"got exit code {answer.code} and\n{answer.out}{answer.err}")


def plan(bench, path, options):
    """The work of one file: a (path, function) for each section."""
    rules = Rules.load(options.differences)
    for name, entries in read_sections(path):
        yield path, SectionRun(bench, name, entries, rules).run


def flags(parser):
    parser.add_argument("--differences", metavar="FILE",
                        default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "differences.json"),
                        help="deliberate differences and waits (default: the one beside this file)")


if __name__ == "__main__":
    sys.exit(harness.main(__doc__.splitlines()[0], ".jsonl", plan, flags))
