// The rules of the action store, one test a rule, in each allocation mode.
#include "server/core/act/store.h"

#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/lock/counted_mutex.h"
#include "tests/server/core/act/store_fixture.h"

namespace tcact::act {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StoreTest : public ::testing::TestWithParam<AllocMode> {
 protected:
  TestStore s_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Modes, StoreTest,
                         ::testing::Values(AllocMode::kPerObject, AllocMode::kSlab,
                                           AllocMode::kSlabMerged),
                         [](const auto& info) {
                           std::string name(AllocModeName(info.param));
                           std::erase(name, '-');
                           return name;
                         });

// ---------- create ----------

TEST_P(StoreTest, CreatedAloneHasOneReferenceAndNoBind) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 7)), Errc::kOk);
  const Snapshot snapshot = s_.Get(7);
  EXPECT_EQ(snapshot.refcnt, 1u);
  EXPECT_EQ(snapshot.bindcnt, 0u);
  EXPECT_EQ(snapshot.params, "p");
  EXPECT_EQ(snapshot.counters, Counters());
  EXPECT_NE(snapshot.generation, 0u);
}

TEST_P(StoreTest, AutomaticIndexIsTheLowestFreeOneAndReusedAtOnce) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 0)), Errc::kOk);
  EXPECT_THAT(s_.Indexes(), ElementsAre(1, 2, 3));
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kDelete, 2)), Errc::kOk);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 0)), Errc::kOk);
  EXPECT_THAT(s_.Indexes(), ElementsAre(1, 2, 3));
}

TEST_P(StoreTest, CreateOfAnIndexInUseFailsAndChangesNothing) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1, "old")), Errc::kOk);
  const Error error = s_.Run({MakeOp(OpType::kCreate, 1, "new")});
  EXPECT_EQ(error.code, Errc::kExists);
  EXPECT_EQ(error.index, 1u);
  EXPECT_EQ(s_.Get(1).params, "old");
}

TEST_P(StoreTest, BothEndsOfTheIndexRangeWork) {
  constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();
  ASSERT_EQ(s_.Run({MakeOp(OpType::kCreate, kMax), MakeOp(OpType::kCreate, 1)}).code, Errc::kOk);
  EXPECT_THAT(s_.Indexes(), ElementsAre(1, kMax));
}

TEST_P(StoreTest, SpacesAreSeparateForKindsAndNamespaces) {
  NetnsRef other;
  ASSERT_TRUE(s_->OpenNetns("other", &other).ok());
  ASSERT_EQ(
      s_.Run({MakeOp(OpType::kCreate, 1, "a", kSmall), MakeOp(OpType::kCreate, 1, "b", kLarge)})
          .code,
      Errc::kOk);
  Snapshot snapshot;
  EXPECT_EQ(s_->Get(other, kSmall, 1, kNoParts, &snapshot).code, Errc::kNotFound);
  EXPECT_EQ(s_.Get(1, kSmall).params, "a");
  EXPECT_EQ(s_.Get(1, kLarge).params, "b");
}

TEST_P(StoreTest, UnknownKindIsRefused) {
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1, "p", 99)), Errc::kUnknownKind);
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1, "p", 5000)), Errc::kUnknownKind);
}

TEST_P(StoreTest, ParametersOfAnyLengthComeBack) {
  for (size_t length : {0, 1, 7, 8, 9, 23, 24, 25, 100, 65535}) {
    const std::string params(length, static_cast<char>('a' + length % 26));
    ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1, params, kLarge)), Errc::kOk);
    EXPECT_EQ(s_.Get(1, kLarge).params, params);
    ASSERT_EQ(s_.Run1(MakeOp(OpType::kDelete, 1, "", kLarge)), Errc::kOk);
  }
}

// ---------- whole or not at all ----------

TEST_P(StoreTest, AFailedAddUndoesAllItCreated) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 3)), Errc::kOk);
  const Error error = s_.Run({MakeOp(OpType::kCreate, 1), MakeOp(OpType::kCreate, 2),
                              MakeOp(OpType::kCreate, 3), MakeOp(OpType::kCreate, 4)});
  EXPECT_EQ(error.code, Errc::kExists);
  EXPECT_EQ(error.position, 2u);
  EXPECT_THAT(s_.Indexes(), ElementsAre(3));
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1)), Errc::kOk);
}

