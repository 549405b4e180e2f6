#include "server/durable/records.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "server/durable/memory_record_store.h"
#include "tests/server/core/act/store_fixture.h"

namespace tcact::durable {
namespace {

act::Snapshot Full() {
  act::Snapshot snapshot;
  snapshot.kind = 100;
  snapshot.index = 0xFFFFFFFF;
  snapshot.generation = uint64_t{1} << 62;
  snapshot.refcnt = 8;
  snapshot.bindcnt = 7;
  snapshot.cookie = act::MakeCookie(std::string("\0\xff", 2));
  snapshot.hw_stats = act::HwStats::kDisabled;
  snapshot.no_percpu = true;
  snapshot.skip_hw = true;
  snapshot.offloadable = true;
  snapshot.installed_ms = 1'800'000'000'000;
  snapshot.last_used_ms = 1'800'000'000'001;
  snapshot.first_used_ms = 1'800'000'000'002;
  snapshot.counters = {UINT64_MAX, 2, 3, 4, 5, UINT32_MAX, 7, 8, 9};
  snapshot.params = std::string("p\0q", 3);
  return snapshot;
}

TEST(Records, KeysAscendAsADumpDoes) {
  std::string low;
  std::string high;
  MakeKey(kActionKey, "net", 1, 255, &low);
  MakeKey(kActionKey, "net", 1, 256, &high);
  EXPECT_LT(low, high);
  MakeKey(kActionKey, "net", 2, 1, &low);
  EXPECT_LT(high, low);
}

TEST(Records, AKeyTellsItsAction) {
  for (const std::string name : {"", "net", "\x80\xff"}) {
    std::string key;
    MakeKey(kStatsKey, name, 100, 0xFFFFFFFF, &key);
    EXPECT_TRUE(absl::StartsWith(key, NetnsPrefix(kStatsKey, name)));
    ActionKey parsed;
    ASSERT_TRUE(ParseKey(key, &parsed));
    EXPECT_EQ(parsed.netns, name);
    EXPECT_EQ(parsed.kind, 100);
    EXPECT_EQ(parsed.index, 0xFFFFFFFF);
  }
  ActionKey parsed;
  EXPECT_FALSE(ParseKey("a", &parsed));
  EXPECT_FALSE(ParseKey("anet12345", &parsed));
}

TEST(Records, AnActionComesBackAsItWas) {
  std::string value;
  EncodeAction(Full(), &value);
  act::SavedAction saved;
  ASSERT_TRUE(DecodeAction(value, &saved));
  EXPECT_EQ(saved.generation, Full().generation);
  EXPECT_TRUE(saved.standalone);
  EXPECT_EQ(saved.binds, 7u);
  EXPECT_EQ(saved.spec.cookie.view(), Full().cookie.view());
  EXPECT_EQ(saved.spec.hw_stats, act::HwStats::kDisabled);
  EXPECT_TRUE(saved.spec.no_percpu && saved.spec.skip_hw && saved.spec.offloadable);
  EXPECT_EQ(saved.installed_ms, Full().installed_ms);
  EXPECT_EQ(saved.spec.params, Full().params);
}

TEST(Records, CountersComeBackAsTheyWere) {
  std::string value;
  EncodeStats(Full(), &value);
  act::SavedStats saved;
  ASSERT_TRUE(DecodeStats(value, &saved));
  EXPECT_EQ(saved.generation, Full().generation);
  EXPECT_EQ(saved.last_used_ms, Full().last_used_ms);
  EXPECT_EQ(saved.first_used_ms, Full().first_used_ms);
  EXPECT_EQ(saved.counters, Full().counters);
}

TEST(Records, WhatIsCutOffIsDamaged) {
  act::Snapshot snapshot = Full();
  snapshot.params.clear();
  std::string action;
  std::string stats;
  EncodeAction(snapshot, &action);
  EncodeStats(snapshot, &stats);
  act::SavedAction saved_action;
  act::SavedStats saved_stats;
  for (size_t size = 0; size < action.size(); ++size)
    EXPECT_FALSE(DecodeAction(absl::string_view(action).substr(0, size), &saved_action)) << size;
  for (size_t size = 0; size < stats.size(); ++size)
    EXPECT_FALSE(DecodeStats(absl::string_view(stats).substr(0, size), &saved_stats)) << size;
  EXPECT_FALSE(DecodeStats(stats + "x", &saved_stats));
}

TEST(Records, ImpossibleStatesAreDamaged) {
  act::SavedAction saved;
  std::string value;
  act::Snapshot snapshot = Full();
  snapshot.refcnt = snapshot.bindcnt = 0;
  EncodeAction(snapshot, &value);
  EXPECT_FALSE(DecodeAction(value, &saved)) << "no reference";
  snapshot = Full();
  snapshot.generation = 0;
  EncodeAction(snapshot, &value);
  EXPECT_FALSE(DecodeAction(value, &saved)) << "no generation";
}

TEST(Format, IsWrittenOnceAndFoundAgain) {
  MemoryRecordStore store;
  EXPECT_TRUE(absl::IsNotFound(OpenFormat(&store, /*writable=*/false)));
  ASSERT_TRUE(OpenFormat(&store, /*writable=*/true).ok());
  std::string value;
  ASSERT_TRUE(store.Get("f", &value).ok());
  EXPECT_EQ(value, "tcact 1");
  EXPECT_TRUE(OpenFormat(&store, /*writable=*/false).ok());
}

TEST(Format, ANewerOneIsRefused) {
  MemoryRecordStore store;
  Batch batch;
  batch.Put("f", "tcact 2");
  ASSERT_TRUE(store.Commit(batch, Level::kSync).ok());
  const absl::Status status = OpenFormat(&store, true);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "format 2")) << status;
}

TEST(Format, WhatIsNotOursIsRefused) {
  MemoryRecordStore store;
  Batch batch;
  batch.Put("somebody's", "data");
  ASSERT_TRUE(store.Commit(batch, Level::kSync).ok());
  EXPECT_TRUE(absl::IsDataLoss(OpenFormat(&store, true)));
}

}  // namespace
}  // namespace tcact::durable
