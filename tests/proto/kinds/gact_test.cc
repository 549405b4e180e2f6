#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Gact;
using v1::Verdict;

const Kind& Gact_() { return *FindKind("gact"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Gact_().Parse(&words, action);
}

v1::Action Parsed(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  return action;
}

RuleError Normalized(v1::Action* action, bool in_filter = false) {
  return Gact_().Normalize({in_filter}, action);
}

TEST(GactParse, AnIndexAloneLeavesTheVerdictToTheDefault) {
  v1::Action action = Parsed("index 200");
  EXPECT_EQ(action.index(), 200u);
  EXPECT_TRUE(action.has_gact());
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(action.gact().verdict().type(), Verdict::TYPE_PASS);
}

TEST(GactParse, RandomHasATypeAVerdictAndAVal) {
  const v1::Action action = Parsed("drop random determ jump 3 10000 index 9");
  EXPECT_EQ(action.gact().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.gact().random().type(), Gact::Random::TYPE_DETERM);
  EXPECT_EQ(action.gact().random().verdict().type(), Verdict::TYPE_JUMP);
  EXPECT_EQ(action.gact().random().verdict().value(), 3u);
  EXPECT_EQ(action.gact().random().val(), 10000u);
  EXPECT_EQ(action.index(), 9u);
}

TEST(GactParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("drop cookie aa");
  v1::Action action;
  EXPECT_FALSE(Gact_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "cookie");
}

TEST(GactParse, ABadVerdictShowsTheHelpAndEndsTc) {
  v1::Action action;
  const ParseError error = Parse("foo index 200", &action);
  EXPECT_EQ(error.then, ParseError::Then::kExit);
  EXPECT_EQ(error.text, "Bad action type foo\n" + std::string(Gact_().help()));
}

TEST(GactParse, HelpIsTheHelpAlone) {
  v1::Action action;
  for (const char* text : {"help", "drop help"}) {
    EXPECT_EQ(Parse(text, &action).text, Gact_().help()) << text;
  }
}

TEST(GactParse, BadNumbersReturn) {
  v1::Action action;
  for (const char* text : {"drop index -1", "drop index 4294967296", "drop index foo"}) {
    const ParseError error = Parse(text, &action);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(error.text, "Illegal \"index\"\n") << text;
  }
  EXPECT_EQ(Parse("pass random foo drop 5", &action).text, "Illegal \"random type\"\n");
  EXPECT_EQ(Parse("pass random netrand drop 10001", &action).text,
            "Illegal probability val  0x2711\n");
  EXPECT_EQ(Parse("pass random netrand drop 70000", &action).then, ParseError::Then::kReturn);
}

TEST(GactParse, MissingValuesEndTc) {
  v1::Action action;
  for (const char* text : {"", "pass random", "pass random netrand", "drop index", "goto chain"}) {
    EXPECT_EQ(Parse(text, &action).then, ParseError::Then::kExit) << text;
  }
}

TEST(GactNormalize, AValOf0IsStoredAs1) {
  v1::Action action = Parsed("pass random determ pipe 0");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(action.gact().random().val(), 1u);
}

TEST(GactNormalize, ARandomPartWithoutATypeIsNone) {
  v1::Action action;
  action.mutable_gact()->mutable_random()->set_val(7);
  EXPECT_FALSE(Normalized(&action));
  EXPECT_FALSE(action.gact().has_random());
}

TEST(GactNormalize, ValHasItsLimit) {
  v1::Action action = Parsed("pass random determ pipe 10000");
  EXPECT_FALSE(Normalized(&action));
  action.mutable_gact()->mutable_random()->set_val(10001);
  const RuleError error = Normalized(&action);
  EXPECT_EQ(error.field, "gact.random.val");
  EXPECT_EQ(error.text, "10001; 0 to 10000 are allowed");
}

TEST(GactNormalize, UnknownEnumValuesAreRefused) {
  v1::Action action;
  action.mutable_gact()->mutable_random()->set_type(static_cast<Gact::Random::Type>(3));
  EXPECT_EQ(Normalized(&action).field, "gact.random.type");
  action.Clear();
  action.mutable_gact()->mutable_verdict()->set_type(static_cast<Verdict::Type>(13));
  EXPECT_EQ(Normalized(&action).field, "gact.verdict");
  action.mutable_gact()->mutable_verdict()->set_type(static_cast<Verdict::Type>(-1));
  EXPECT_EQ(Normalized(&action).field, "gact.verdict");
}

TEST(GactNormalize, GotoChainIsForFiltersAndNeverTheRandomVerdict) {
  v1::Action action = Parsed("goto chain 7");
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Normalized(&action, true));
  action = Parsed("pass random determ goto chain 1 5");
  EXPECT_EQ(Normalized(&action, true).kernel_text, "Error: goto chain not allowed on fallback.");
}

TEST(GactOffload, HardwareTakesPassDropTrapAndGoto) {
  for (const char* text : {"pass", "drop", "trap", "goto chain 1"}) {
    v1::Action action = Parsed(text);
    EXPECT_TRUE(Gact_().Offloadable(action)) << text;
  }
  for (const char* text : {"pipe", "reclassify", "continue", "jump 1"}) {
    v1::Action action = Parsed(text);
    EXPECT_FALSE(Gact_().Offloadable(action)) << text;
  }
}

}  // namespace
}  // namespace tcact::kinds