TEST_P(StoreTest, TheSameNewIndexTwiceLeavesNothingBehind) {
  for (const OpType type : {OpType::kCreate, OpType::kReplace, OpType::kBind}) {
    EXPECT_EQ(s_.Run({MakeOp(type, 7), MakeOp(type, 7)}).code, Errc::kDuplicate);
    EXPECT_THAT(s_.Indexes(), IsEmpty());
  }
}

TEST_P(StoreTest, ReplaceOrDeleteOfOneIndexTwiceChangesNothing) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 7, "old")), Errc::kOk);
  EXPECT_EQ(s_.Run({MakeOp(OpType::kReplace, 7, "x"), MakeOp(OpType::kReplace, 7, "y")}).code,
            Errc::kDuplicate);
  EXPECT_EQ(s_.Run({MakeOp(OpType::kDelete, 7), MakeOp(OpType::kDelete, 7)}).code,
            Errc::kDuplicate);
  EXPECT_EQ(s_.Get(7).params, "old");
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kDelete, 7)), Errc::kOk);
}

TEST_P(StoreTest, ADeleteListWithAMissingIndexDeletesNothing) {
  ASSERT_EQ(s_.Run({MakeOp(OpType::kCreate, 1), MakeOp(OpType::kCreate, 2)}).code, Errc::kOk);
  EXPECT_EQ(s_.Run({MakeOp(OpType::kDelete, 1), MakeOp(OpType::kDelete, 99)}).code,
            Errc::kNotFound);
  EXPECT_THAT(s_.Indexes(), ElementsAre(1, 2));
}

TEST_P(StoreTest, WhatIsPreparedIsNotSeenUntilItIsCommitted) {
  Transaction txn;
  const Op op = MakeOp(OpType::kCreate, 5);
  ASSERT_TRUE(s_->Prepare(s_.netns(), {&op, 1}, 1000, &txn).ok());
  EXPECT_FALSE(s_.Exists(5));
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kCreate, 5)), Errc::kBusy);
  s_->Commit(&txn);
  EXPECT_TRUE(s_.Exists(5));
}

TEST_P(StoreTest, ATransactionThatGoesOutOfScopeIsUndone) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1, "old")), Errc::kOk);
  const std::string long_params(100, 'x');
  {
    const std::vector<Op> ops = {MakeOp(OpType::kCreate, 2),
                                 MakeOp(OpType::kReplace, 1, long_params),
                                 MakeOp(OpType::kBind, 3)};
    Transaction txn;
    ASSERT_TRUE(s_->Prepare(s_.netns(), ops, 1000, &txn).ok());
  }
  EXPECT_THAT(s_.Indexes(), ElementsAre(1));
  EXPECT_EQ(s_.Get(1).params, "old");
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kDelete, 1)), Errc::kOk);
}

TEST_P(StoreTest, AnOpenDeleteHoldsTheActionAgainstOthers) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1)), Errc::kOk);
  const Op op = MakeOp(OpType::kDelete, 1);
  Transaction txn;
  ASSERT_TRUE(s_->Prepare(s_.netns(), {&op, 1}, 1000, &txn).ok());
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kBind, 1)), Errc::kBusy);
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kReplace, 1)), Errc::kBusy);
  EXPECT_TRUE(s_.Exists(1));
  s_->Abort(&txn);
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kBind, 1)), Errc::kOk);
}

// ---------- replace ----------

TEST_P(StoreTest, ReplaceKeepsReferencesTimesStatisticsAndNoPercpu) {
  Op create = MakeOp(OpType::kCreate, 1, "old");
  create.spec.no_percpu = true;
  create.spec.skip_hw = true;
  create.spec.cookie = MakeCookie("cookie");
  create.spec.hw_stats = HwStats::kDelayed;
  ASSERT_EQ(s_.Run1(create, 1000), Errc::kOk);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kBind, 1)), Errc::kOk);
  ASSERT_TRUE(s_->UpdateStats(s_.netns(), kSmall, 1, {.bytes = 10, .packets = 1}, 1500));
  const Snapshot before = s_.Get(1);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kReplace, 1, "new"), 2000), Errc::kOk);
  const Snapshot after = s_.Get(1);
  EXPECT_EQ(after.params, "new");
  EXPECT_EQ(after.generation, before.generation);
  EXPECT_EQ(after.refcnt, 2u);
  EXPECT_EQ(after.bindcnt, 1u);
  EXPECT_EQ(after.installed_ms, 1000);
  EXPECT_EQ(after.last_used_ms, 1500);
  EXPECT_EQ(after.counters.bytes, 10u);
  EXPECT_TRUE(after.no_percpu);
  EXPECT_TRUE(after.skip_hw);
  EXPECT_EQ(after.cookie.view(), "cookie");
  EXPECT_EQ(after.hw_stats, HwStats::kAny) << "hw_stats is what the replace says";
}

