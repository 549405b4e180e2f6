// What is kept of an action store: everything, as it was.
#include "server/durable/keeper.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "server/durable/records.h"
#include "tests/server/core/act/store_fixture.h"
#include "tests/server/durable/flaky_record_store.h"

namespace tcact::durable {
namespace {

using act::kLarge;
using act::kSmall;
using act::MakeOp;
using act::OpType;

const std::string kLong(1000, 'p');

// One run of a server over records that outlive it.
class World {
 public:
  explicit World(std::shared_ptr<RecordStore> records, Level level = Level::kSync)
      : actions_(act::TestOptions(act::AllocMode::kSlabMerged)) {
    auto flaky = std::make_unique<FlakyRecordStore>(std::move(records));
    flaky_ = flaky.get();
    KeeperOptions options;
    options.level = level;
    options.stats_interval = absl::Hours(1);
    options.valid_params = [](act::Kind, absl::string_view params) { return params != "bad"; };
    auto keeper = Keeper::Start(std::move(flaky), &actions_, options);
    status_ = keeper.status();
    if (keeper.ok()) keeper_ = std::move(*keeper);
  }

  const absl::Status& status() const { return status_; }
  Journal* journal() { return keeper_->journal(); }
  act::Store& actions() { return actions_; }
  FlakyRecordStore* flaky() { return flaky_; }
  Keeper& keeper() { return *keeper_; }

  act::NetnsRef Netns(const std::string& name = "") {
    act::NetnsRef netns = actions_.FindNetns(name);
    if (netns) return netns;
    Journal::Turn turn(journal());
    (void)actions_.OpenNetns(name, &netns);
    RecordNetns(name, 0, turn.batch());
    return netns;
  }

  act::Errc Run(std::vector<act::Op> ops, const std::string& name = "") {
    const act::NetnsRef netns = Netns(name);
    Journal::Turn turn(journal());
    act::Transaction txn;
    const act::Error error = actions_.Prepare(netns, ops, now_ms, &txn);
    if (!error.ok()) return error.code;
    actions_.Commit(&txn, act::kWithParams, [&](const act::Step& step, act::Snapshot& snapshot) {
      RecordStep(name, step, snapshot, turn.batch());
    });
    return error.code;
  }

  void Count(uint32_t index, uint64_t packets, act::Kind kind = kSmall) {
    act::StatsDelta delta;
    delta.packets = packets;
    delta.bytes = 100 * packets;
    delta.qlen = 3;
    EXPECT_TRUE(actions_.UpdateStats(Netns(), kind, index, delta, absl::ToUnixMillis(absl::Now())));
  }

  void Delete(const std::string& name) {
    Journal::Turn turn(journal());
    uint64_t actions = 0;
    const act::NetnsRef netns = actions_.UnlinkNetns(name, &actions);
    RecordNetnsGone(name, turn.batch());
    actions_.SweepNetns(netns);
  }

  act::Snapshot Get(uint32_t index, act::Kind kind = kSmall, const std::string& name = "") {
    act::Snapshot snapshot;
    const act::NetnsRef netns = actions_.FindNetns(name);
    if (!netns || !actions_.Get(netns, kind, index, act::kAllParts, &snapshot).ok())
      snapshot = act::Snapshot();
    return snapshot;
  }

  // All namespaces and actions, in words.
  std::string Everything(bool with_counters = true) {
    std::string all;
    for (const act::NetnsInfo& info : actions_.ListNetns(true, "", 1000)) {
      absl::StrAppend(&all, "netns '", info.name, "' quota ", info.max_actions, "\n");
      for (const act::Kind kind : {kSmall, kLarge}) {
        actions_.Dump(actions_.FindNetns(info.name), kind, 1, {}, [&](act::Snapshot& s) {
          absl::StrAppend(&all, "  ", s.kind, "/", s.index, " gen ", s.generation, " ref ",
                          s.refcnt, " bind ", s.bindcnt, " cookie ", s.cookie.view(), " hw ",
                          static_cast<int>(s.hw_stats), s.no_percpu, s.skip_hw, s.offloadable,
                          " at ", s.installed_ms, " '", s.params, "'");
          if (with_counters) {
            absl::StrAppend(&all, " used ", s.last_used_ms, " first ", s.first_used_ms, " packets ",
                            s.counters.packets, " bytes ", s.counters.bytes, " qlen ",
                            s.counters.qlen);
          }
          absl::StrAppend(&all, "\n");
          return true;
        });
      }
    }
    return all;
  }

  int64_t now_ms = 1'700'000'000'000;

