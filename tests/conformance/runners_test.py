"""Tests of the runners themselves, against a tc that is a script: a runner that cannot fail proves nothing."""

import io
import json
import os
import shutil
import tempfile
import unittest

import harness
import replay
import tdc_runner

# Keeps gact actions as lines `INDEX VERDICT` in a file for each namespace.
FAKE_TC = r"""#!/bin/bash
table=${0%/*}/table-$TCACT_NETNS
touch "$table"
case "$*" in
  health) echo "kinds gact police" ;;
  "actions add action gact pass index "*)
    grep -q "^$7 " "$table" && { echo "RTNETLINK answers: File exists" >&2; exit 255; }
    echo "$7 pass" >>"$table" ;;
  "actions flush action gact") : >"$table" ;;
  "actions ls action gact") sed 's/^\([0-9]*\) \(.*\)$/\tgact action \2\n\t index \1 used 3 sec/' "$table" ;;
  "-j actions ls action gact") echo '[{"total acts":1},{"actions":[{"kind":"gact","index":1}]}]' ;;
  *) echo "fake tc: $*" >&2; exit 1 ;;
esac
"""

ADD = "actions add action gact pass index 1"
LS = "actions ls action gact"
LISTED = "\tgact action pass\n\t index 1 used 0 sec\n"


def case(**changes):
    fields = {"id": "1", "name": "n", "setup": [], "cmdUnderTest": f"$TC {ADD}", "expExitCode": "0",
              "verifyCmd": f"$TC {LS}", "matchPattern": "^\t index 1 ", "matchCount": "1", "teardown": []}
    fields.update(changes)
    return fields


def entry(cmd, rc=0, out="", err=""):
    return {"cmd": cmd, "rc": rc, "out": out, "err": err}