TEST_P(StoreTest, ReplaceTakesANewCookie) {
  Op op = MakeOp(OpType::kCreate, 1);
  op.spec.cookie = MakeCookie("long cookie here");
  ASSERT_EQ(s_.Run1(op), Errc::kOk);
  op.type = OpType::kReplace;
  op.spec.cookie = MakeCookie("x");
  ASSERT_EQ(s_.Run1(op), Errc::kOk);
  EXPECT_EQ(s_.Get(1).cookie.view(), "x");
}

TEST_P(StoreTest, ReplaceOfAnAbsentIndexCreatesIt) {
  ASSERT_EQ(s_.Run({MakeOp(OpType::kReplace, 50), MakeOp(OpType::kReplace, 0)}).code, Errc::kOk);
  EXPECT_THAT(s_.Indexes(), ElementsAre(1, 50));
  EXPECT_EQ(s_.Get(50).refcnt, 1u);
}

TEST_P(StoreTest, ReplaceChangesBetweenInlineAndLongParameters) {
  const std::string lengths[] = {"short", std::string(500, 'l'), "s", std::string(9, 'm')};
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1, "start", kLarge)), Errc::kOk);
  for (const std::string& params : lengths) {
    ASSERT_EQ(s_.Run1(MakeOp(OpType::kReplace, 1, params, kLarge)), Errc::kOk);
    EXPECT_EQ(s_.Get(1, kLarge).params, params);
  }
}

// ---------- binds ----------

TEST_P(StoreTest, ABindAddsOneToBothCounts) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1)), Errc::kOk);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kBind, 1, "ignored")), Errc::kOk);
  EXPECT_EQ(s_.Get(1).refcnt, 2u);
  EXPECT_EQ(s_.Get(1).bindcnt, 1u);
  EXPECT_EQ(s_.Get(1).params, "p") << "a bind to an existing index keeps its parameters";
}

TEST_P(StoreTest, AnActionCreatedByABindDiesWithItsLastBind) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kBind, 9)), Errc::kOk);
  EXPECT_EQ(s_.Get(9).refcnt, 1u);
  EXPECT_EQ(s_.Get(9).bindcnt, 1u);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kBind, 9)), Errc::kOk);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kUnbind, 9)), Errc::kOk);
  EXPECT_TRUE(s_.Exists(9));
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kUnbind, 9)), Errc::kOk);
  EXPECT_FALSE(s_.Exists(9));
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kUnbind, 9)), Errc::kNotFound);
}

TEST_P(StoreTest, AnActionCreatedAloneOutlivesItsBinds) {
  ASSERT_EQ(s_.Run({MakeOp(OpType::kCreate, 1)}).code, Errc::kOk);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kBind, 1)), Errc::kOk);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kUnbind, 1)), Errc::kOk);
  EXPECT_EQ(s_.Get(1).refcnt, 1u);
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kUnbind, 1)), Errc::kNotBound);
}

TEST_P(StoreTest, ABoundActionIsNotDeleted) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kBind, 1)), Errc::kOk);
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kDelete, 1)), Errc::kBound);
  EXPECT_EQ(s_.Get(1).refcnt, 1u);
  EXPECT_EQ(s_.Get(1).bindcnt, 1u);
}

TEST_P(StoreTest, ABindToAnExistingActionAppliesItsCookie) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1)), Errc::kOk);
  Op bind = MakeOp(OpType::kBind, 1);
  bind.spec.cookie = MakeCookie("bb");
  ASSERT_EQ(s_.Run1(bind), Errc::kOk);
  EXPECT_EQ(s_.Get(1).cookie.view(), "bb");
}

TEST_P(StoreTest, OneRequestMayBindAnExistingActionTwice) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1)), Errc::kOk);
  ASSERT_EQ(s_.Run({MakeOp(OpType::kBind, 1), MakeOp(OpType::kBind, 1)}).code, Errc::kOk);
  Op with_cookie = MakeOp(OpType::kBind, 1);
  with_cookie.spec.cookie = MakeCookie("c");
  ASSERT_EQ(s_.Run({with_cookie, with_cookie, MakeOp(OpType::kBind, 1)}).code, Errc::kOk);
  EXPECT_EQ(s_.Get(1).bindcnt, 5u);
  EXPECT_EQ(s_.Get(1).cookie.view(), "c");
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kReplace, 1)), Errc::kOk) << "the claim was let go";
}