 private:
  act::Store actions_;
  FlakyRecordStore* flaky_ = nullptr;
  absl::Status status_;
  std::unique_ptr<Keeper> keeper_;
};

class KeeperTest : public ::testing::Test {
 protected:
  // A bit of everything.
  static void Fill(World* world) {
    act::Op fancy = MakeOp(OpType::kCreate, 7, kLong, kLarge);
    fancy.spec.cookie = act::MakeCookie("cookie");
    fancy.spec.hw_stats = act::HwStats::kDelayed;
    fancy.spec.no_percpu = true;
    fancy.spec.skip_hw = true;
    fancy.spec.offloadable = true;
    EXPECT_EQ(world->Run({MakeOp(OpType::kCreate, 0, "auto"), MakeOp(OpType::kCreate, 5, "five")}),
              act::Errc::kOk);
    EXPECT_EQ(world->Run({fancy}), act::Errc::kOk);
    EXPECT_EQ(world->Run({MakeOp(OpType::kBind, 5), MakeOp(OpType::kBind, 5)}), act::Errc::kOk);
    EXPECT_EQ(world->Run({MakeOp(OpType::kBind, 9, "born bound")}), act::Errc::kOk);
    EXPECT_EQ(world->Run({MakeOp(OpType::kReplace, 1, "replaced")}), act::Errc::kOk);
    EXPECT_EQ(world->Run({MakeOp(OpType::kCreate, 3, "to be deleted")}), act::Errc::kOk);
    EXPECT_EQ(world->Run({MakeOp(OpType::kDelete, 3)}), act::Errc::kOk);
    EXPECT_EQ(world->Run({MakeOp(OpType::kCreate, 1, "elsewhere")}, "blue"), act::Errc::kOk);
    EXPECT_EQ(world->Run({MakeOp(OpType::kCreate, 1, "to vanish")}, "red"), act::Errc::kOk);
    world->Delete("red");
    world->Netns("empty");
    world->Count(5, 11);
    world->Count(7, 12, kLarge);
  }

