// The index table against its contract, against a plain map, and under threads.
#include "server/core/idr/idr.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/rcu/rcu.h"

namespace tcact::idr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void* Object(uint32_t index) { return reinterpret_cast<void*>(uint64_t{index} * 8 + 8); }

class IdrTest : public ::testing::Test {
 protected:
  bool Put(uint32_t index) {
    rcu::ReadGuard guard;
    if (idr_.Reserve(index) != Reservation::kReserved) return false;
    idr_.Publish(index, Object(index));
    return true;
  }
  // The index taken, 0 if none.
  uint32_t PutLowest() {
    rcu::ReadGuard guard;
    uint32_t index = 0;
    if (idr_.ReserveLowest(&index) != Reservation::kReserved) return 0;
    idr_.Publish(index, Object(index));
    return index;
  }
  void Erase(uint32_t index) {
    rcu::ReadGuard guard;
    idr_.Erase(index);
  }
  void* Find(uint32_t index) {
    rcu::ReadGuard guard;
    return idr_.Find(index);
  }
  std::vector<uint32_t> All() {
    rcu::ReadGuard guard;
    std::vector<uint32_t> all;
    idr_.Walk(0, [&](uint32_t index, void* object) {
      EXPECT_EQ(object, Object(index));
      all.push_back(index);
      return true;
    });
    return all;
  }
  uint64_t Count() {
    rcu::ReadGuard guard;
    return idr_.Count();
  }

  Idr idr_;
};

TEST_F(IdrTest, AnEmptyTableHasNothing) {
  EXPECT_EQ(Find(0), nullptr);
  EXPECT_EQ(Find(kMaxIndex), nullptr);
  EXPECT_THAT(All(), IsEmpty());
  EXPECT_EQ(Count(), 0u);
  EXPECT_EQ(idr_.MemoryBytes(), 0u);
}

TEST_F(IdrTest, AnIndexGoesFromFreeToReservedToPublishedToFree) {
  rcu::ReadGuard guard;
  ASSERT_EQ(idr_.Reserve(7), Reservation::kReserved);
  EXPECT_EQ(idr_.Find(7), nullptr);
  EXPECT_EQ(idr_.Reserve(7), Reservation::kBusy);
  idr_.Publish(7, Object(7));
  EXPECT_EQ(idr_.Find(7), Object(7));
  EXPECT_EQ(idr_.Reserve(7), Reservation::kPublished);
  idr_.Erase(7);
  EXPECT_EQ(idr_.Find(7), nullptr);
  EXPECT_EQ(idr_.Reserve(7), Reservation::kReserved);
  idr_.Cancel(7);
  EXPECT_EQ(idr_.Count(), 0u);
}

TEST_F(IdrTest, IndexesAtEveryBorderOfTheTreeWork) {
  std::vector<uint32_t> borders = {1, 63, 64, 65, 4095, 4096, kMaxIndex - 1, kMaxIndex};
  for (uint32_t shift = 12; shift < 32; shift += 6) {
    borders.insert(borders.end(), {(1u << shift) - 1, 1u << shift, (1u << shift) + 1});
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  for (uint32_t index : borders) ASSERT_TRUE(Put(index)) << index;
  EXPECT_EQ(All(), borders);
  for (uint32_t index : borders) EXPECT_EQ(Find(index), Object(index));
  EXPECT_EQ(Count(), borders.size());
  idr_.CheckInvariants();
}

TEST_F(IdrTest, TheLowestFreeIndexIsTakenOverManyNodes) {
  for (uint32_t i = 1; i <= 70000; ++i) ASSERT_EQ(PutLowest(), i);
  for (uint32_t index : {69999u, 4096u, 64u, 63u, 1u}) Erase(index);
  for (uint32_t index : {1u, 63u, 64u, 4096u, 69999u, 70001u}) EXPECT_EQ(PutLowest(), index);
  idr_.CheckInvariants();
}

TEST_F(IdrTest, AFreedIndexIsFoundAgainBehindManyFullLeaves) {
  for (uint32_t i = 1; i <= 10000; ++i) ASSERT_NE(PutLowest(), 0u);
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const uint32_t index = 1 + random() % 10000;
    Erase(index);
    ASSERT_EQ(PutLowest(), index);
  }
  idr_.CheckInvariants();
}

TEST_F(IdrTest, AWalkResumesByIndex) {
  for (uint32_t index : {5u, 100u, 5000u, kMaxIndex}) ASSERT_TRUE(Put(index));
  std::vector<uint32_t> seen;
  uint32_t next = 1;
  do {
    rcu::ReadGuard guard;
    next = idr_.Walk(next, [&](uint32_t index, void*) {
      seen.push_back(index);
      return false;
    });
  } while (next != 0);
  EXPECT_THAT(seen, ElementsAre(5u, 100u, 5000u, kMaxIndex));
}

TEST_F(IdrTest, OutOfMemoryAtAnyNodeLeavesNothingBehind) {
  ASSERT_TRUE(Put(kMaxIndex));  // the tree has its height
  const uint64_t before = idr_.MemoryBytes();
  for (int64_t successes = 0;; ++successes) {
    idr_.FailNodesAfter(successes);
    rcu::ReadGuard guard;
    const Reservation reservation = idr_.Reserve(1u << 25);
    if (reservation == Reservation::kReserved) {
      EXPECT_GT(successes, 2);
      break;
    }
    ASSERT_EQ(reservation, Reservation::kNoMemory);
    EXPECT_EQ(idr_.MemoryBytes(), before);
    idr_.CheckInvariants();
  }
}