TEST_P(StoreTest, UnbindingMoreThanIsBoundFailsWhole) {
  ASSERT_EQ(s_.Run({MakeOp(OpType::kCreate, 1)}).code, Errc::kOk);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kBind, 1)), Errc::kOk);
  EXPECT_EQ(s_.Run({MakeOp(OpType::kUnbind, 1), MakeOp(OpType::kUnbind, 1)}).code, Errc::kNotBound);
  EXPECT_EQ(s_.Get(1).bindcnt, 1u);
}

TEST_P(StoreTest, AnUncommittedBindCannotBeUnbound) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1)), Errc::kOk);
  const Op bind = MakeOp(OpType::kBind, 1);
  Transaction txn;
  ASSERT_TRUE(s_->Prepare(s_.netns(), {&bind, 1}, 1000, &txn).ok());
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kUnbind, 1)), Errc::kBusy);
  s_->Abort(&txn);
  EXPECT_EQ(s_.Get(1).bindcnt, 0u);
}

TEST_P(StoreTest, ALastUnbindUnderAnOpenReplaceEndsTheActionWithTheReplace) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kBind, 1)), Errc::kOk);
  const Op replace = MakeOp(OpType::kReplace, 1, "new");
  Transaction txn;
  ASSERT_TRUE(s_->Prepare(s_.netns(), {&replace, 1}, 1000, &txn).ok());
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kUnbind, 1)), Errc::kOk);
  EXPECT_FALSE(s_.Exists(1));
  s_->Commit(&txn);
  EXPECT_FALSE(s_.Exists(1));
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1)), Errc::kOk);
}

// ---------- flush ----------

TEST_P(StoreTest, FlushTheKernelsWayStopsAtTheFirstBoundAction) {
  for (uint32_t i = 1; i <= 4; ++i) ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, i)), Errc::kOk);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kBind, 3)), Errc::kOk);
  Transaction txn;
  uint32_t stopped_at = 0;
  ASSERT_TRUE(s_->PrepareFlush(s_.netns(), kSmall, true, &txn, &stopped_at).ok());
  EXPECT_EQ(stopped_at, 3u);
  s_->Commit(&txn);
  EXPECT_THAT(s_.Indexes(), ElementsAre(3, 4));
  Transaction again;
  EXPECT_EQ(s_->PrepareFlush(s_.netns(), kSmall, true, &again, &stopped_at).code, Errc::kBound);
}

TEST_P(StoreTest, FlushFailsWholeAtABoundAction) {
  for (uint32_t i = 1; i <= 3; ++i) ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, i)), Errc::kOk);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kBind, 3)), Errc::kOk);
  Transaction txn;
  uint32_t stopped_at = 0;
  const Error error = s_->PrepareFlush(s_.netns(), kSmall, false, &txn, &stopped_at);
  EXPECT_EQ(error.code, Errc::kBound);
  EXPECT_EQ(error.index, 3u);
  EXPECT_THAT(s_.Indexes(), ElementsAre(1, 2, 3));
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kDelete, 1)), Errc::kOk) << "the claims were let go";
}

TEST_P(StoreTest, FlushOfAnEmptyTableSucceeds) {
  Transaction txn;
  uint32_t stopped_at = 0;
  ASSERT_TRUE(s_->PrepareFlush(s_.netns(), kSmall, true, &txn, &stopped_at).ok());
  EXPECT_THAT(txn.steps(), IsEmpty());
  s_->Commit(&txn);
}

TEST_P(StoreTest, FlushTakesTablesOfManySlices) {
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 0)), Errc::kOk);
  Transaction txn;
  uint32_t stopped_at = 0;
  ASSERT_TRUE(s_->PrepareFlush(s_.netns(), kSmall, false, &txn, &stopped_at).ok());
  EXPECT_EQ(txn.steps().size(), 5000u);
  s_->Commit(&txn);
  EXPECT_THAT(s_.Indexes(), IsEmpty());
}

// ---------- statistics ----------

