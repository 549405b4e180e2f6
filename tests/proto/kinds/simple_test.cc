#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Verdict;

constexpr char kLongest[] = "0123456789012345678901234567890";

const Kind& Simple_() { return *FindKind("simple"); }

ParseError Parse(std::vector<std::string> list, v1::Action* action) {
  Words words(std::move(list));
  return Simple_().Parse(&words, action);
}

v1::Action Parsed(std::vector<std::string> list) {
  v1::Action action;
  const ParseError error = Parse(std::move(list), &action);
  EXPECT_FALSE(error) << error.text;
  return action;
}

RuleError Normalized(v1::Action* action, bool in_filter = false) {
  return Simple_().Normalize({in_filter}, action);
}

std::string Printed(const v1::Action& action, bool json = false) {
  PrintOptions options;
  options.json = json;
  std::string text;
  Printer out(options, &text);
  out.OpenObject();
  Simple_().PrintHead(&out);
  Simple_().Print(action, options, &out);
  out.CloseObject();
  return text;
}

TEST(SimpleParse, ATextOfOneWord) {
  const v1::Action action = Parsed({"sdata", "A triumph", "drop", "index", "7"});
  EXPECT_EQ(action.simple().text(), "A triumph");
  EXPECT_EQ(action.simple().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 7u);
}

TEST(SimpleParse, AKeywordMayBeTheText) {
  EXPECT_EQ(Parsed({"sdata", "index"}).simple().text(), "index");
}

TEST(SimpleParse, TheLastTextCounts) {
  EXPECT_EQ(Parsed({"sdata", "a", "sdata", "b"}).simple().text(), "b");
}

TEST(SimpleParse, TheKindMayBeSaidAgainAndIsMeantByItsShortForms) {
  EXPECT_EQ(Parsed({"simple", "sd", "a"}).simple().text(), "a");
  // "s" is simple, not sdata.
  v1::Action action;
  EXPECT_EQ(Parse({"s", "a"}, &action).then, ParseError::Then::kReturn);
  EXPECT_EQ(Parse({"sdata", "a", "s"}, &action).then, ParseError::Then::kExit);
}

TEST(SimpleParse, ATextHas0To31Bytes) {
  EXPECT_TRUE(Parsed({"sdata", ""}).simple().has_text());
  EXPECT_EQ(Parsed({"sdata", kLongest}).simple().text(), kLongest);
  v1::Action action;
  const std::string too_long = absl::StrCat(kLongest, "1");
  const ParseError error = Parse({"sdata", too_long}, &action);
  EXPECT_EQ(error.then, ParseError::Then::kReturn);
  EXPECT_EQ(error.text, absl::StrCat("simple: Illegal string len 32 <", too_long, ">\n"));
}

TEST(SimpleParse, NeitherTextNorIndexShowsTheHelp) {
  v1::Action action;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"foo", "index", "200"}, {"drop"}}) {
    const ParseError error = Parse(words, &action);
    EXPECT_EQ(error.then, ParseError::Then::kReturn);
    EXPECT_EQ(error.text, Simple_().help());
  }
  EXPECT_EQ(Parsed({"index", "200"}).index(), 200u);
}

TEST(SimpleParse, MissingWordsAndHelpEndTc) {
  v1::Action action;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {}, {"sdata"}, {"sdata", "a", "index"}, {"help"}, {"sdata", "a", "help"}}) {
    EXPECT_EQ(Parse(words, &action).then, ParseError::Then::kExit);
  }
}

TEST(SimpleParse, ABadIndexReturns) {
  v1::Action action;
  EXPECT_EQ(Parse({"sdata", "a", "index", "foo"}, &action).then, ParseError::Then::kReturn);
}

TEST(SimpleNormalize, ATextIsRequiredAndMayBeEmpty) {
  v1::Action action = Parsed({"index", "1"});
  EXPECT_EQ(Normalized(&action).field, "simple.text");
  EXPECT_EQ(Normalized(&action).kernel_text, "RTNETLINK answers: Invalid argument");
  action = Parsed({"sdata", ""});
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(action.simple().verdict().type(), Verdict::TYPE_PIPE);
}

TEST(SimpleNormalize, ATextHasNoZeroByteAndAtMost31) {
  v1::Action action;
  action.mutable_simple()->set_text(kLongest);
  EXPECT_FALSE(Normalized(&action));
  action.mutable_simple()->set_text(absl::StrCat(kLongest, "1"));
  EXPECT_EQ(Normalized(&action).text, "32 bytes; 0 to 31 are allowed");
  action.mutable_simple()->set_text(std::string("a\0b", 3));
  EXPECT_EQ(Normalized(&action).field, "simple.text");
}

TEST(SimpleNormalize, GotoChainIsForFilters) {
  v1::Action action = Parsed({"sdata", "a", "goto", "chain", "42"});
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Normalized(&action, true));
}

TEST(SimplePrint, NeitherKindNorVerdict) {
  v1::Action action = Parsed({"sdata", "say \"hi\"", "drop", "index", "3"});
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(Printed(action), "Simple <say \"hi\">\n\t index 3 ref 0 bind 0\n");
  EXPECT_EQ(Printed(action, true), R"({"simple":"say \"hi\"","index":3,"ref":0,"bind":0})");
}

TEST(SimpleOffload, HardwareTakesNone) {
  EXPECT_FALSE(Simple_().Offloadable(Parsed({"sdata", "a"})));
}

}  // namespace
}  // namespace tcact::kinds