  std::shared_ptr<RecordStore> records_ = std::make_shared<MemoryRecordStore>();
};

TEST_F(KeeperTest, EverythingComesBackAsItWas) {
  World first(records_);
  Fill(&first);
  const std::string before = first.Everything();
  ASSERT_TRUE(first.keeper().Stop().ok());
  World second(records_);
  ASSERT_TRUE(second.status().ok()) << second.status();
  EXPECT_EQ(second.Everything(), before);
  EXPECT_EQ(second.keeper().loaded().namespaces, 3u);
  EXPECT_EQ(second.keeper().loaded().actions, 5u);
  EXPECT_EQ(second.keeper().loaded().counters, 2u);
}

TEST_F(KeeperTest, WithoutAStopOnlyUnsavedCountersAreLost) {
  std::string before;
  {
    World first(records_);
    Fill(&first);
    before = first.Everything(/*with_counters=*/false);
    ASSERT_TRUE(first.journal()->Flush().ok());
    first.flaky()->Break();  // as if killed: nothing is written any more
  }
  World second(records_);
  EXPECT_EQ(second.Everything(/*with_counters=*/false), before);
  EXPECT_EQ(second.Get(5).counters.packets, 0u);
}

TEST_F(KeeperTest, LifeGoesOnAfterARestart) {
  {
    World first(records_);
    Fill(&first);
    ASSERT_TRUE(first.keeper().Stop().ok());
  }
  World second(records_);
  const uint64_t old_generation = second.Get(5).generation;
  EXPECT_EQ(second.Run({MakeOp(OpType::kCreate, 0, "lowest")}), act::Errc::kOk);
  EXPECT_EQ(second.Get(2).params, "lowest");
  EXPECT_GT(second.Get(2).generation, old_generation);
  second.Count(5, 1);
  EXPECT_EQ(second.Get(5).counters.packets, 12u);
  EXPECT_EQ(second.Run({MakeOp(OpType::kDelete, 5)}), act::Errc::kBound);
  EXPECT_EQ(second.Run({MakeOp(OpType::kUnbind, 9)}), act::Errc::kOk);
  EXPECT_EQ(second.Get(9).refcnt, 0u) << "it died with its last bind";
  ASSERT_TRUE(second.keeper().Stop().ok());
  World third(records_);
  EXPECT_EQ(third.Everything(), second.Everything());
}

TEST_F(KeeperTest, ANewLifeOfAnIndexTakesNoOldCounters) {
  World first(records_);
  EXPECT_EQ(first.Run({MakeOp(OpType::kCreate, 1)}), act::Errc::kOk);
  first.Count(1, 5);
  ASSERT_TRUE(first.keeper().Stop().ok());
  {
    World second(records_);
    EXPECT_EQ(second.Run({MakeOp(OpType::kDelete, 1)}), act::Errc::kOk);
    EXPECT_EQ(second.Run({MakeOp(OpType::kCreate, 1)}), act::Errc::kOk);
    ASSERT_TRUE(second.keeper().Stop().ok());
  }
  World third(records_);
  EXPECT_EQ(third.Get(1).counters.packets, 0u);
}

TEST_F(KeeperTest, AResetIsKept) {
  World first(records_);
  EXPECT_EQ(first.Run({MakeOp(OpType::kCreate, 1)}), act::Errc::kOk);
  first.Count(1, 5);
  ASSERT_TRUE(first.keeper().Stop().ok());
  World second(records_);
  EXPECT_EQ(second.Run({MakeOp(OpType::kResetStats, 1)}), act::Errc::kOk);
  ASSERT_TRUE(second.journal()->Flush().ok());
  World third(records_);
  EXPECT_EQ(third.Get(1).counters.packets, 0u);
  EXPECT_NE(third.Get(1).first_used_ms, 0);
}

TEST_F(KeeperTest, AQuotaIsKeptAndHolds) {
  World first(records_);
  {
    Journal::Turn turn(first.journal());
    ASSERT_TRUE(first.actions().SetQuota("blue", 1).ok());
    RecordNetns("blue", 1, turn.batch());
  }
  EXPECT_EQ(first.Run({MakeOp(OpType::kCreate, 1)}, "blue"), act::Errc::kOk);
  ASSERT_TRUE(first.keeper().Stop().ok());
  World second(records_);
  EXPECT_EQ(second.Run({MakeOp(OpType::kCreate, 2)}, "blue"), act::Errc::kQuota);
}

// ---------- a failed commit ----------

TEST_F(KeeperTest, WhatCouldNotBeRecordedIsUndone) {
  World world(records_);
  Fill(&world);
  ASSERT_TRUE(world.journal()->Flush().ok());
  world.Count(5, 1);
  const std::string before = world.Everything();

  world.flaky()->Break();
  EXPECT_EQ(world.Run({MakeOp(OpType::kCreate, 100, "new")}), act::Errc::kOk);
  EXPECT_EQ(world.Run({MakeOp(OpType::kDelete, 1)}), act::Errc::kOk);
  EXPECT_EQ(world.Run({MakeOp(OpType::kBind, 5)}), act::Errc::kOk);
  EXPECT_EQ(world.Run({MakeOp(OpType::kUnbind, 9)}), act::Errc::kOk);
  EXPECT_EQ(world.Run({MakeOp(OpType::kReplace, 7, "other", kLarge)}), act::Errc::kOk);
  world.Delete("blue");
  EXPECT_EQ(world.Run({MakeOp(OpType::kCreate, 2, "in a new blue")}, "blue"), act::Errc::kOk);
  EXPECT_EQ(world.Run({MakeOp(OpType::kCreate, 1)}, "green"), act::Errc::kOk);
  EXPECT_NE(world.Everything(), before);

  EXPECT_FALSE(world.journal()->Flush().ok());
  EXPECT_EQ(world.Everything(), before);
}

TEST_F(KeeperTest, AfterAFailureNothingChangesAndReadsGoOn) {
  World world(records_);
  Fill(&world);
  ASSERT_TRUE(world.journal()->Flush().ok());
  world.flaky()->Break();
  EXPECT_EQ(world.Run({MakeOp(OpType::kCreate, 100)}), act::Errc::kOk);
  EXPECT_FALSE(world.journal()->Flush().ok());
  EXPECT_FALSE(Journal::Turn(world.journal()).ok());
  EXPECT_EQ(world.Get(5).params, "five");
  EXPECT_FALSE(world.keeper().Stop().ok());
}

// ---------- records that do not fit ----------

TEST_F(KeeperTest, ADamagedRecordIsNamedAndNothingIsServed) {
  {
    World first(records_);
    Fill(&first);
    ASSERT_TRUE(first.keeper().Stop().ok());
  }
  std::string key;
  MakeKey(kActionKey, "", kSmall, 5, &key);
  Batch batch;
  batch.Put(key, "?");
  ASSERT_TRUE(records_->Commit(batch, Level::kSync).ok());
  World second(records_);
  EXPECT_TRUE(absl::IsDataLoss(second.status())) << second.status();
  EXPECT_TRUE(absl::StrContains(second.status().message(), "index 5")) << second.status();
}

TEST_F(KeeperTest, ParametersThatNoKindUnderstandsAreRefused) {
  {
    World first(records_);
    EXPECT_EQ(first.Run({MakeOp(OpType::kCreate, 1, "bad")}), act::Errc::kOk);
    ASSERT_TRUE(first.keeper().Stop().ok());
  }
  World second(records_);
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status())) << second.status();
}

TEST_F(KeeperTest, AnActionWithoutItsNamespaceIsDamage) {
  {
    World first(records_);
    Fill(&first);
    ASSERT_TRUE(first.keeper().Stop().ok());
  }
  Batch batch;
  batch.Delete(NetnsKey("blue"));
  ASSERT_TRUE(records_->Commit(batch, Level::kSync).ok());
  EXPECT_TRUE(absl::IsDataLoss(World(records_).status()));
}

TEST_F(KeeperTest, CountersWithoutAnActionAreLeftAlone) {
  {
    World first(records_);
    Fill(&first);
    ASSERT_TRUE(first.keeper().Stop().ok());
  }
  std::string key;
  MakeKey(kActionKey, "", kSmall, 5, &key);
  Batch batch;
  batch.Delete(key);
  ASSERT_TRUE(records_->Commit(batch, Level::kSync).ok());
  World second(records_);
  ASSERT_TRUE(second.status().ok()) << second.status();
  EXPECT_EQ(second.keeper().loaded().stray_counters, 1u);
}

}  // namespace
}  // namespace tcact::durable
