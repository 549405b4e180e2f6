#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "server/durable/memory_record_store.h"
#include "server/durable/replay_table.h"
#include "server/durable/source_table.h"

namespace tcact::durable {
namespace {

using Found = ReplayTable::Found;
using Verdict = SourceTable::Verdict;

constexpr int64_t kNow = 1'800'000'000'000;

class ReplayTest : public ::testing::Test {
 protected:
  Found Begin(const std::string& id, int64_t now_ms = kNow, uint64_t fingerprint = 1) {
    return table_.Begin(id, fingerprint, now_ms, &answer_);
  }
  ReplayTable table_;
  std::string answer_;
};

TEST_F(ReplayTest, ARetryGetsTheFirstAnswer) {
  EXPECT_EQ(Begin("id"), Found::kNew);
  table_.Finish("id", kNow, "answer", nullptr);
  EXPECT_EQ(Begin("id"), Found::kDone);
  EXPECT_EQ(answer_, "answer");
}

TEST_F(ReplayTest, ARetryDuringTheFirstTryIsToldSo) {
  EXPECT_EQ(Begin("id"), Found::kNew);
  EXPECT_EQ(Begin("id"), Found::kRunning);
}

TEST_F(ReplayTest, AnIdIsOfOneRequest) {
  EXPECT_EQ(Begin("id", kNow, 1), Found::kNew);
  EXPECT_EQ(Begin("id", kNow, 2), Found::kOther);
  table_.Finish("id", kNow, "answer", nullptr);
  EXPECT_EQ(Begin("id", kNow, 2), Found::kOther);
}

TEST_F(ReplayTest, AfterAFailedTryTheNextOneIsNew) {
  EXPECT_EQ(Begin("id"), Found::kNew);
  table_.Forget("id");
  EXPECT_EQ(Begin("id"), Found::kNew);
}

TEST_F(ReplayTest, AnIdIsForgottenAfterTenMinutes) {
  EXPECT_EQ(Begin("id"), Found::kNew);
  table_.Finish("id", kNow, "answer", nullptr);
  EXPECT_EQ(Begin("id", kNow + ReplayTable::kKeepMs), Found::kDone);
  EXPECT_EQ(Begin("id", kNow + ReplayTable::kKeepMs + 1), Found::kNew);
}

TEST_F(ReplayTest, TheOldestGoFirstWhenThereAreTooMany) {
  for (size_t i = 0; i <= ReplayTable::kMaxIds; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_EQ(Begin(id), Found::kNew);
    table_.Finish(id, kNow, "", nullptr);
  }
  EXPECT_EQ(table_.size(), ReplayTable::kMaxIds);
  EXPECT_EQ(Begin("1"), Found::kDone);
  EXPECT_EQ(Begin("0"), Found::kNew);
}

TEST_F(ReplayTest, ComesBackFromItsRecords) {
  MemoryRecordStore store;
  Batch batch;
  Begin("old");
  table_.Finish("old", kNow, "one", &batch);
  Begin("new");
  table_.Finish("new", kNow + 1000, "two", &batch);
  ASSERT_TRUE(store.Commit(batch, Level::kSync).ok());

  ReplayTable again;
  Batch expired;
  ASSERT_TRUE(again.Load(&store, kNow + ReplayTable::kKeepMs + 1, &expired).ok());
  EXPECT_EQ(again.Begin("new", 1, kNow + 2000, &answer_), Found::kDone);
  EXPECT_EQ(answer_, "two");
  EXPECT_EQ(again.Begin("old", 1, kNow + 2000, &answer_), Found::kNew);
  EXPECT_EQ(expired.changes(), 1u);
}

TEST_F(ReplayTest, ALostAnswerIsForgotten) {
  Batch batch;
  Begin("id");
  table_.Finish("id", kNow, "answer", &batch);
  batch.ForEach([&](const Change& change) { table_.Undo(change); });
  EXPECT_EQ(Begin("id"), Found::kNew);
}

TEST(Sources, ASequenceIsCountedOnce) {
  SourceTable table;
  EXPECT_EQ(table.Look("pod", 5, kNow), Verdict::kCount);
  table.Note("pod", 5, kNow, nullptr);
  EXPECT_EQ(table.Look("pod", 5, kNow), Verdict::kCounted);
  EXPECT_EQ(table.Look("pod", 4, kNow), Verdict::kCounted);
  EXPECT_EQ(table.Look("pod", 6, kNow), Verdict::kCount);
  EXPECT_EQ(table.Look("other", 5, kNow), Verdict::kCount);
}

TEST(Sources, ComeBackFromTheirRecords) {
  MemoryRecordStore store;
  SourceTable table;
  Batch batch;
  table.Note("at once", 5, kNow, &batch);
  table.Note("at the next save", 6, kNow, nullptr);
  EXPECT_EQ(batch.changes(), 1u);
  table.SaveChanged(&batch);
  EXPECT_EQ(batch.changes(), 2u);
  table.SaveChanged(&batch);
  EXPECT_EQ(batch.changes(), 2u);
  ASSERT_TRUE(store.Commit(batch, Level::kSync).ok());
  SourceTable again;
  ASSERT_TRUE(again.Load(&store).ok());
  EXPECT_EQ(again.Look("at once", 5, kNow), Verdict::kCounted);
  EXPECT_EQ(again.Look("at the next save", 6, kNow), Verdict::kCounted);
}

TEST(Sources, ALiveSourceIsNeverForgottenForANewOne) {
  SourceTable table;
  for (size_t i = 0; i < SourceTable::kMaxSources; ++i)
    table.Note(std::to_string(i), 1, i == 0 ? kNow - SourceTable::kForgetMs : kNow, nullptr);
  EXPECT_EQ(table.Look("new", 1, kNow), Verdict::kTooMany);
  EXPECT_EQ(table.Look("new", 1, kNow + 1), Verdict::kCount);
  EXPECT_EQ(table.size(), SourceTable::kMaxSources - 1);
}

TEST(Sources, ALostUpdateMayComeAgain) {
  MemoryRecordStore store;
  SourceTable table;
  Batch kept;
  table.Note("pod", 5, kNow, &kept);
  ASSERT_TRUE(store.Commit(kept, Level::kSync).ok());
  Batch lost;
  table.Note("pod", 6, kNow, &lost);
  table.Note("new", 1, kNow, &lost);
  lost.ForEach([&](const Change& change) { table.Undo(change, &store); });
  EXPECT_EQ(table.Look("pod", 6, kNow), Verdict::kCount);
  EXPECT_EQ(table.Look("pod", 5, kNow), Verdict::kCounted);
  EXPECT_EQ(table.Look("new", 1, kNow), Verdict::kCount);
}

}  // namespace
}  // namespace tcact::durable