TEST_P(StoreTest, StatisticsAddUp) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1)), Errc::kOk);
  const StatsDelta delta = {.bytes = 100,
                            .packets = 2,
                            .hw_bytes = 40,
                            .hw_packets = 1,
                            .drops = 3,
                            .overlimits = 4,
                            .requeues = 5,
                            .qlen = 6,
                            .backlog = 7};
  ASSERT_TRUE(s_->UpdateStats(s_.netns(), kSmall, 1, delta, 1000));
  ASSERT_TRUE(s_->UpdateStats(s_.netns(), kSmall, 1, delta, 1000));
  const Counters expected = {200, 4, 80, 2, 6, 8, 10, 12, 14};
  EXPECT_EQ(s_.Get(1).counters, expected);
}

TEST_P(StoreTest, CountersStopAtTheirLargestValueAndGaugesAtZero) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1)), Errc::kOk);
  constexpr uint64_t kHuge = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(s_->UpdateStats(s_.netns(), kSmall, 1,
                                {.bytes = kHuge, .overlimits = 0x80000000u, .qlen = -5}, 1000));
  }
  EXPECT_EQ(s_.Get(1).counters.bytes, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(s_.Get(1).counters.overlimits, std::numeric_limits<uint32_t>::max());
  EXPECT_EQ(s_.Get(1).counters.qlen, 0u);
}

TEST_P(StoreTest, ARecycledActionStartsAtZeroInEveryField) {
  Op create = MakeOp(OpType::kCreate, 1, "first life");
  create.spec.cookie = MakeCookie("cookie");
  create.spec.skip_hw = true;
  create.spec.offloadable = true;
  create.spec.hw_stats = HwStats::kImmediate;
  for (int life = 0; life < 200; ++life) {
    ASSERT_EQ(s_.Run1(create, 1000), Errc::kOk);
    ASSERT_TRUE(s_->UpdateStats(s_.netns(), kSmall, 1, {.bytes = 5, .drops = 1, .qlen = 3}, 1234));
    s_->Dump(s_.netns(), kSmall, 1, {.poll_hw_stats = true}, [](Snapshot&) { return true; });
    ASSERT_EQ(s_.Run1(MakeOp(OpType::kDelete, 1)), Errc::kOk);
    ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1, ""), 5000), Errc::kOk);
    const Snapshot fresh = s_.Get(1);
    ASSERT_EQ(fresh.counters, Counters());
    ASSERT_EQ(fresh.cookie.size, 0);
    ASSERT_FALSE(fresh.skip_hw);
    ASSERT_FALSE(fresh.used_hw_stats_known);
    ASSERT_EQ(fresh.hw_stats, HwStats::kAny);
    ASSERT_EQ(fresh.installed_ms, 5000);
    ASSERT_EQ(fresh.last_used_ms, 5000);
    ASSERT_EQ(fresh.first_used_ms, 0);
    ASSERT_EQ(fresh.params, "");
    ASSERT_EQ(s_.Run1(MakeOp(OpType::kDelete, 1)), Errc::kOk);
  }
}

TEST_P(StoreTest, DeleteAndLastUnbindTellTheLastStatistics) {
  ASSERT_EQ(s_.Run({MakeOp(OpType::kCreate, 1), MakeOp(OpType::kBind, 2)}).code, Errc::kOk);
  for (uint32_t index : {1, 2}) {
    ASSERT_TRUE(s_->UpdateStats(s_.netns(), kSmall, index, {.bytes = index * 10}, 1000));
  }
  const std::vector<Op> ops = {MakeOp(OpType::kDelete, 1), MakeOp(OpType::kUnbind, 2)};
  Transaction txn;
  ASSERT_TRUE(s_->Prepare(s_.netns(), ops, 1000, &txn).ok());
  std::vector<uint64_t> bytes;
  s_->Commit(&txn, kAllParts, [&](const Step& step, Snapshot& snapshot) {
    EXPECT_TRUE(step.destroyed);
    EXPECT_EQ(snapshot.refcnt, 0u);
    bytes.push_back(snapshot.counters.bytes);
  });
  EXPECT_THAT(bytes, ElementsAre(10, 20));
}

TEST_P(StoreTest, AnUpdateOfAMissingActionIsNotCounted) {
  EXPECT_FALSE(s_->UpdateStats(s_.netns(), kSmall, 1, {.bytes = 1}, 1000));
  EXPECT_FALSE(s_->UpdateStats(s_.netns(), 99, 1, {.bytes = 1}, 1000));
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 2)), Errc::kOk);
  const std::vector<uint32_t> indexes = {1, 2, 3, 2};
  const std::vector<uint64_t> bytes = {10, 20, 30, 40};
  std::vector<uint32_t> missing;
  EXPECT_EQ(
      s_->UpdateStatsBatch(s_.netns(), kSmall,
                           {.indexes = indexes, .bytes = bytes, .hardware = true}, 1000, &missing),
      2u);
  EXPECT_THAT(missing, ElementsAre(0, 2));
  EXPECT_EQ(s_.Get(2).counters.bytes, 60u);
  EXPECT_EQ(s_.Get(2).counters.hw_bytes, 60u);
  EXPECT_EQ(s_.Get(2).counters.packets, 0u);
}

