#include "client/cli/complete.h"

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tcact::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> After(const std::string& text) {
  return Complete(absl::StrSplit(text, ' ', absl::SkipEmpty()));
}

TEST(Complete, BeginsWithCommandsAndOptions) {
  const auto words = After("");
  for (const char* word : {"actions", "bind", "lockstat", "-json", "-batch", "--server"}) {
    EXPECT_THAT(words, Contains(word));
  }
  EXPECT_EQ(After("-s -j"), words);
}

TEST(Complete, LeavesValuesOfOptionsToTheUser) {
  EXPECT_THAT(After("-batch"), IsEmpty());
  EXPECT_THAT(After("-s --server"), IsEmpty());
  EXPECT_THAT(After("-n red"), Contains("actions"));
  EXPECT_THAT(After("--server=h:1"), Contains("actions"));
}

TEST(Complete, OffersTheCommandsOfActions) {
  EXPECT_THAT(After("actions"), Contains("replace"));
  EXPECT_THAT(After("act"), Contains("flush"));
}

TEST(Complete, OffersAllKinds) {
  std::vector<std::string> kinds;
  for (const kinds::Kind* kind : kinds::AllKinds()) kinds.emplace_back(kind->name());
  for (const char* line : {"actions add action", "actions get action", "actions ls action",
                           "actions flush action", "bind action", "unbind action",
                           "stats add action", "actions add action gact drop action"}) {
    EXPECT_EQ(After(line), kinds) << line;
  }
  for (const char* line : {"actions add", "actions del", "actions ls", "bind", "stats reset"}) {
    EXPECT_THAT(After(line), ElementsAre("action")) << line;
  }
}

TEST(Complete, OffersTheKeywordsOfTheKind) {
  const auto words = After("actions add action police rate 1mbit");
  for (const char* word : {"burst", "mtu", "conform-exceed", "index", "cookie", "help"}) {
    EXPECT_THAT(words, Contains(word));
  }
  EXPECT_THAT(words, Not(Contains("random")));
  EXPECT_THAT(After("bind action gact"), Contains("random"));
  EXPECT_THAT(After("actions add action gact hw_stats"),
              ElementsAre("immediate", "delayed", "disabled"));
  EXPECT_THAT(After("actions add action gact index"), IsEmpty());
}

TEST(Complete, LeadsThroughKeys) {
  EXPECT_THAT(After("actions del action gact"), ElementsAre("index"));
  EXPECT_THAT(After("actions del action gact index"), IsEmpty());
  EXPECT_THAT(After("actions del action gact index 5"), ElementsAre("action"));
  EXPECT_THAT(After("actions ls action gact"), ElementsAre("since"));
  EXPECT_THAT(After("actions ls action gact since"), IsEmpty());
  EXPECT_THAT(After("stats add action gact index 5"), Contains("bytes"));
  EXPECT_THAT(After("stats add action gact index 5 bytes"), IsEmpty());
}

TEST(Complete, KnowsAFewKeywordsOfEachKind) {
  for (const kinds::Kind* kind : kinds::AllKinds()) {
    EXPECT_FALSE(KeywordsOf(*kind).empty()) << kind->name();
  }
}

}  // namespace
}  // namespace tcact::cli
