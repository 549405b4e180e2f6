#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Verdict;

const Kind& Skbedit_() { return *FindKind("skbedit"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Skbedit_().Parse(&words, action);
}

v1::Action Parsed(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  return action;
}

RuleError Normalized(v1::Action* action, bool in_filter = false) {
  return Skbedit_().Normalize({in_filter}, action);
}

std::string Printed(absl::string_view text, bool json = false) {
  v1::Action action = Parsed(text);
  EXPECT_FALSE(Normalized(&action)) << text;
  PrintOptions options;
  options.json = json;
  std::string result;
  Printer out(options, &result);
  out.OpenObject();
  Skbedit_().PrintHead(&out);
  Skbedit_().Print(action, options, &out);
  out.CloseObject();
  return result;
}

TEST(SkbeditParse, AllEdits) {
  const v1::Action action = Parsed(
      "queue_mapping 2 priority 1:10 mark 7/0xff ptype otherhost inheritdsfield drop index 4");
  EXPECT_EQ(action.skbedit().queue_mapping(), 2u);
  EXPECT_EQ(action.skbedit().priority(), 0x10010u);
  EXPECT_EQ(action.skbedit().mark(), 7u);
  EXPECT_EQ(action.skbedit().mask(), 0xffu);
  EXPECT_EQ(action.skbedit().ptype(), 3u);
  EXPECT_TRUE(action.skbedit().inherit_dsfield());
  EXPECT_EQ(action.skbedit().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 4u);
}

TEST(SkbeditParse, ShortFormsInTheOrderOfTc) {
  EXPECT_EQ(Parsed("p 5").skbedit().priority(), 5u);
  EXPECT_EQ(Parsed("pt h").skbedit().ptype(), 0u);
  EXPECT_EQ(Parsed("q 6").skbedit().queue_mapping(), 6u);
  // "i" and "in" are inheritdsfield, not index.
  EXPECT_TRUE(Parsed("in").skbedit().inherit_dsfield());
  EXPECT_EQ(Parsed("i ind 7").index(), 7u);
}

TEST(SkbeditParse, AQueueHas16BitsInDecimal) {
  EXPECT_EQ(Parsed("queue_mapping 65535").skbedit().queue_mapping(), 65535u);
  v1::Action action;
  for (const char* text : {"queue_mapping 65536", "queue_mapping 67000", "queue_mapping -1",
                           "queue_mapping 0x10", "queue_mapping skbhash 1 5"}) {
    const ParseError error = Parse(text, &action);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(error.text, "Illegal queue_mapping\n") << text;
  }
}

TEST(SkbeditParse, APriorityIsAClassIdInHexadecimal) {
  const struct {
    const char* word;
    uint32_t id;
  } good[] = {
      {"16", 0x16},
      {"ffff:ffff", 0xffffffff},
      {"ffff:", 0xffff0000},
      {":a", 10},
      {":", 0},
      {"none", 0},
      {"root", 0xffffffff},
      {"0x10", 0x10},
      {"1ffffffff", 0xffffffff},
  };
  for (const auto& c : good) {
    EXPECT_EQ(Parsed(std::string("priority ") + c.word).skbedit().priority(), c.id) << c.word;
  }
  v1::Action action;
  for (const char* bad : {"foo", "10000:1", "1:10000", "1:2:3", "1:x", "-1:1"}) {
    const ParseError error = Parse(std::string("priority ") + bad, &action);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << bad;
    EXPECT_EQ(error.text, "Illegal priority\n") << bad;
  }
}

TEST(SkbeditParse, AMarkHas32BitsAndMayHaveAMask) {
  EXPECT_EQ(Parsed("mark 4294967295").skbedit().mark(), 4294967295u);
  EXPECT_FALSE(Parsed("mark 1").skbedit().has_mask());
  EXPECT_EQ(Parsed("mark 0x10/010").skbedit().mask(), 8u);
  EXPECT_TRUE(Parsed("mark 1/0").skbedit().has_mask());
  // The mask of an earlier mark stays.
  EXPECT_EQ(Parsed("mark 1/0xff mark 2").skbedit().mask(), 0xffu);
  v1::Action action;
  for (const char* bad : {"4294967296", "666777888999", "foo", "/1", "-1"}) {
    EXPECT_EQ(Parse(std::string("mark ") + bad, &action).text, "Illegal mark\n") << bad;
  }
  for (const char* bad : {"1/", "1/4294967296", "1/foo", "1/2/3"}) {
    EXPECT_EQ(Parse(std::string("mark ") + bad, &action).text, "Illegal mask\n") << bad;
  }
}

TEST(SkbeditParse, TheFourPacketTypes) {
  const char* const types[] = {"host", "broadcast", "multicast", "otherhost"};
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(Parsed(std::string("ptype ") + types[i]).skbedit().ptype(), i);
  }
  v1::Action action;
  EXPECT_EQ(Parse("ptype openair", &action).text, "Illegal ptype (openair)\n");
}