TEST_F(IdrTest, MemoryIsBoundedByWhatIsInUse) {
  std::mt19937 random(2);
  uint64_t most = 0;
  for (int i = 0; i < 100000; ++i) {
    const auto index = static_cast<uint32_t>(random() | 1);
    ASSERT_TRUE(Put(index));
    Erase(index);
    most = std::max(most, idr_.MemoryBytes());
  }
  EXPECT_LT(most, 4u << 20);
  rcu::ReadGuard guard;
  idr_.Shrink();
  EXPECT_LT(idr_.MemoryBytes(), 8192u);
}

// Random instructions against a map; TCACT_SEED=N repeats one.
TEST_F(IdrTest, DoesWhatAMapDoes) {
  const char* given = std::getenv("TCACT_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::mt19937_64 random(seed);
  std::map<uint32_t, bool> model;  // to: published
  std::vector<std::string> log;
  for (int i = 0; i < 20000; ++i) {
    rcu::ReadGuard guard;
    const uint32_t index =
        random() % 4 == 0 ? static_cast<uint32_t>(random()) | 1 : 1 + random() % 300;
    const auto found = model.find(index);
    const uint64_t dice = random() % 6;
    log.push_back(absl::StrCat(dice, " ", index));
    const std::string where = absl::StrCat("seed ", seed, " step ", i, ": ", log.back());
    if (dice <= 1) {
      const Reservation expected = found == model.end() ? Reservation::kReserved
                                   : found->second      ? Reservation::kPublished
                                                        : Reservation::kBusy;
      ASSERT_EQ(idr_.Reserve(index), expected) << where;
      model.emplace(index, false);
    } else if (dice == 2) {
      uint32_t lowest = 1;
      while (model.count(lowest) != 0) ++lowest;
      uint32_t got = 0;
      ASSERT_EQ(idr_.ReserveLowest(&got), Reservation::kReserved) << where;
      ASSERT_EQ(got, lowest) << where;
      model[got] = false;
    } else if (found == model.end()) {
      ASSERT_EQ(idr_.Find(index), nullptr) << where;
    } else if (!found->second && dice != 5) {
      idr_.Publish(index, Object(index));
      found->second = true;
    } else if (found->second) {
      idr_.Erase(index);
      model.erase(found);
    } else {
      idr_.Cancel(index);
      model.erase(found);
    }
    if (i % 500 == 0) {
      idr_.CheckInvariants();
      ASSERT_EQ(idr_.Count(), model.size()) << where;
    }
  }
  std::vector<uint32_t> published;
  for (const auto& [index, is_published] : model) {
    if (is_published) published.push_back(index);
  }
  EXPECT_EQ(All(), published);
}

template <typename Body>
void RunThreads(int threads, Body body) {
  std::vector<std::thread> running;
  running.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) running.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : running) thread.join();
}

TEST_F(IdrTest, ThreadsThatTakeTheLowestTakeAllOfThem) {
  constexpr int kThreads = 4;
  constexpr uint32_t kEach = 5000;
  RunThreads(kThreads, [&](int) {
    for (uint32_t i = 0; i < kEach; ++i) EXPECT_NE(PutLowest(), 0u);
  });
  const std::vector<uint32_t> all = All();
  ASSERT_EQ(all.size(), kThreads * kEach);
  EXPECT_EQ(all.front(), 1u);
  EXPECT_EQ(all.back(), kThreads * kEach);
  idr_.CheckInvariants();
}

TEST_F(IdrTest, ThreadsOnFewScatteredLeavesLoseNothing) {
  // Leaves are emptied, removed and made again all the time; each index has one owner at a time.
  constexpr int kThreads = 4;
  std::atomic<int> owners[64] = {};
  std::atomic<uint64_t> took{0};
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  RunThreads(kThreads, [&](int thread) {
    std::mt19937 random(static_cast<uint32_t>(thread) + 1);
    while (std::chrono::steady_clock::now() < end) {
      const uint32_t slot = random() % 64;
      const uint32_t index = (slot << 20) + 5;
      if (!Put(index)) continue;
      ASSERT_EQ(owners[slot].fetch_add(1), 0);
      ASSERT_EQ(Find(index), Object(index));
      owners[slot].fetch_sub(1);
      Erase(index);
      took.fetch_add(1, std::memory_order_relaxed);
      if (random() % 16 == 0) {
        rcu::ReadGuard guard;
        idr_.Shrink();
      }
    }
  });
  EXPECT_GT(took, 0u);
  EXPECT_EQ(Count(), 0u);
  idr_.CheckInvariants();
  rcu::ReadGuard guard;
  idr_.Shrink();
  EXPECT_LT(idr_.MemoryBytes(), 8192u);
}

TEST_F(IdrTest, WhatStaysIsInEveryWalkOnceWhateverHappensAroundIt) {
  for (uint32_t i = 1; i <= 300; ++i) ASSERT_TRUE(Put(i * 50));
  std::atomic<bool> stop{false};
  std::thread churn([&] {
    std::mt19937 random(3);
    while (!stop) {
      const uint32_t index = (1 + random() % 300) * 50 + 1 + random() % 49;
      if (Put(index) && random() % 2 == 0) Erase(index);
      if (Find(index) != nullptr) Erase(index);
    }
  });
  for (int round = 0; round < 200; ++round) {
    uint32_t stayed = 0;
    uint32_t next = 1;
    do {
      rcu::ReadGuard guard;
      int left = 64;
      next = idr_.Walk(next, [&](uint32_t index, void*) {
        if (index % 50 == 0) ++stayed;
        return --left > 0;
      });
    } while (next != 0);
    EXPECT_EQ(stayed, 300u);
  }
  stop = true;
  churn.join();
}

}  // namespace
}  // namespace tcact::idr
