"""What the comparison finds, on a small proto that is changed in every way: snapshot_test.py"""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import snapshot
import descriptors

RELEASED = """syntax = "proto3";
package t.v1;
enum Colour { COLOUR_UNSPECIFIED = 0; COLOUR_RED = 1; }
message Thing {
  uint32 size = 1;
  repeated string names = 2;
  optional Colour colour = 3;
  oneof shape { bool round = 4; }
  map<string, string> tags = 5;
  message Part { bytes data = 1; }
  Part part = 6;
}
service Things { rpc Get(Thing) returns (Thing); rpc Watch(Thing) returns (stream Thing); }
"""


def lines(text):
    with tempfile.TemporaryDirectory() as root:
        pathlib.Path(root, "t.proto").write_text(text)
        return list(snapshot.lines_of(descriptors.describe(root, ["t.proto"])))


def faults_of(old, new):
    assert old in RELEASED, old
    return snapshot.faults(lines(RELEASED), lines(RELEASED.replace(old, new, 1)))


class SnapshotTest(unittest.TestCase):
    def test_no_change_and_additions_pass(self):
        self.assertEqual(faults_of("", ""), [])
        for old, new in [
                ("uint32 size = 1;", "uint32 size = 1; uint64 weight = 9;"),
                ("COLOUR_RED = 1;", "COLOUR_RED = 1; COLOUR_BLUE = 2;"),
                ("bool round = 4;", "bool round = 4; bool square = 10;"),
                ("rpc Get", "rpc List(Thing) returns (Thing); rpc Get"),
                ("message Thing {", "message Other {} message Thing { reserved 77; "),
        ]:
            self.assertEqual(faults_of(old, new), [], new)

    def test_changes_are_found(self):
        for old, new in [
                ("size = 1", "size = 11"),
                ("uint32 size", "uint64 size"),
                ("size = 1", "length = 1"),
                ("repeated string names", "string names"),
                ("optional Colour", "Colour"),
                ("oneof shape { bool round = 4; }", "bool round = 4;"),
                ("COLOUR_RED = 1", "COLOUR_RED = 2"),
                ("COLOUR_RED = 1", "COLOUR_CRIMSON = 1"),
                ("map<string, string>", "map<string, bytes>"),
                ("bytes data = 1;", "string data = 1;"),
                ("returns (stream Thing)", "returns (Thing)"),
                ("rpc Get(Thing) returns (Thing);", ""),
                ("rpc Get(Thing)", "rpc Get(Thing.Part)"),
                ("service Things", "service Others"),
                ("package t.v1;", "package t.v2;"),
                ("uint32 size = 1;", ""),
                ("uint32 size = 1;", "reserved 1;"),
                ("uint32 size = 1;", 'reserved "size";'),
        ]:
            self.assertNotEqual(faults_of(old, new), [], f"{old} -> {new}")

    def test_a_field_may_go_if_number_and_name_are_reserved(self):
        self.assertEqual(faults_of("uint32 size = 1;", 'reserved 1; reserved "size";'), [])
        self.assertEqual(faults_of("COLOUR_RED = 1;", 'reserved 1; reserved "COLOUR_RED";'), [])

    def test_a_reservation_may_not_go(self):
        reserving = RELEASED.replace("uint32 size = 1;", "reserved 1, 20 to 22;")
        self.assertEqual(len(snapshot.faults(lines(reserving), lines(RELEASED.replace("uint32 size = 1;", "")))), 4)


if __name__ == "__main__":
    unittest.main()
