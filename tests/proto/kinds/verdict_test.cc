#include "proto/kinds/verdict.h"

#include "gtest/gtest.h"

namespace tcact::kinds {
namespace {

using v1::Verdict;

Verdict Make(Verdict::Type type, uint32_t value = 0) {
  Verdict verdict;
  verdict.set_type(type);
  verdict.set_value(value);
  return verdict;
}

std::string Show(const Verdict& verdict) { return verdict.ShortDebugString(); }

Verdict Parsed(absl::string_view text, Numbers numbers = Numbers::kRefused) {
  Words words = Words::Split(text);
  Verdict verdict;
  const ParseError error = ParseVerdict(&words, numbers, &verdict);
  EXPECT_FALSE(error) << text << ": " << error.text;
  EXPECT_TRUE(words.AtEnd()) << text;
  return verdict;
}

ParseError Failed(absl::string_view text) {
  Words words = Words::Split(text);
  Verdict verdict;
  ParseError error = ParseVerdict(&words, Numbers::kRefused, &verdict);
  EXPECT_TRUE(error) << text;
  return error;
}

TEST(Verdict, AbbreviationsGoToTheFirstWordInTcsOrder) {
  EXPECT_EQ(Parsed("p").type(), Verdict::TYPE_PASS);
  EXPECT_EQ(Parsed("pi").type(), Verdict::TYPE_PIPE);
  EXPECT_EQ(Parsed("o").type(), Verdict::TYPE_PASS);
  EXPECT_EQ(Parsed("s").type(), Verdict::TYPE_DROP);
  EXPECT_EQ(Parsed("r").type(), Verdict::TYPE_RECLASSIFY);
  EXPECT_EQ(Parsed("t").type(), Verdict::TYPE_TRAP);
  EXPECT_EQ(Parsed("c").type(), Verdict::TYPE_CONTINUE);
}

TEST(Verdict, ValuesReachFrom0To28Bits) {
  EXPECT_EQ(Show(Parsed("jump 0")), Show(Make(Verdict::TYPE_JUMP, 0)));
  EXPECT_EQ(Show(Parsed("jump 268435455")), Show(Make(Verdict::TYPE_JUMP, kMaxVerdictValue)));
  EXPECT_EQ(Show(Parsed("goto ch 7")), Show(Make(Verdict::TYPE_GOTO_CHAIN, 7)));
  EXPECT_EQ(Failed("jump 268435456").text, "Invalid \"jump count\" (268435456)\n");
  EXPECT_EQ(Failed("jump 0x20").text, "Invalid \"jump count\" (0x20)\n");
  EXPECT_EQ(Failed("goto chain 268435456").text, "Illegal \"chain index\"\n");
  EXPECT_EQ(Failed("goto foo").text, "\"chain index\" expected\n");
}

TEST(Verdict, AMissingValueEndsTc) {
  EXPECT_EQ(Failed("jump").then, ParseError::Then::kExit);
  EXPECT_EQ(Failed("goto").then, ParseError::Then::kExit);
  EXPECT_EQ(Failed("goto chain").then, ParseError::Then::kExit);
  EXPECT_EQ(Failed("foo").then, ParseError::Then::kReturn);
  EXPECT_EQ(Failed("3").text, "Bad action type 3\n");
}

TEST(Verdict, NumbersAreTheKernels) {
  EXPECT_EQ(Parsed("-1", Numbers::kAllowed).type(), Verdict::TYPE_CONTINUE);
  EXPECT_EQ(Parsed("0", Numbers::kAllowed).type(), Verdict::TYPE_PASS);
  EXPECT_EQ(Parsed("3", Numbers::kAllowed).type(), Verdict::TYPE_PIPE);
  EXPECT_EQ(Parsed("8", Numbers::kAllowed).type(), Verdict::TYPE_TRAP);
  EXPECT_EQ(Show(Parsed("268435461", Numbers::kAllowed)), Show(Make(Verdict::TYPE_JUMP, 5)));
  EXPECT_EQ(Show(Parsed("536870919", Numbers::kAllowed)), Show(Make(Verdict::TYPE_GOTO_CHAIN, 7)));
}

TEST(Verdict, ANumberOfNoVerdictIsReadAndThenRefused) {
  for (const char* number : {"9", "10", "-2", "805306368"}) {
    Verdict verdict = Parsed(number, Numbers::kAllowed);
    const RuleError error = CheckVerdict("f", {true}, Verdict::TYPE_PASS, &verdict);
    EXPECT_EQ(error.kernel_text, "Error: invalid control action.") << number;
  }
}

TEST(VerdictPair, TakesASlashWithAndWithoutBlanks) {
  for (const char* text : {"drop/pipe", "drop / pipe", "2/3"}) {
    Words words = Words::Split(text);
    Verdict first;
    Verdict second;
    EXPECT_FALSE(ParseVerdictPair(&words, Numbers::kAllowed, &first, &second)) << text;
    EXPECT_EQ(first.type(), Verdict::TYPE_DROP) << text;
    EXPECT_EQ(second.type(), Verdict::TYPE_PIPE) << text;
    EXPECT_TRUE(words.AtEnd()) << text;
  }
}

TEST(VerdictPair, OneVerdictLeavesTheSecondAlone) {
  Words words = Words::Split("drop index");
  Verdict first;
  Verdict second = Make(Verdict::TYPE_TRAP);
  EXPECT_FALSE(ParseVerdictPair(&words, Numbers::kAllowed, &first, &second));
  EXPECT_EQ(second.type(), Verdict::TYPE_TRAP);
  EXPECT_EQ(words.Peek(), "index");
}

TEST(VerdictPair, ErrorsAreSilentWithinOneWord) {
  for (const char* text : {"foo/drop", "drop/foo", "/", "drop/"}) {
    Words words = Words::Split(text);
    Verdict first;
    Verdict second;
    const ParseError error = ParseVerdictPair(&words, Numbers::kAllowed, &first, &second);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(error.text, "") << text;
  }
}

TEST(VerdictOr, FallsBackOnWordsThatAreNone) {
  Words words = Words::Split("index 5");
  Verdict verdict;
  EXPECT_FALSE(ParseVerdictOr(&words, Numbers::kRefused, Verdict::TYPE_PIPE, &verdict));
  EXPECT_EQ(verdict.type(), Verdict::TYPE_PIPE);
  EXPECT_EQ(words.Peek(), "index");
}

TEST(CheckVerdict, FillsTheDefaultAndDropsAStrayValue) {
  Verdict verdict;
  EXPECT_FALSE(CheckVerdict("f", {}, Verdict::TYPE_RECLASSIFY, &verdict));
  EXPECT_EQ(verdict.type(), Verdict::TYPE_RECLASSIFY);
  verdict = Make(Verdict::TYPE_DROP, 5);
  EXPECT_FALSE(CheckVerdict("f", {}, Verdict::TYPE_PASS, &verdict));
  EXPECT_EQ(verdict.value(), 0u);
}

TEST(CheckVerdict, GotoChainNeedsAFilter) {
  Verdict verdict = Make(Verdict::TYPE_GOTO_CHAIN, 7);
  EXPECT_FALSE(CheckVerdict("gact.verdict", {true}, Verdict::TYPE_PASS, &verdict));
  const RuleError error = CheckVerdict("gact.verdict", {false}, Verdict::TYPE_PASS, &verdict);
  EXPECT_EQ(error.field, "gact.verdict");
  EXPECT_EQ(error.text, "goto chain 7; allowed in a bind only");
  EXPECT_EQ(error.kernel_text, "Error: can't goto NULL proto/chain.");
}

TEST(CheckVerdict, ValuesHaveLimitsOnBothSides) {
  Verdict verdict = Make(Verdict::TYPE_JUMP, kMaxVerdictValue);
  EXPECT_FALSE(CheckVerdict("f", {}, Verdict::TYPE_PASS, &verdict));
  verdict.set_value(kMaxVerdictValue + 1);
  const RuleError error = CheckVerdict("f", {}, Verdict::TYPE_PASS, &verdict);
  EXPECT_EQ(error.field, "f.value");
  EXPECT_EQ(error.text, "268435456; 0 to 268435455 are allowed");
}

TEST(CheckFallback, RefusesGotoChainEverywhere) {
  Verdict verdict = Make(Verdict::TYPE_GOTO_CHAIN, 7);
  EXPECT_EQ(CheckFallback("f", Verdict::TYPE_PASS, &verdict).kernel_text,
            "Error: goto chain not allowed on fallback.");
}

}  // namespace
}  // namespace tcact::kinds
