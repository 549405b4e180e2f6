#include "gtest/gtest.h"
#include "proto/kinds/addresses.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Verdict;

const Kind& Skbmod_() { return *FindKind("skbmod"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Skbmod_().Parse(&words, action);
}

v1::Action Parsed(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  return action;
}

ParseError Refused(absl::string_view text) {
  v1::Action action;
  return Parse(text, &action);
}

RuleError Normalized(v1::Action* action, bool in_filter = false) {
  return Skbmod_().Normalize({in_filter}, action);
}

std::string Printed(absl::string_view text, bool json = false) {
  v1::Action action = Parsed(text);
  EXPECT_FALSE(Normalized(&action)) << text;
  std::string result;
  PrintOptions options;
  options.json = json;
  Printer out(options, &result);
  Skbmod_().PrintHead(&out);
  Skbmod_().Print(action, options, &out);
  return result;
}

TEST(SkbmodParse, ReadsFieldsInAnyOrder) {
  const v1::Action action =
      Parsed("set etype 0x86dd smac 1:2:3:4:5:6 dmac 7:8:9:a:b:c pass index 5");
  EXPECT_EQ(FormatMac(action.skbmod().dst_mac()), "07:08:09:0a:0b:0c");
  EXPECT_EQ(FormatMac(action.skbmod().src_mac()), "01:02:03:04:05:06");
  EXPECT_EQ(action.skbmod().ethertype(), 0x86ddu);
  EXPECT_FALSE(action.skbmod().swap_mac());
  EXPECT_EQ(action.skbmod().verdict().type(), Verdict::TYPE_PASS);
  EXPECT_EQ(action.index(), 5u);
}

TEST(SkbmodParse, SetAndSwapSayNothingByThemselves) {
  EXPECT_TRUE(Parsed("mac").skbmod().swap_mac());
  EXPECT_TRUE(Parsed("set swap skbmod mac").skbmod().swap_mac());
  EXPECT_FALSE(Parsed("dmac 1:2:3:4:5:6").skbmod().dst_mac().empty());
  for (const char* text : {"set", "swap", "skbmod", "s"}) {
    EXPECT_EQ(Refused(text).text, ParseError::Incomplete().text) << text;
  }
}

TEST(SkbmodParse, AbbreviatesInTheOrderOfTc) {
  EXPECT_EQ(Parsed("se e 5").skbmod().ethertype(), 5u);
  EXPECT_TRUE(Parsed("ec").skbmod().ecn());
  EXPECT_TRUE(Parsed("sw m").skbmod().swap_mac());
  EXPECT_FALSE(Parsed("sm 1:2:3:4:5:6").skbmod().src_mac().empty());
  EXPECT_FALSE(Parsed("d 1:2:3:4:5:6").skbmod().dst_mac().empty());
  EXPECT_EQ(Parsed("s i 0x10").index(), 16u);
}

TEST(SkbmodParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("swap mac pipe index 3 cookie aa");
  v1::Action action;
  EXPECT_FALSE(Skbmod_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "cookie");
}

TEST(SkbmodParse, BadAddressesAndIndexesReturn) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"set dmac foo", "Invalid dst mac address foo\n"},
      {"set smac 1:2:3:4:5", "Invalid smac address 1:2:3:4:5\n"},
      {"swap mac index foo", "skbmod: Illegal \"index\"\n"},
      {"swap mac index 4294967296", "skbmod: Illegal \"index\"\n"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(Refused(text).then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(Refused(text).text, error) << text;
  }
}

TEST(SkbmodParse, TheRestEndsTc) {
  EXPECT_EQ(Refused("set etype 65536").text,
            "Error: argument \"65536\" is wrong: ethertype is invalid\n");
  const std::string help(Skbmod_().help());
  for (const char* text : {"pipe", "set foo 1", "set pipe"}) {
    EXPECT_EQ(Refused(text).then, ParseError::Then::kExit) << text;
    EXPECT_EQ(Refused(text).text, "skbmod requires at least one option\n" + help) << text;
  }
  EXPECT_EQ(Refused("help").text, help);
  EXPECT_EQ(Refused("ecn h").text, help);
  for (const char* text : {"", "set dmac", "set etype", "swap mac index"}) {
    EXPECT_EQ(Refused(text).text, ParseError::Incomplete().text) << text;
  }
}

