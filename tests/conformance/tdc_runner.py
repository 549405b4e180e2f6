#!/usr/bin/env python3
"""Runs cases in the JSON format of the kernel's tc-testing suite (tdc) against a tc command.

    tests/conformance/tdc_runner.py --tc bazel-bin/client/tcact --server-binary bazel-bin/server/tcactd \\
        tests/conformance/cases

A case has setup (commands, or [command, allowed exit codes...]), cmdUnderTest with expExitCode, verifyCmd with
matchPattern and matchCount (or matchJSON), and teardown. As in tdc, the pattern is counted with `.` matching line
ends and ^ and $ matching at each line, in the verify command's standard output - or in its standard error when it
fails and has written there.

$TC is the command under test, $NS a second namespace of the case, other variables come from --define.

A case is skipped, with the reason, when one of its commands is no `$TC [options] actions ...` (pipes behind it and
`bash -c` loops around it are fine), when it needs a kind that the store lacks or a variable without a value.
"""

import functools
import json
import re
import string
import sys

import harness
from harness import HarnessError, Outcome

# $TC, options, then the object: tc takes any beginning of `actions`; `-batch -` reads its commands from a pipe.
TC_CALL = re.compile(r"\$\{?TC\}?(?:\s+-[a-z]+(?:\s+\$\{?NS\}?)?)*\s+(\S+)")
OBJECTS = {"actions"[:n] for n in range(1, len("actions") + 1)} | {"-"}
HARMLESS = re.compile(r"(/bin/|/usr/bin/)?(true|false|echo\b.*|sleep\s+[0-9.]+)$")


def commands_of(case):
    """Every command of a case, without its allowed exit codes."""
    for stage in ("setup", "teardown"):
        for item in case.get(stage, []):
            yield item[0] if isinstance(item, list) else item
    for stage in ("dependsOn", "cmdUnderTest", "verifyCmd"):
        if stage in case:
            yield case[stage]


def reason_to_skip(case, kinds, values, has_devices):
    """Why a case cannot run against a store with `kinds`, or None."""
    if case.get("skip") == "yes":
        return "the case says so"
    if "invalid device" in case["name"] and not has_devices:
        return "this machine lets us make no devices, so none is missing"
    for command in filter(None, map(str.strip, commands_of(case))):
        if HARMLESS.match(command):
            continue
        if not command.startswith(("$TC", "${TC}", "bash -c")):
            return f"not a tc command: {command.split()[0]}"
        calls = TC_CALL.findall(command)
        if not calls:
            return "no tc command inside bash -c"
        for word in calls:
            if word.rstrip('"') not in OBJECTS:
                return f"needs tc {word}"
        missing = harness.kinds_named(command) - kinds
        if missing:
            return f"kind {sorted(missing)[0]}"
        for name in re.findall(r"(?<!\\)\$\{?([A-Z][A-Z0-9]*)\}?", command):
            if name not in values:
                return f"${name} has no value"
    return None


def json_difference(expected, actual, where="output"):
    """The first place where `actual` lacks something of `expected`, or None. Lists are compared from their start."""
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return f"{where}: expected an object, got {actual!r}"
        for key, value in expected.items():
            if key not in actual:
                return f"{where}: no {key!r} in {actual!r}"
            found = json_difference(value, actual[key], f"{where}.{key}")
            if found:
                return found
        return None
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) < len(expected):
            return f"{where}: expected a list of at least {len(expected)}, got {actual!r}"
        for i, value in enumerate(expected):
            found = json_difference(value, actual[i], f"{where}[{i}]")
            if found:
                return found
        return None
    if type(expected) is not type(actual) or expected != actual:
        return f"{where}: expected {expected!r}, got {actual!r}"
    return None


