#include "proto/kinds/words.h"

#include "gtest/gtest.h"

namespace tcact::kinds {
namespace {

TEST(Words, SplitAtAnyWhiteSpace) {
  Words words = Words::Split("  drop \t index\n5 ");
  EXPECT_EQ(words.left(), 3u);
  EXPECT_EQ(words.Peek(), "drop");
  words.Skip();
  EXPECT_EQ(words.Peek(), "index");
}

TEST(Words, SplitKeepsWhatIsBetweenSingleQuotes) {
  Words words = Words::Split("bytecode '1,6 0  0 0' 'a'b'c d' '' index");
  std::vector<std::string> all;
  for (; !words.AtEnd(); words.Skip()) all.emplace_back(words.Peek());
  EXPECT_EQ(all, (std::vector<std::string>{"bytecode", "1,6 0  0 0", "abc d", "", "index"}));
}

TEST(Words, MatchAbbreviationsAndNotTheEmptyWord) {
  Words words({"ind", ""});
  EXPECT_TRUE(words.Matches("index"));
  EXPECT_FALSE(words.Is("index"));
  EXPECT_FALSE(words.Matches("in"));
  words.Skip();
  EXPECT_FALSE(words.Matches("index"));
}

TEST(Words, AdvanceNeedsAFollowingWord) {
  Words words({"index", "5"});
  EXPECT_FALSE(words.Advance());
  EXPECT_EQ(words.Peek(), "5");
  const ParseError error = words.Advance();
  EXPECT_EQ(error.then, ParseError::Then::kExit);
  EXPECT_EQ(error.text, "Command line is not complete. Try option \"help\"\n");
}

TEST(Words, AtTheEndNothingMatches) {
  Words words({});
  EXPECT_TRUE(words.AtEnd());
  EXPECT_EQ(words.left(), 0u);
  EXPECT_EQ(words.Peek(), "");
  EXPECT_FALSE(words.Is(""));
  words.Skip();
  EXPECT_TRUE(words.AtEnd());
  EXPECT_TRUE(words.Advance());
}

TEST(Numbers, U32TakesItsWholeRangeInDecimalOnly) {
  uint32_t value = 0;
  EXPECT_TRUE(ParseU32("0", 10, &value));
  EXPECT_TRUE(ParseU32("4294967295", 10, &value));
  EXPECT_EQ(value, 4294967295u);
  for (const char* bad : {"", "4294967296", "-1", "abc", "5x", "0x20", "18446744073709551616"}) {
    EXPECT_FALSE(ParseU32(bad, 10, &value)) << bad;
  }
  EXPECT_TRUE(ParseU32("0x20", 0, &value));
  EXPECT_EQ(value, 32u);
}

TEST(Numbers, SmallerTypesStopAtTheirEnds) {
  uint8_t byte = 0;
  uint16_t word = 0;
  EXPECT_TRUE(ParseU8("255", 10, &byte));
  EXPECT_FALSE(ParseU8("256", 10, &byte));
  EXPECT_TRUE(ParseU16("65535", 10, &word));
  EXPECT_FALSE(ParseU16("65536", 10, &word));
}

TEST(Numbers, AWordWithAZeroByteIsNone) {
  uint32_t value = 0;
  int number = 0;
  EXPECT_FALSE(ParseU32(absl::string_view("5\0", 2), 10, &value));
  EXPECT_FALSE(ParseInt(absl::string_view("5\0", 2), 10, &number));
}

TEST(Numbers, IntTakesSigns) {
  int value = 0;
  EXPECT_TRUE(ParseInt("-1", 10, &value));
  EXPECT_EQ(value, -1);
  EXPECT_TRUE(ParseInt("2147483647", 10, &value));
  EXPECT_FALSE(ParseInt("2147483648", 10, &value));
  EXPECT_FALSE(ParseInt("-", 10, &value));
}

TEST(Hex, TakesEvenNumbersOfDigitsInAnyCase) {
  std::string bytes;
  EXPECT_TRUE(ParseHex("0aFf", &bytes));
  EXPECT_EQ(bytes, std::string("\x0a\xff", 2));
  EXPECT_TRUE(ParseHex("", &bytes));
  EXPECT_EQ(bytes, "");
  for (const char* bad : {"a", "abc", "zz", "0x", " 1"}) EXPECT_FALSE(ParseHex(bad, &bytes)) << bad;
}

}  // namespace
}  // namespace tcact::kinds