TEST(SkbeditParse, NeitherEditNorIndexShowsTheHelp) {
  v1::Action action;
  const ParseError error = Parse("drop", &action);
  EXPECT_EQ(error.then, ParseError::Then::kReturn);
  EXPECT_EQ(error.text, Skbedit_().help());
  EXPECT_EQ(Parsed("index 5").index(), 5u);
}

TEST(SkbeditParse, MissingValuesAndHelpEndTc) {
  v1::Action action;
  for (const char* text :
       {"", "queue_mapping", "priority", "mark", "ptype", "mark 1 index", "help", "mark 1 help"}) {
    EXPECT_EQ(Parse(text, &action).then, ParseError::Then::kExit) << text;
  }
}

TEST(SkbeditParse, ABadIndexReturns) {
  v1::Action action;
  EXPECT_EQ(Parse("mark 1 index foo", &action).text, "skbedit: Illegal \"index\"\n");
}

TEST(SkbeditNormalize, OneEditIsRequired) {
  v1::Action action = Parsed("index 200");
  EXPECT_EQ(Normalized(&action).field, "skbedit");
  EXPECT_EQ(Normalized(&action).kernel_text, "RTNETLINK answers: Invalid argument");
  // A mask alone edits nothing.
  action.mutable_skbedit()->set_mask(1);
  EXPECT_EQ(Normalized(&action).field, "skbedit");
}

TEST(SkbeditNormalize, ZeroIsAnEdit) {
  for (const char* text : {"queue_mapping 0", "priority none", "mark 0", "ptype host"}) {
    v1::Action action = Parsed(text);
    EXPECT_FALSE(Normalized(&action)) << text;
  }
}

TEST(SkbeditNormalize, AMaskNeedsAMark) {
  v1::Action action = Parsed("priority 1");
  action.mutable_skbedit()->set_mask(1);
  EXPECT_FALSE(Normalized(&action));
  EXPECT_FALSE(action.skbedit().has_mask());
}

TEST(SkbeditNormalize, Limits) {
  v1::Action action;
  action.mutable_skbedit()->set_queue_mapping(65535);
  EXPECT_FALSE(Normalized(&action));
  action.mutable_skbedit()->set_queue_mapping(65536);
  EXPECT_EQ(Normalized(&action).text, "65536; 0 to 65535 are allowed");
  action.mutable_skbedit()->set_queue_mapping(0);
  action.mutable_skbedit()->set_ptype(3);
  EXPECT_FALSE(Normalized(&action));
  action.mutable_skbedit()->set_ptype(4);
  EXPECT_EQ(Normalized(&action).text, "4; 0 to 3 are allowed");
}

TEST(SkbeditNormalize, GotoChainIsForFilters) {
  v1::Action action = Parsed("mark 1 goto chain 42");
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Normalized(&action, true));
}

TEST(SkbeditPrint, Text) {
  const std::string tail = "\n\t index 0 ref 0 bind 0\n";
  EXPECT_EQ(Printed("queue_mapping 1 ptype host"),
            "skbedit queue_mapping 1 ptype host pipe" + tail);
  EXPECT_EQ(Printed("mark 0xffffffff/0"), "skbedit  mark 4294967295/0 pipe" + tail);
  EXPECT_EQ(Printed("inheritdsfield priority 16 mark 7/0xff drop"),
            "skbedit  priority :16 mark 7/0xff inheritdsfield drop" + tail);
}

TEST(SkbeditPrint, Json) {
  EXPECT_EQ(
      Printed("priority root mark 7/0xff ptype multicast inheritdsfield index 3", true),
      R"({"kind":"skbedit","priority":"root","mark":7,"mask":"ff","ptype":"multicast",)"
      R"("inheritdsfield":null,"control_action":{"type":"pipe"},"index":3,"ref":0,"bind":0})");
}

TEST(SkbeditOffload, HardwareTakesASingleEditOfMarkPriorityOrType) {
  for (const char* text : {"mark 1", "priority 1", "ptype host"}) {
    EXPECT_TRUE(Skbedit_().Offloadable(Parsed(text))) << text;
  }
  for (const char* text : {"mark 1/2", "queue_mapping 1", "inheritdsfield", "mark 1 priority 1"}) {
    EXPECT_FALSE(Skbedit_().Offloadable(Parsed(text))) << text;
  }
}

}  // namespace
}  // namespace tcact::kinds