def verify(case, answer):
    """What is wrong with the verify command's answer, or None."""
    text = answer.err if answer.code != 0 and answer.err else answer.out
    if "matchJSON" in case:
        try:
            return json_difference(case["matchJSON"], json.loads(text))
        except json.JSONDecodeError as error:
            return f"{case['verifyCmd']}\nprinted no JSON ({error}):\n{text}"
    expected = int(case["matchCount"])
    # Without output tdc looks for nothing; an empty pattern would match once.
    count = len(re.findall(case["matchPattern"], text, re.MULTILINE | re.DOTALL)) if text else 0
    if count == expected:
        return None
    return f"{case['verifyCmd']}\nexpected {expected} times: {case['matchPattern']}\ngot {count} times in:\n{text}"


class CaseRun:
    """One case in a namespace of its own."""

    def __init__(self, bench, case, values):
        self._bench = bench
        self._case = case
        self._netns = bench.fresh_netns()
        self._values = dict(values, TC=bench.tc_path, TESTID=str(case["id"]), NS=self._netns + ".ns")

    def _run(self, command):
        return self._bench.run(string.Template(command).safe_substitute(self._values), self._netns)

    def _stage(self, name):
        """Runs setup or teardown; returns what went wrong, or None."""
        for item in self._case.get(name, []):
            command, codes = (item[0], item[1:]) if isinstance(item, list) else (item, [0])
            if not command.strip():
                continue
            answer = self._run(command)
            if answer.code not in codes:
                return f"{name}: {command}\nexpected exit code {codes}, got {answer.code}\n{answer.err}"
        return None

    def _test(self):
        case = self._case
        answer = self._run(case["cmdUnderTest"])
        if answer.code != int(case["expExitCode"]):
            return (f"{case['cmdUnderTest']}\nexpected exit code {case['expExitCode']}, got {answer.code}\n"
                    f"{answer.out}{answer.err}")
        return verify(case, self._run(case["verifyCmd"]) if case["verifyCmd"].strip() else harness.Answer(0, "", ""))

    def run(self):
        name = f"{self._case['id']} {self._case['name']}"
        if "dependsOn" in self._case and self._run(self._case["dependsOn"]).code != 0:
            return Outcome(name, "skipped", "its dependsOn command fails")
        # A case that failed needs no teardown: nobody uses its namespace again.
        problem = self._stage("setup") or self._test() or self._stage("teardown")
        return Outcome(name, "failed" if problem else "passed", problem or "")


def check_shape(path, cases):
    """HarnessError unless `cases` is a list of complete cases with an id of their own each."""
    if not isinstance(cases, list):
        raise HarnessError(f"{path}: expected a list of cases")
    seen = set()
    for case in cases:
        for field in ("id", "name", "cmdUnderTest", "expExitCode", "verifyCmd"):
            if field not in case:
                raise HarnessError(f"{path}: case {case.get('id', '?')} has no {field}")
        if "matchJSON" not in case and not {"matchPattern", "matchCount"} <= case.keys():
            raise HarnessError(f"{path}: case {case['id']} checks nothing")
        if case["id"] in seen:
            raise HarnessError(f"{path}: two cases have the id {case['id']}")
        seen.add(case["id"])


def plan(bench, path, options):
    """The work of one file: a (path, function) for each case."""
    with open(path, encoding="utf-8") as file:
        try:
            cases = json.load(file)
        except json.JSONDecodeError as error:
            raise HarnessError(f"{path}: no JSON: {error}") from error
    check_shape(path, cases)
    values = dict(item.split("=", 1) for item in options.define)
    # These have a value of their own in each case.
    values.update(TC="", NS="", TESTID="")
    for case in cases:
        if options.only and str(case["id"]) not in options.only:
            continue
        yield path, functools.partial(run_or_skip, bench, case, values)


def run_or_skip(bench, case, values):
    reason = reason_to_skip(case, bench.kinds, values, bench.has_devices)
    if reason:
        return [Outcome(f"{case['id']} {case['name']}", "skipped", reason)]
    return [CaseRun(bench, case, values).run()]


def flags(parser):
    parser.add_argument("--define", action="append", default=[], metavar="NAME=VALUE",
                        help="a value for $NAME in the cases, such as DUMMY=dummy0")
    parser.add_argument("--only", action="append", metavar="ID", help="run only this case")


if __name__ == "__main__":
    sys.exit(harness.main(__doc__.splitlines()[0], ".json", plan, flags))