class WithFakeTc(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.tc = os.path.join(self.folder, "fake-tc")
        with open(self.tc, "w", encoding="utf-8") as file:
            file.write(FAKE_TC)
        os.chmod(self.tc, 0o755)
        self.bench = harness.Bench(self.tc)
        self.bench.__enter__()
        self.addCleanup(self.bench.__exit__, None, None, None)


class TdcRunnerTest(WithFakeTc):
    def outcome(self, **changes):
        return tdc_runner.run_or_skip(self.bench, case(**changes), {"TC": "", "NS": ""})[0]

    def test_passes_what_is_as_expected(self):
        self.assertEqual(self.outcome().status, "passed")

    def test_fails_on_another_exit_code(self):
        outcome = self.outcome(expExitCode="255")
        self.assertEqual(outcome.status, "failed")
        self.assertIn("expected exit code 255, got 0", outcome.detail)

    def test_fails_on_another_count(self):
        self.assertEqual(self.outcome(matchCount="2").status, "failed")
        self.assertEqual(self.outcome(matchCount="0").status, "failed")

    def test_fails_when_setup_or_teardown_fails(self):
        self.assertEqual(self.outcome(setup=["$TC bogus"]).status, "skipped")
        self.assertEqual(self.outcome(setup=["$TC actions bogus"]).status, "failed")
        self.assertEqual(self.outcome(teardown=["$TC actions bogus"]).status, "failed")

    def test_allows_the_exit_codes_that_setup_names(self):
        self.assertEqual(self.outcome(setup=[["$TC actions bogus", 0, 1]]).status, "passed")
        self.assertEqual(self.outcome(setup=[["$TC actions bogus", 0, 2]]).status, "failed")

    def test_every_case_starts_with_empty_tables(self):
        for _ in range(2):
            self.assertEqual(self.outcome().status, "passed")

    def test_a_dot_matches_line_ends_and_anchors_match_at_lines(self):
        self.assertEqual(self.outcome(matchPattern="^\tgact.*sec$").status, "passed")

    def test_reads_standard_error_of_a_verify_command_that_fails(self):
        self.assertEqual(self.outcome(verifyCmd="$TC actions bogus", matchPattern="fake tc").status, "passed")

    def test_compares_json_by_what_the_case_names(self):
        verify = f"$TC -j {LS}"
        good = [{}, {"actions": [{"index": 1}]}]
        self.assertEqual(self.outcome(verifyCmd=verify, matchJSON=good).status, "passed")
        for bad in ([{}, {"actions": [{"index": 2}]}], [{}, {"actions": [{"ref": 1}]}], [{}, {}, {}], {}):
            self.assertEqual(self.outcome(verifyCmd=verify, matchJSON=bad).status, "failed", bad)

    def test_skips_what_needs_more_than_actions(self):
        for command in ("$IP link add dev d type dummy", "$TC qdisc add dev lo clsact", "actions ls",
                        "$TC actions add action vlan pop", "$TC actions add action gact pass index $DEV9",
                        "bash -c \"$TC filter ls\""):
            self.assertEqual(self.outcome(cmdUnderTest=command).status, "skipped", command)

    def test_understands_loops_and_pipes(self):
        loop = "bash -c \"for i in \\`seq 1 3\\`; do $TC actions add action gact pass index \\$i; done\""
        self.assertEqual(self.outcome(cmdUnderTest=loop, matchPattern=" index ", matchCount="3").status, "passed")
        piped = self.outcome(verifyCmd=f"$TC {LS} | grep -c index", matchPattern="^1$")
        self.assertEqual(piped.status, "passed")

    def test_refuses_files_that_are_no_cases(self):
        no_check = case()
        del no_check["matchPattern"]
        for cases in ({}, [{"id": "1"}], [no_check], [case(), case()]):
            with self.assertRaises(harness.HarnessError):
                tdc_runner.check_shape("file", cases)


class ReplayTest(WithFakeTc):
    def outcomes(self, *entries, differences=()):
        rules = replay.Rules(list(differences), [])
        return [o.status for o in replay.SectionRun(self.bench, "s", list(entries), rules).run()]

    def test_passes_equal_output_with_seconds_folded(self):
        self.assertEqual(self.outcomes(entry(f"tc {ADD}"), entry(f"tc {LS}", out=LISTED)), ["passed", "passed"])

    def test_fails_on_another_exit_code_or_output(self):
        self.assertEqual(self.outcomes(entry(f"tc {ADD}", rc=255)), ["failed"])
        self.assertEqual(self.outcomes(entry(f"tc {LS}", out=LISTED)), ["failed"])

    def test_a_skipped_change_taints_its_kind_until_a_flush(self):
        bind = entry("tc filter add dev lo ingress matchall action gact pass index 1")
        flush = entry("tc actions flush action gact")
        self.assertEqual(self.outcomes(bind, entry(f"tc {LS}", out=LISTED), flush, entry(f"tc {LS}")),
                         ["skipped", "skipped", "passed", "passed"])

    def test_a_flush_that_met_a_bound_action_leaves_the_taint(self):
        bind = entry("tc filter add dev lo ingress matchall action gact pass index 1")
        flush = entry("tc actions flush action gact", err="Warning: Unable to flush all TC actions.\n")
        self.assertEqual(self.outcomes(bind, flush, entry(f"tc {LS}", out=LISTED)), ["skipped"] * 3)

    def test_a_skipped_add_that_failed_taints_nothing(self):
        failed = entry("tc actions add action gact pass index 1 action vlan bogus", rc=255)
        self.assertEqual(self.outcomes(failed, entry(f"tc {LS}")), ["skipped", "passed"])

    def test_a_skipped_replace_that_failed_taints(self):
        failed = entry("tc actions replace action gact pass index 1 action vlan bogus", rc=255)
        self.assertEqual(self.outcomes(failed, entry(f"tc {LS}")), ["skipped", "skipped"])

    def test_a_skipped_read_taints_nothing(self):
        read = entry("tc actions get action vlan index 1 action gact index 1")
        self.assertEqual(self.outcomes(read, entry(f"tc {LS}")), ["skipped", "passed"])

    def test_goto_chain_is_no_chain_command(self):
        goto = entry("tc actions add action gact goto chain 7", rc=1, err="fake tc\n")
        self.assertEqual(self.outcomes(goto), ["passed"])

    def test_namespaces_have_tables_of_their_own(self):
        self.assertEqual(
            self.outcomes(entry("ip netns add a"), entry(f"ip netns exec a tc {ADD}"), entry(f"tc {LS}"),
                          entry(f"ip netns exec a tc {LS}", out=LISTED), entry("ip netns del a")),
            ["passed"] * 5)

    def test_a_deliberate_difference_is_skipped_and_must_be_one(self):
        rule = replay.Rule(replay.re.compile("tc .*"), "s", "reason")
        self.assertEqual(self.outcomes(entry(f"tc {LS}", out="x"), differences=[rule]), ["skipped"])
        self.assertEqual(self.outcomes(entry(f"tc {LS}"), differences=[rule]), ["failed"])

    def test_a_section_starts_with_its_name_not_with_a_note(self):
        path = os.path.join(self.folder, "t.jsonl")
        lines = [{"section": "a"}, {"section": "a", **entry("1")}, {"section": "a", "note": "n"},
                 {"section": "a", **entry("2")}, {"section": "b"}, {"section": "b", **entry("3")}]
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        sections = [(name, [e["cmd"] for e in entries]) for name, entries in replay.read_sections(path)]
        self.assertEqual(sections, [("a", ["1", "2"]), ("b", ["3"])])


class ReportTest(unittest.TestCase):
    def report(self, *outcomes):
        out = io.StringIO()
        code = harness.report({"f.json": [harness.Outcome(*o) for o in outcomes]}, out=out)
        return code, out.getvalue().splitlines()[-1]

    def test_one_failure_fails_the_run(self):
        self.assertEqual(self.report(("a", "passed"), ("b", "failed"), ("c", "skipped")),
                         (1, "1 passed, 1 failed, 1 skipped"))
        self.assertEqual(self.report(("a", "passed")), (0, "1 passed, 0 failed, 0 skipped"))

    def test_a_run_that_checked_nothing_fails(self):
        self.assertEqual(self.report(("c", "skipped"))[0], 1)


if __name__ == "__main__":
    unittest.main()
