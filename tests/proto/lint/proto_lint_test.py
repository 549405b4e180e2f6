"""What the lint finds, on a sound proto that is spoilt in every way: proto_lint_test.py"""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import proto_lint
import descriptors

SOUND = """syntax = "proto3";
package t.v1;
// Colours.
enum Colour {
  COLOUR_UNSPECIFIED = 0;
  COLOUR_RED = 1;
}
message CreateThingRequest {
  string netns = 1;
  // Metres.
  uint32 width = 2;
  uint32 height = 3;

  // Of the paint.
  Colour colour = 4;
  // Makes a retry safe.
  string request_id = 15;
}
message CreateThingResponse {}
message ListThingsRequest {
  // At most so many.
  int32 page_size = 1;
  string page_token = 2;
}
message ListThingsResponse {
  string next_page_token = 1;
}
service Things {
  // Creates one.
  rpc CreateThing(CreateThingRequest) returns (CreateThingResponse);
  // Lists them.
  rpc ListThings(ListThingsRequest) returns (ListThingsResponse);
}
"""

# What is spoilt, and a word of the fault that must be told, and its line.
SPOILT = [
    ("package t.v1;", "package t.v2;", "package t.v2", 1),
    ("// Colours.\n", "\n", "enum Colour has no comment", 4),
    ("COLOUR_RED", "RED", "does not begin with COLOUR_", 6),
    ("COLOUR_UNSPECIFIED", "COLOUR_ANY", "not COLOUR_UNSPECIFIED", 5),
    ("uint32 width", "uint32 Width", "not lower_snake", 11),
    ("uint32 width", "float width", "is a float", 11),
    ("height = 3", "height = 300", "300; 1 to 127", 12),
    ("  // Metres.\n", "\n", "field width has no comment", 11),
    ("  // Of the paint.\n", "\n", "field colour has no comment", 15),
    ("string request_id = 15", "string request_id = 14", "not string 15", 17),
    ("string request_id = 15", "bytes request_id = 15", "not string 15", 17),
    ("  string request_id = 15;\n", "\n", "has no request_id", 30),
    ("  // Creates one.\n", "\n", "call CreateThing has no comment", 30),
    ("CreateThing(CreateThingRequest)", "CreateThing(ListThingsRequest)", "takes ListThingsRequest", 30),
    ("returns (CreateThingResponse)", "returns (CreateThingRequest)", "returns CreateThingRequest", 30),
    ("rpc CreateThing", "rpc createThing", "not CamelCase", 30),
    ("  string next_page_token = 1;\n", "\n", "no next_page_token", 32),
    ("int32 page_size", "int32 size", "without page_size", 20),
    ("message CreateThingResponse {}", "message thing {}\nmessage CreateThingResponse {}", "thing has no comment", 19),
]


def faults_of(text):
    with tempfile.TemporaryDirectory() as root:
        pathlib.Path(root, "t/v1").mkdir(parents=True)
        pathlib.Path(root, "t/v1/t.proto").write_text(text)
        return proto_lint.Lint(descriptors.describe(root, ["t/v1/t.proto"])[0]).run()


class ProtoLintTest(unittest.TestCase):
    def test_sound_proto_has_no_faults(self):
        self.assertEqual(faults_of(SOUND), [])

    def test_every_fault_is_told_with_its_line(self):
        for old, new, words, line in SPOILT:
            self.assertEqual(SOUND.count(old), 1 if old != "COLOUR_RED" else SOUND.count(old), old)
            found = faults_of(SOUND.replace(old, new, 1))
            self.assertTrue(any(at == line and words in text for at, text in found), f"{old} -> {new}: {found}")


if __name__ == "__main__":
    unittest.main()
