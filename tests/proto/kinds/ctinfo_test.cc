#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Ctinfo;
using v1::Verdict;

const Kind& Kind_() { return *FindKind("ctinfo"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Kind_().Parse(&words, action);
}

v1::Action Parsed(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  return action;
}

// Read and normalized.
v1::Action Made(absl::string_view text) {
  v1::Action action = Parsed(text);
  const RuleError rule = Kind_().Normalize({}, &action);
  EXPECT_FALSE(rule) << text << ": " << rule.field << " " << rule.text;
  return action;
}

ParseError Failed(absl::string_view text) {
  v1::Action action;
  ParseError error = Parse(text, &action);
  EXPECT_TRUE(error) << text;
  return error;
}

RuleError Refused(const Ctinfo& ctinfo) {
  v1::Action action;
  *action.mutable_ctinfo() = ctinfo;
  RuleError error = Kind_().Normalize({}, &action);
  EXPECT_TRUE(error) << ctinfo.ShortDebugString();
  return error;
}

std::string Printed(const v1::Action& action, bool json = false, bool stats = false) {
  std::string text;
  PrintOptions options;
  options.json = json;
  options.stats = stats;
  Printer out(options, &text);
  out.OpenObject();
  Kind_().PrintHead(&out);
  Kind_().Print(action, options, &out);
  out.CloseObject();
  return text;
}

TEST(CtinfoParse, ReadsAllKeywordsInTheirOrder) {
  const v1::Action action =
      Parsed("dscp 0xfc000000 0x01000000 cpmark 0xff zone 65535 drop index 9");
  const Ctinfo& ctinfo = action.ctinfo();
  EXPECT_EQ(ctinfo.dscp_mask(), 0xfc000000u);
  EXPECT_EQ(ctinfo.dscp_state_mask(), 0x01000000u);
  EXPECT_EQ(ctinfo.cpmark_mask(), 0xffu);
  EXPECT_EQ(ctinfo.zone(), 65535u);
  EXPECT_EQ(ctinfo.verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 9u);
}

TEST(CtinfoParse, NoWordIsNeeded) {
  const v1::Action action = Made("");
  EXPECT_TRUE(action.has_ctinfo());
  EXPECT_EQ(action.ctinfo().verdict().type(), Verdict::TYPE_PIPE);
  EXPECT_FALSE(action.ctinfo().has_cpmark_mask());
}

TEST(CtinfoParse, MasksMayBeLeftOut) {
  EXPECT_EQ(Parsed("dscp 0x3f cpmark").ctinfo().cpmark_mask(), 0xffffffffu);
  EXPECT_EQ(Parsed("cpmark index 1").ctinfo().cpmark_mask(), 0xffffffffu);
  EXPECT_EQ(Parsed("dscp 0x3f zone 1").ctinfo().dscp_state_mask(), 0u);
  EXPECT_EQ(Parsed("dscp 0x3f zone 1").ctinfo().zone(), 1u);
}

TEST(CtinfoParse, ACpmarkOf0IsNone) { EXPECT_FALSE(Parsed("cpmark 0").ctinfo().has_cpmark_mask()); }

TEST(CtinfoParse, MasksAreDecimalOctalOrHexadecimalAndTheZoneIsDecimal) {
  EXPECT_EQ(Parsed("dscp 63 0100").ctinfo().dscp_mask(), 63u);
  EXPECT_EQ(Parsed("dscp 63 0100").ctinfo().dscp_state_mask(), 64u);
  EXPECT_EQ(Failed("zone 0x10").text, "ctinfo: Illegal \"zone\"\n");
}

TEST(CtinfoParse, AbbreviatesAsTc) {
  const v1::Action action = Parsed("d 0x3f 0x40 cp 7 z 3 dr i 4");
  EXPECT_EQ(action.ctinfo().dscp_mask(), 0x3fu);
  EXPECT_EQ(action.ctinfo().cpmark_mask(), 7u);
  EXPECT_EQ(action.ctinfo().zone(), 3u);
  EXPECT_EQ(action.ctinfo().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 4u);
  // "c" is the kind's name again, not cpmark.
  EXPECT_FALSE(Parsed("c zone 1").ctinfo().has_cpmark_mask());
}

TEST(CtinfoParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("zone 31 cpmark 0x00ffffff");
  v1::Action action;
  EXPECT_FALSE(Kind_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "cpmark");
}

TEST(CtinfoParse, BadValuesReturn) {
  const struct {
    const char* words;
    const char* text;
  } cases[] = {
      {"dscp index 200", "ctinfo: Illegal dscp \"mask\"\n"},
      {"dscp 0x100000000", "ctinfo: Illegal dscp \"mask\"\n"},
      {"zone 65536", "ctinfo: Illegal \"zone\"\n"},
      {"zone -1", "ctinfo: Illegal \"zone\"\n"},
      {"index 4294967296", "ctinfo: Illegal \"index\"\n"},
      {"dscp 0xff", "ctinfo: dscp mask must be 6 contiguous bits long\n"},
      {"dscp 0x1f", "ctinfo: dscp mask must be 6 contiguous bits long\n"},
      {"dscp 0x5f", "ctinfo: dscp mask must be 6 contiguous bits long\n"},
      {"dscp 0x3f 0x20", "ctinfo: dscp mask & statemask must NOT overlap\n"},
  };
  for (const auto& c : cases) {
    const ParseError error = Failed(c.words);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << c.words;
    EXPECT_EQ(error.text, c.text) << c.words;
  }
}

TEST(CtinfoParse, MissingValuesAndHelpEndTc) {
  for (const char* text : {"dscp", "zone", "index"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kExit) << text;
  }
  EXPECT_EQ(Failed("help").then, ParseError::Then::kExit);
  EXPECT_EQ(Failed("h").text, Kind_().help());
}

TEST(CtinfoNormalize, EverySixNeighboursMayHoldTheDscp) {
  for (int shift = 0; shift <= 26; ++shift) {
    v1::Action action;
    action.mutable_ctinfo()->set_dscp_mask(0x3fu << shift);
    EXPECT_FALSE(Kind_().Normalize({}, &action)) << shift;
  }
}

TEST(CtinfoNormalize, OtherMasksAreRefused) {
  Ctinfo ctinfo;
  for (const uint32_t mask : {1u, 0x1fu, 0x7fu, 0x5fu, 0xf8000000u, 0xffffffffu}) {
    ctinfo.set_dscp_mask(mask);
    EXPECT_EQ(Refused(ctinfo).field, "ctinfo.dscp_mask") << mask;
  }
  ctinfo.set_dscp_mask(0xff);
  EXPECT_EQ(Refused(ctinfo).text, "0xff; 0 or six neighbouring bits");
}

TEST(CtinfoNormalize, TheStateMaskIsOutsideAndNeedsAMask) {
  Ctinfo ctinfo;
  ctinfo.set_dscp_mask(0x3f);
  ctinfo.set_dscp_state_mask(0x60);
  EXPECT_EQ(Refused(ctinfo).field, "ctinfo.dscp_state_mask");
  EXPECT_EQ(Made("dscp 0 0x10").ctinfo().dscp_state_mask(), 0u);
  EXPECT_EQ(Made("dscp 0x3f 0xffffffc0").ctinfo().dscp_state_mask(), 0xffffffc0u);
}

TEST(CtinfoNormalize, TheZoneHasItsLimit) {
  Ctinfo ctinfo;
  ctinfo.set_zone(65536);
  EXPECT_EQ(Refused(ctinfo).field, "ctinfo.zone");
  EXPECT_EQ(Refused(ctinfo).text, "65536; 0 to 65535 are allowed");
  EXPECT_EQ(Made("zone 65535").ctinfo().zone(), 65535u);
}

TEST(CtinfoNormalize, GotoChainIsForFilters) {
  v1::Action action = Parsed("goto chain 42");
  EXPECT_EQ(Kind_().Normalize({}, &action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Kind_().Normalize({.in_filter = true}, &action));
}

TEST(CtinfoPrint, MasksHaveEightDigitsAndZeroHasTen) {
  v1::Action action = Made("dscp 0x3f cpmark 0xf continue index 5");
  action.set_refcnt(1);
  EXPECT_EQ(Printed(action),
            "ctinfo zone 0 continue\n"
            "\t index 5 ref 1 bind 0 dscp 0x0000003f 0000000000 cpmark 0x0000000f\n");
  EXPECT_EQ(Printed(action, true),
            "{\"kind\":\"ctinfo\",\"zone\":0,\"control_action\":{\"type\":\"continue\"},"
            "\"index\":5,\"ref\":1,\"bind\":0,\"dscpmask\":\"0x3f\",\"dscpstatemask\":\"0\","
            "\"cpmark\":\"0xf\"}");
}

TEST(CtinfoPrint, ACpmarkOf0ThatTheApiSetIsShown) {
  v1::Action action;
  action.mutable_ctinfo()->set_cpmark_mask(0);
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  EXPECT_NE(Printed(action).find("bind 0 cpmark 0000000000\n"), std::string::npos);
}

TEST(CtinfoPrint, StatisticsAddTimesAndCounts) {
  EXPECT_EQ(Printed(Made("zone 7 index 1"), false, true),
            "ctinfo zone 7 pipe\n"
            "\t index 1 ref 0 bind 0 installed 0 sec used 0 sec DSCP set 0 error 0 CPMARK set 0\n");
}

TEST(CtinfoOffload, HardwareTakesNone) { EXPECT_FALSE(Kind_().Offloadable(Made("cpmark"))); }

}  // namespace
}  // namespace tcact::kinds
