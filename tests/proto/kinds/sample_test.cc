#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Verdict;

const Kind& Sample_() { return *FindKind("sample"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Sample_().Parse(&words, action);
}

v1::Action Parsed(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  return action;
}

RuleError Normalized(v1::Action* action, bool in_filter = false) {
  return Sample_().Normalize({in_filter}, action);
}

std::string Printed(const v1::Action& action, bool json = false) {
  PrintOptions options;
  options.json = json;
  std::string text;
  Printer out(options, &text);
  out.OpenObject();
  Sample_().PrintHead(&out);
  Sample_().Print(action, options, &out);
  out.CloseObject();
  return text;
}

TEST(SampleParse, RateGroupAndSizeInAnyOrder) {
  const v1::Action action = Parsed("trunc 100 group 3 rate 20 drop index 9");
  EXPECT_EQ(action.sample().rate(), 20u);
  EXPECT_EQ(action.sample().group(), 3u);
  EXPECT_EQ(action.sample().truncate(), 100u);
  EXPECT_EQ(action.sample().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 9u);
}

TEST(SampleParse, ShortFormsInTheOrderOfTc) {
  // "r" is rate, not reclassify; "t" is trunc, not trap.
  const v1::Action action = Parsed("r 5 g 6 t 7 rec i 8");
  EXPECT_EQ(action.sample().rate(), 5u);
  EXPECT_EQ(action.sample().group(), 6u);
  EXPECT_EQ(action.sample().truncate(), 7u);
  EXPECT_EQ(action.sample().verdict().type(), Verdict::TYPE_RECLASSIFY);
  EXPECT_EQ(action.index(), 8u);
}

TEST(SampleParse, TheLastValueCounts) {
  EXPECT_EQ(Parsed("rate 1 rate 2 group 3 group 4").sample().rate(), 2u);
}

TEST(SampleParse, NothingIsReadBehindTheIndex) {
  Words words = Words::Split("rate 1 group 2 index 3 trunc 4");
  v1::Action action;
  EXPECT_FALSE(Sample_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "trunc");
}

TEST(SampleParse, NumbersHaveAll32Bits) {
  const v1::Action action = Parsed("rate 4294967295 group 4294967295 trunc 4294967295");
  EXPECT_EQ(action.sample().rate(), 4294967295u);
  EXPECT_EQ(action.sample().group(), 4294967295u);
  EXPECT_EQ(action.sample().truncate(), 4294967295u);
}

TEST(SampleParse, BadNumbersShowTheHelpAndEndTc) {
  const struct {
    const char* words;
    const char* text;
  } cases[] = {
      {"rate 4294967296 group 1", "Illegal rate 4294967296\n"},
      {"rate -10 group 1", "Illegal rate -10\n"},
      {"rate 0x10 group 1", "Illegal rate 0x10\n"},
      {"rate 1 group foo", "Illegal group num foo\n"},
      {"rate 1 group 1 trunc 1k", "Illegal truncation size 1k\n"},
  };
  for (const auto& c : cases) {
    v1::Action action;
    const ParseError error = Parse(c.words, &action);
    EXPECT_EQ(error.then, ParseError::Then::kExit) << c.words;
    EXPECT_EQ(error.text, c.text + std::string(Sample_().help())) << c.words;
  }
}

TEST(SampleParse, ABadIndexReturns) {
  v1::Action action;
  const ParseError error = Parse("rate 1 group 1 index 4294967296", &action);
  EXPECT_EQ(error.then, ParseError::Then::kReturn);
  EXPECT_EQ(error.text, "sample: Illegal \"index\"\n");
}

TEST(SampleParse, RateAndGroupMayBeLeftOutOnlyWithAnIndex) {
  v1::Action action;
  EXPECT_EQ(Parse("rate 1", &action).text,
            "param \"group\" not set\n" + std::string(Sample_().help()));
  EXPECT_EQ(Parse("group 1", &action).text,
            "param \"rate\" not set\n" + std::string(Sample_().help()));
  EXPECT_EQ(Parse("trunc 1 index 0", &action).then, ParseError::Then::kExit);
  EXPECT_EQ(Parsed("index 5").index(), 5u);
}

TEST(SampleParse, MissingWordsEndTc) {
  v1::Action action;
  EXPECT_EQ(Parse("", &action).text, ParseError::Missing("sample count").text);
  for (const char* text : {"", "rate", "rate 1 group", "rate 1 group 1 trunc", "help"}) {
    EXPECT_EQ(Parse(text, &action).then, ParseError::Then::kExit) << text;
  }
}

TEST(SampleNormalize, RateAndGroupAreRequired) {
  v1::Action action = Parsed("rate 10 index 1");
  EXPECT_EQ(Normalized(&action).field, "sample.group");
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: sample rate and group are required.");
  action = Parsed("rate 0 group 1 index 1");
  EXPECT_EQ(Normalized(&action).text, "0; 1 to 4294967295 are allowed");
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: invalid sample rate.");
}

TEST(SampleNormalize, Group0IsAGroupAndPipeTheDefault) {
  v1::Action action = Parsed("rate 1 group 0");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_TRUE(action.sample().has_group());
  EXPECT_FALSE(action.sample().has_truncate());
  EXPECT_EQ(action.sample().verdict().type(), Verdict::TYPE_PIPE);
}

TEST(SampleNormalize, GotoChainIsForFilters) {
  v1::Action action = Parsed("rate 1 group 0 goto chain 42");
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Normalized(&action, true));
}

TEST(SamplePrint, TextAndJson) {
  v1::Action action = Parsed("rate 20 group 3 trunc 0 drop index 4");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(Printed(action),
            "sample rate 1/20 group 3 trunc_size 0 drop\n\t index 4 ref 0 bind 0\n");
  EXPECT_EQ(Printed(action, true),
            R"({"kind":"sample","rate":20,"group":3,"trunc_size":0,)"
            R"("control_action":{"type":"drop"},"index":4,"ref":0,"bind":0})");
  action = Parsed("rate 1 group 0");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(Printed(action), "sample rate 1/1 group 0 pipe\n\t index 0 ref 0 bind 0\n");
}

TEST(SampleOffload, HardwareTakesAll) {
  EXPECT_TRUE(Sample_().Offloadable(Parsed("rate 1 group 1")));
}

}  // namespace
}  // namespace tcact::kinds