TEST_P(StoreTest, ResetZeroesCountersAndKeepsTimes) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1)), Errc::kOk);
  ASSERT_TRUE(s_->UpdateStats(s_.netns(), kSmall, 1, {.bytes = 10}, 1500));
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kResetStats, 1)), Errc::kOk);
  EXPECT_EQ(s_.Get(1).counters, Counters());
  EXPECT_EQ(s_.Get(1).last_used_ms, 1500);
  ASSERT_TRUE(s_->UpdateStats(s_.netns(), kSmall, 1, {.bytes = 3}, 1600));
  EXPECT_EQ(s_.Get(1).counters.bytes, 3u);
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kResetStats, 2)), Errc::kNotFound);
}

TEST_P(StoreTest, NoPercpuActionsShareOneSetOfCounters) {
  Op create = MakeOp(OpType::kCreate, 1);
  create.spec.no_percpu = true;
  ASSERT_EQ(s_.Run1(create), Errc::kOk);
  ASSERT_TRUE(s_->UpdateStats(s_.netns(), kSmall, 1, {.bytes = 7}, 1000));
  EXPECT_EQ(s_.Get(1).counters.bytes, 7u);
  EXPECT_TRUE(s_.Get(1).no_percpu);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kDelete, 1)), Errc::kOk);
  ASSERT_EQ(s_.Run1(create), Errc::kOk);
  EXPECT_EQ(s_.Get(1).counters.bytes, 0u);
}

TEST_P(StoreTest, UseIsNotedWithItsTime) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1), 1000), Errc::kOk);
  EXPECT_EQ(s_.Get(1).last_used_ms, 1000);
  EXPECT_EQ(s_.Get(1).first_used_ms, 0);
  ASSERT_TRUE(s_->UpdateStats(s_.netns(), kSmall, 1, {}, 3000));
  ASSERT_TRUE(s_->UpdateStats(s_.netns(), kSmall, 1, {}, 4000));
  EXPECT_EQ(s_.Get(1).first_used_ms, 3000);
  EXPECT_EQ(s_.Get(1).last_used_ms, 4000);
}

// ---------- dump ----------

TEST_P(StoreTest, DumpResumesWhereItStopped) {
  for (uint32_t i = 1; i <= 10; ++i)
    ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, i * 100)), Errc::kOk);
  std::vector<uint32_t> seen;
  uint32_t next = 1;
  do {
    int left = 3;
    next = s_->Dump(s_.netns(), kSmall, next, {}, [&](Snapshot& snapshot) {
      seen.push_back(snapshot.index);
      return --left > 0;
    });
  } while (next != 0);
  EXPECT_THAT(seen, ElementsAre(100, 200, 300, 400, 500, 600, 700, 800, 900, 1000));
}

TEST_P(StoreTest, DumpFiltersByLastUse) {
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 1), 1000), Errc::kOk);
  ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 2), 5000), Errc::kOk);
  std::vector<uint32_t> seen;
  s_->Dump(s_.netns(), kSmall, 1, {.used_since_ms = 4000}, [&](Snapshot& snapshot) {
    seen.push_back(snapshot.index);
    return true;
  });
  EXPECT_THAT(seen, ElementsAre(2));
}

TEST_P(StoreTest, PollingTheHardwareMarksOffloadableActionsOnly) {
  Op offloadable = MakeOp(OpType::kCreate, 1);
  offloadable.spec.offloadable = true;
  ASSERT_EQ(s_.Run({offloadable, MakeOp(OpType::kCreate, 2)}).code, Errc::kOk);
  EXPECT_FALSE(s_.Get(1).used_hw_stats_known);
  s_->Dump(s_.netns(), kSmall, 1, {.poll_hw_stats = true}, [](Snapshot&) { return true; });
  EXPECT_TRUE(s_.Get(1).used_hw_stats_known);
  EXPECT_FALSE(s_.Get(2).used_hw_stats_known);
}

// ---------- namespaces and quotas ----------

