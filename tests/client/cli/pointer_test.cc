#include "client/cli/pointer.h"

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace tcact::cli {
namespace {

using kinds::ParseError;
using kinds::Words;

std::vector<std::string> Split(const std::string& text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

std::string At(const std::string& text, size_t position, const std::string& place = "") {
  return PointAt(Split(text), position, place);
}

TEST(PointAt, MarksTheBeginningOfAWord) {
  EXPECT_EQ(At("actions add action foo", 3),
            "  actions add action foo\n"
            "                     ^\n");
}

TEST(PointAt, MarksWhereAWordIsMissing) {
  EXPECT_EQ(At("a bc", 2),
            "  a bc\n"
            "       ^\n");
}

TEST(PointAt, NamesThePlaceInABatch) {
  EXPECT_EQ(At("a bc", 1, "x:7"),
            "  x:7: a bc\n"
            "         ^\n");
}

TEST(PointAt, ShowsOfALongCommandWhatSurroundsTheWord) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "word ";
  text += "here";
  for (int i = 0; i < 50; ++i) text += " word";
  const std::string lines = At(text, 50);
  const std::vector<std::string> both = absl::StrSplit(lines, '\n');
  EXPECT_LE(both[0].size(), 110u);
  EXPECT_EQ(both[0].substr(both[1].size() - 1, 9), "here word");
  EXPECT_EQ(both[0].substr(0, 5), "  ...");
  EXPECT_EQ(both[0].substr(both[0].size() - 3), "...");
}

TEST(PointAt, QuotesAndCleansWords) {
  EXPECT_EQ(PointAt({"a b", "", "it's a", "c\033d", "x"}, 4, ""),
            "  'a b' '' \"it's a\" c?d x\n"
            "                        ^\n");
}

TEST(PointAt, CountsCharactersAndNotBytes) {
  EXPECT_EQ(At("äöü x", 1),
            "  äöü x\n"
            "      ^\n");
}

Words WordsAt(const std::string& text, size_t position) {
  Words words(Split(text));
  words.set_position(position);
  return words;
}

TEST(PointAtError, IsTheWordUnderTheCursor) {
  EXPECT_EQ(PointAtError(WordsAt("actions add action gact index x", 5),
                         ParseError::Return("Illegal \"index\"\n"), ""),
            "  actions add action gact index x\n"
            "                                ^\n");
}

TEST(PointAtError, IsTheMarkedWordIfTheParserWentBack) {
  Words words = WordsAt("actions add action gact index x", 5);
  words.MarkWrong();
  words.set_position(3);
  EXPECT_EQ(PointAtError(words, ParseError::Return("bad\n"), "").size(),
            std::string("  actions add action gact index x\n").size() + 34);
}

TEST(PointAtError, IsTheNamedWordIfTheParserWentPastIt) {
  EXPECT_EQ(PointAtError(WordsAt("a b index x y", 4), ParseError::Invalid("index", "x"), ""),
            "  a b index x y\n"
            "            ^\n");
}

TEST(PointAtError, IsTheEndIfSomethingIsMissing) {
  EXPECT_EQ(PointAtError(WordsAt("a b index", 2), ParseError::Incomplete(), ""),
            "  a b index\n"
            "            ^\n");
}

TEST(PointAtError, IsNothingWhereItWouldNotHelp) {
  EXPECT_EQ(PointAtError(WordsAt("actions foo", 1), ParseError::Return("What?\n"), ""), "");
  EXPECT_EQ(
      PointAtError(WordsAt("actions add action gact help", 4), ParseError::Exit("Usage\n"), ""),
      "");
  EXPECT_EQ(PointAtError(WordsAt("actions add action x", 3), ParseError::Return(""), ""), "");
  EXPECT_EQ(PointAtError(WordsAt("stats add", 2), ParseError::Return("Usage: x\n"), ""), "");
}

TEST(FindField, IsTheValueBehindTheFieldsName) {
  const auto words = Split("actions add action police rate 1mbit mtu 5 index 1");
  EXPECT_EQ(FindField(words, 3, words.size(), "police.mtu"), 7u);
  EXPECT_EQ(FindField(words, 3, words.size(), "police.rate.unit"), 4u);
  EXPECT_EQ(FindField(words, 3, words.size(), "police"), 4u);
  EXPECT_EQ(FindField(words, 4, words.size(), "police.peak_rate"), words.size());
}

}  // namespace
}  // namespace tcact::cli
