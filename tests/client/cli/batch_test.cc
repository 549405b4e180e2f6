#include "client/cli/batch.h"

#include <sstream>

#include "gtest/gtest.h"

namespace tcact::cli {
namespace {

using WordList = std::vector<std::string>;

struct Command {
  WordList words;
  size_t line = 0;
};

// All commands of a file; it must be readable.
std::vector<Command> Read(const std::string& text, bool* continuation_missing = nullptr) {
  std::istringstream in(text);
  BatchReader reader(&in);
  std::vector<Command> commands;
  while (true) {
    absl::StatusOr<WordList> words = reader.Next();
    EXPECT_TRUE(words.ok()) << words.status();
    if (!words.ok() || words->empty()) break;
    commands.push_back({*words, reader.line_number()});
  }
  if (continuation_missing != nullptr) *continuation_missing = reader.continuation_missing();
  return commands;
}

TEST(Batch, IsOneCommandALine) {
  const auto commands = Read("actions ls action gact\n\n  \t\nhelp");
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].words, (WordList{"actions", "ls", "action", "gact"}));
  EXPECT_EQ(commands[0].line, 1u);
  EXPECT_EQ(commands[1].words, WordList{"help"});
  EXPECT_EQ(commands[1].line, 4u);
}

TEST(Batch, CommentsEndALineAnywhere) {
  const auto commands = Read("# all of it\nactions ls # the rest\nhelp#at once\n");
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].words, (WordList{"actions", "ls"}));
  EXPECT_EQ(commands[0].line, 2u);
  EXPECT_EQ(commands[1].words, WordList{"help"});
}

TEST(Batch, ABackslashContinuesALine) {
  const auto commands = Read("actions add \\\naction gact \\\nindex 9\nhelp\n");
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].words, (WordList{"actions", "add", "action", "gact", "index", "9"}));
  EXPECT_EQ(commands[0].line, 3u);
  EXPECT_EQ(commands[1].line, 4u);
}

TEST(Batch, AContinuationJoinsWithoutABlank) {
  EXPECT_EQ(Read("act\\\nions\n")[0].words, WordList{"actions"});
}

TEST(Batch, ABackslashInACommentContinuesNothing) {
  const auto commands = Read("help # no \\\nhelp\n");
  EXPECT_EQ(commands.size(), 2u);
}

TEST(Batch, ACommandWithoutItsContinuationIsDropped) {
  bool missing = false;
  EXPECT_TRUE(Read("actions ls \\\n", &missing).empty());
  EXPECT_TRUE(missing);
  EXPECT_EQ(Read("actions ls", &missing).size(), 1u);
  EXPECT_FALSE(missing);
}

TEST(Batch, QuotationsKeepBlanks) {
  EXPECT_EQ(Read("a 'b c' \"d 'e\" ''\n")[0].words, (WordList{"a", "b c", "d 'e", ""}));
}

TEST(Batch, AQuotationMarkInsideAWordIsPartOfIt) {
  EXPECT_EQ(Read("a\"b c\"\n")[0].words, (WordList{"a\"b", "c\""}));
}

TEST(Batch, WhatCannotBeReadIsAnError) {
  EXPECT_EQ(SplitWords("a 'b").status().message(), "Unterminated quoted string");
  std::string many;
  for (size_t i = 0; i < kMaxBatchWords; ++i) many += "a ";
  EXPECT_EQ(SplitWords(many)->size(), kMaxBatchWords);
  EXPECT_EQ(SplitWords(many + "a").status().message(), "Too many arguments to command");
}

TEST(Batch, ALineHasALimit) {
  std::istringstream in("help\n" + std::string(kMaxBatchLine + 10, 'a'));
  BatchReader reader(&in);
  EXPECT_EQ(reader.Next()->size(), 1u);
  const absl::StatusOr<WordList> words = reader.Next();
  EXPECT_EQ(words.status().message(), "Line 2 is longer than 1048576 bytes");
}

TEST(Batch, ContinuationsHaveTheSameLimit) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::string(1000, ' ') + "\\\n";
  std::istringstream in(text);
  BatchReader reader(&in);
  EXPECT_FALSE(reader.Next().ok());
}

}  // namespace
}  // namespace tcact::cli