TEST_P(StoreTest, NamespaceNamesAreChecked) {
  EXPECT_TRUE(Store::ValidNetnsName(""));
  EXPECT_TRUE(Store::ValidNetnsName("blue"));
  EXPECT_TRUE(Store::ValidNetnsName(std::string(255, 'n')));
  for (const std::string& bad :
       {std::string(256, 'n'), std::string("a/b"), std::string("."), std::string(".."),
        std::string("a\nb"), std::string("a\0b", 3), std::string("\x7f")}) {
    EXPECT_FALSE(Store::ValidNetnsName(bad)) << bad;
    NetnsRef netns;
    EXPECT_EQ(s_->OpenNetns(bad, &netns).code, Errc::kBadName);
  }
}

TEST_P(StoreTest, DeletingANamespaceDestroysBoundActionsToo) {
  NetnsRef netns;
  ASSERT_TRUE(s_->OpenNetns("doomed", &netns).ok());
  const std::vector<Op> ops = {MakeOp(OpType::kCreate, 1), MakeOp(OpType::kBind, 2),
                               MakeOp(OpType::kCreate, 3, "p", kLarge)};
  Transaction txn;
  ASSERT_TRUE(s_->Prepare(netns, ops, 1000, &txn).ok());
  s_->Commit(&txn);
  uint64_t actions = 0;
  ASSERT_TRUE(s_->DeleteNetns("doomed", &actions).ok());
  EXPECT_EQ(actions, 3u);
  EXPECT_FALSE(s_->FindNetns("doomed"));
  EXPECT_EQ(s_->DeleteNetns("doomed", &actions).code, Errc::kNotFound);
  Step step;
  EXPECT_EQ(s_->Execute(netns, MakeOp(OpType::kCreate, 1), 1000, &step).code, Errc::kNetnsGone);
  s_->Shrink();
  EXPECT_EQ(s_.RecordsInUse(kSmall), 0u);
  EXPECT_EQ(s_.RecordsInUse(kLarge), 0u);
}

TEST_P(StoreTest, ATransactionOpenOnADeletedNamespaceStillEndsWell) {
  NetnsRef netns;
  ASSERT_TRUE(s_->OpenNetns("doomed", &netns).ok());
  const Op op = MakeOp(OpType::kCreate, 1);
  Transaction txn;
  ASSERT_TRUE(s_->Prepare(netns, {&op, 1}, 1000, &txn).ok());
  uint64_t actions = 0;
  ASSERT_TRUE(s_->DeleteNetns("doomed", &actions).ok());
  netns = NetnsRef();
  s_->Commit(&txn);
  s_->Shrink();
  EXPECT_EQ(s_.RecordsInUse(), 0u);
}

TEST_P(StoreTest, LateTransactionsOnADyingNamespaceDoNotDisturbItsEnd) {
  for (int round = 0; round < 20; ++round) {
    NetnsRef netns;
    ASSERT_TRUE(s_->OpenNetns("doomed", &netns).ok());
    const std::vector<Op> fill(500, MakeOp(OpType::kCreate, 0));
    Transaction txn;
    ASSERT_TRUE(s_->Prepare(netns, fill, 1000, &txn).ok());
    s_->Commit(&txn);
    std::atomic<bool> stop{false};
    std::thread late([&] {
      const Op op = MakeOp(OpType::kCreate, 0);
      while (!stop) {
        Transaction mine;
        if (s_->Prepare(netns, {&op, 1}, 1000, &mine).ok()) s_->Commit(&mine);
      }
    });
    uint64_t actions = 0;
    ASSERT_TRUE(s_->DeleteNetns("doomed", &actions).ok());
    EXPECT_GE(actions, 500u);
    stop = true;
    late.join();
  }
  s_->Shrink();
  EXPECT_EQ(s_.RecordsInUse(), 0u);
}

TEST_P(StoreTest, NamespacesAreListedInOrderAndBounded) {
  NetnsRef netns;
  for (const char* name : {"c", "a", "b"}) ASSERT_TRUE(s_->OpenNetns(name, &netns).ok());
  std::vector<std::string> names;
  for (const NetnsInfo& info : s_->ListNetns(true, "", 10)) names.push_back(info.name);
  EXPECT_THAT(names, ElementsAre("", "a", "b", "c"));
  EXPECT_EQ(s_->ListNetns(false, "a", 1)[0].name, "b");
  Store small(TestOptions(GetParam(), 2));
  EXPECT_TRUE(small.OpenNetns("1", &netns).ok());
  EXPECT_TRUE(small.OpenNetns("2", &netns).ok());
  EXPECT_EQ(small.OpenNetns("3", &netns).code, Errc::kTooManyNetns);
  netns = NetnsRef();
}