TEST(SkbmodNormalize, NeedsSomethingToEdit) {
  for (const char* text : {"index 3", "set index 3", "set etype 0"}) {
    v1::Action action = Parsed(text);
    const RuleError error = Normalized(&action);
    EXPECT_EQ(error.field, "skbmod") << text;
    EXPECT_EQ(error.kernel_text, "RTNETLINK answers: Invalid argument") << text;
  }
}

TEST(SkbmodNormalize, KeepsOneOfTheEditsThatExcludeEachOther) {
  v1::Action action = Parsed("set dmac 1:2:3:4:5:6 etype 7 swap mac");
  EXPECT_FALSE(Normalized(&action));
  v1::Action swap = Parsed("swap mac");
  EXPECT_FALSE(Normalized(&swap));
  EXPECT_EQ(action.skbmod().SerializeAsString(), swap.skbmod().SerializeAsString());
  action = Parsed("set smac 1:2:3:4:5:6 swap mac ecn");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_TRUE(action.skbmod().ecn());
  EXPECT_FALSE(action.skbmod().swap_mac());
  EXPECT_TRUE(action.skbmod().src_mac().empty());
}

TEST(SkbmodNormalize, FieldsHaveTheirLimits) {
  v1::Action action = Parsed("set etype 65535 dmac 0:0:0:0:0:0");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(action.skbmod().verdict().type(), Verdict::TYPE_PIPE);
  EXPECT_EQ(action.skbmod().dst_mac().size(), 6u);
  action.mutable_skbmod()->set_ethertype(65536);
  EXPECT_EQ(Normalized(&action).text, "65536; 0 to 65535 are allowed");
  action.mutable_skbmod()->set_src_mac("1234567");
  EXPECT_EQ(Normalized(&action).text, "7 bytes; an Ethernet address has 6");
  action.mutable_skbmod()->set_dst_mac("1");
  EXPECT_EQ(Normalized(&action).field, "skbmod.dst_mac");
}

TEST(SkbmodNormalize, GotoChainIsForFilters) {
  v1::Action action = Parsed("ecn goto chain 7");
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Normalized(&action, true));
}

TEST(SkbmodPrint, IsTcs) {
  EXPECT_EQ(Printed("set dmac 1:2:3:4:5:6 smac 7:8:9:a:b:c index 2"),
            "skbmod pipe set dmac 01:02:03:04:05:06 set smac 07:08:09:0a:0b:0c \n"
            "\t index 2 ref 0 bind 0\n");
  EXPECT_EQ(Printed("set etype 0xbeef drop"),
            "skbmod drop set etype 0xBEEF \n\t \n\t index 0 ref 0 bind 0\n");
  EXPECT_EQ(Printed("swap mac"), "skbmod pipe swap mac \n\t index 0 ref 0 bind 0\n");
  EXPECT_EQ(Printed("ecn"), "skbmod pipe ecn \n\t index 0 ref 0 bind 0\n");
}

TEST(SkbmodPrint, JsonHasNoKindAndNullForWhatIsSet) {
  EXPECT_EQ(Printed("swap mac", true),
            "\"control_action\":{\"type\":\"pipe\"},\"swapmac\":null,\"index\":0,\"ref\":0,"
            "\"bind\":0");
  EXPECT_EQ(Printed("set etype 0xBEEF", true),
            "\"control_action\":{\"type\":\"pipe\"},\"etype\":\"0xbeef\",\"index\":0,\"ref\":0,"
            "\"bind\":0");
}

TEST(SkbmodOffload, HardwareTakesNone) {
  for (const std::string& text : Skbmod_().examples()) {
    EXPECT_FALSE(Skbmod_().Offloadable(Parsed(text))) << text;
  }
}

}  // namespace
}  // namespace tcact::kinds
