#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Verdict;

const Kind& Kind_() { return *FindKind("connmark"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Kind_().Parse(&words, action);
}

// Read and normalized.
v1::Action Made(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
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

std::string Printed(const v1::Action& action, const PrintOptions& options = {}) {
  std::string text;
  Printer out(options, &text);
  out.OpenObject();
  Kind_().PrintHead(&out);
  Kind_().Print(action, options, &out);
  out.CloseObject();
  return text;
}

TEST(ConnmarkParse, NeedsNoWords) {
  const v1::Action action = Made("");
  EXPECT_TRUE(action.has_connmark());
  EXPECT_EQ(action.connmark().zone(), 0U);
  EXPECT_EQ(action.connmark().verdict().type(), Verdict::TYPE_PIPE);
}

TEST(ConnmarkParse, ZoneThenVerdictThenIndex) {
  const v1::Action action = Made("zone 65535 drop index 9");
  EXPECT_EQ(action.connmark().zone(), 65535U);
  EXPECT_EQ(action.connmark().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 9U);
  EXPECT_EQ(Made("z 1").connmark().zone(), 1U);
}

TEST(ConnmarkParse, ZonesAreDecimalAndHave16Bits) {
  for (const char* text : {"zone 65536", "zone -1", "zone 0x1", "zone foo"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(Failed(text).text, "connmark: Illegal \"zone\"\n") << text;
  }
  EXPECT_EQ(Failed("zone").then, ParseError::Then::kExit);
}

TEST(ConnmarkParse, TakesItsKindsWordAgain) {
  EXPECT_EQ(Made("connmark zone 5").connmark().zone(), 5U);
  // So "c" is not continue.
  EXPECT_EQ(Made("c").connmark().verdict().type(), Verdict::TYPE_PIPE);
  EXPECT_EQ(Made("zone 1 c").connmark().verdict().type(), Verdict::TYPE_CONTINUE);
}

TEST(ConnmarkParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("zone 1 zone 2");
  v1::Action action;
  EXPECT_FALSE(Kind_().Parse(&words, &action));
  EXPECT_EQ(words.left(), 2U);
}

TEST(ConnmarkParse, BadIndexesReturn) {
  EXPECT_EQ(Failed("index 4294967296").text, "connmark: Illegal \"index\"\n");
  EXPECT_EQ(Failed("index").then, ParseError::Then::kExit);
}

TEST(ConnmarkParse, HelpIsTheHelpAlone) {
  for (const char* text : {"help", "connmark h"}) EXPECT_EQ(Failed(text).text, Kind_().help());
}

TEST(ConnmarkNormalize, TheZoneHasItsLimit) {
  v1::Action action;
  action.mutable_connmark()->set_zone(65535);
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  action.mutable_connmark()->set_zone(65536);
  const RuleError error = Kind_().Normalize({}, &action);
  EXPECT_EQ(error.field, "connmark.zone");
  EXPECT_EQ(error.text, "65536; 0 to 65535 are allowed");
}

TEST(ConnmarkNormalize, GotoChainIsForFilters) {
  v1::Action action;
  ASSERT_FALSE(Parse("goto chain 5", &action));
  EXPECT_EQ(Kind_().Normalize({}, &action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Kind_().Normalize({.in_filter = true}, &action));
}

TEST(ConnmarkPrint, TextAndJsonAreTcs) {
  v1::Action action = Made("zone 7 jump 2 index 3");
  action.set_refcnt(2);
  action.set_bindcnt(1);
  EXPECT_EQ(Printed(action), "connmark zone 7 jump 2\n\t index 3 ref 2 bind 1\n");
  EXPECT_EQ(Printed(action, {.json = true}),
            "{\"kind\":\"connmark\",\"zone\":7,\"control_action\":{\"type\":\"jump\",\"jump\":2},"
            "\"index\":3,\"ref\":2,\"bind\":1}");
}

TEST(ConnmarkOffload, HardwareTakesNone) { EXPECT_FALSE(Kind_().Offloadable(Made("zone 1"))); }

}  // namespace
}  // namespace tcact::kinds