TEST_P(StoreTest, AQuotaRefusesCreatesBeyondItAndDeletesNothing) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 0)), Errc::kOk);
  ASSERT_TRUE(s_->SetQuota("", 2).ok());
  EXPECT_THAT(s_.Indexes(), ElementsAre(1, 2, 3));
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kCreate, 0)), Errc::kQuota);
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kReplace, 1, "new")), Errc::kOk);
  ASSERT_EQ(s_.Run({MakeOp(OpType::kDelete, 1), MakeOp(OpType::kDelete, 2)}).code, Errc::kOk);
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kCreate, 0)), Errc::kOk);
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kCreate, 0)), Errc::kQuota);
  ASSERT_TRUE(s_->SetQuota("", 0).ok());
  EXPECT_EQ(s_.Run1(MakeOp(OpType::kCreate, 0)), Errc::kOk);
}

// ---------- memory ----------

TEST_P(StoreTest, OutOfMemoryAtAnyPointLeavesNothingBehind) {
  for (int64_t successes = 0; successes < 40; ++successes) {
    TestStore s(GetParam());
    s->percpu_for_test()->FailAfter(successes);
    std::vector<Op> ops(50, MakeOp(OpType::kCreate, 0));
    const Error error = s.Run(ops);
    s->percpu_for_test()->FailAfter(-1);
    if (!error.ok()) {
      EXPECT_EQ(error.code, Errc::kNoMemory);
      EXPECT_THAT(s.Indexes(), IsEmpty());
    }
    s->Shrink();
    EXPECT_EQ(s.RecordsInUse(), error.ok() ? 50u : 0u);
    if (!error.ok()) {
      EXPECT_EQ(s->PercpuStats().regions, 0u);
    }
    EXPECT_EQ(s.Run1(MakeOp(OpType::kCreate, 1000)), Errc::kOk);
  }
}

TEST_P(StoreTest, ShrinkGivesPercpuMemoryBack) {
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(s_.Run1(MakeOp(OpType::kCreate, 0)), Errc::kOk);
  EXPECT_GE(s_->PercpuStats().regions, 10000u);
  Transaction txn;
  uint32_t stopped_at = 0;
  ASSERT_TRUE(s_->PrepareFlush(s_.netns(), kSmall, false, &txn, &stopped_at).ok());
  s_->Commit(&txn);
  EXPECT_GT(s_->Shrink().bytes, 0u);
  EXPECT_EQ(s_->PercpuStats().regions, 0u);
  EXPECT_EQ(s_->PercpuStats().chunks, 0u);
}

TEST_P(StoreTest, OnlyPerObjectModeTouchesThePercpuAllocatorInChurn) {
  Step step;
  const Op create = MakeOp(OpType::kCreate, 1);
  const Op destroy = MakeOp(OpType::kDelete, 1);
  ASSERT_TRUE(s_->Execute(s_.netns(), create, 1000, &step).ok());
  lock::ResetLockStats();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(s_->Execute(s_.netns(), destroy, 1000, &step).ok());
    ASSERT_TRUE(s_->Execute(s_.netns(), create, 1000, &step).ok());
  }
  uint64_t acquired = 0;
  for (const lock::LockStat& row : lock::LockStats()) {
    if (row.name == "pcpu_alloc_mutex") acquired = row.acquired;
  }
  if (GetParam() == AllocMode::kPerObject) {
    EXPECT_GE(acquired, 3000u);
  } else {
    EXPECT_EQ(acquired, 0u);
  }
}

TEST(RecordTest, AGactSizedActionCostsAtMost320BytesOnTwoCpus) {
#ifndef NDEBUG
  GTEST_SKIP() << "builds with checks keep red zones after each record";
#endif
  TestStore s;
  constexpr uint64_t kActions = 200000;
  for (uint64_t i = 0; i < kActions; ++i) ASSERT_EQ(s.Run1(MakeOp(OpType::kCreate, 0)), Errc::kOk);
  const slab::CacheStats stats = s->SlabStats()[0];
  const percpu::Stats percpu = s->PercpuStats();
  const uint64_t bytes = stats.slabs * stats.slab_bytes +
                         percpu.chunks * percpu.unit_bytes * percpu.units + s->IndexBytes();
  EXPECT_LE(bytes / kActions, 320u);
}

}  // namespace
}  // namespace tcact::act
