#include "server/core/lock/counted_mutex.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace tcact::lock {
namespace {

// The row of `name`; fails the test if there is none.
LockStat Row(absl::string_view name) {
  for (const LockStat& row : LockStats()) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return {};
}

// Makes `mu` be waited for once, for at least `wait`.
void ContendOnce(CountedMutex* mu, std::chrono::milliseconds wait) {
  std::atomic<bool> about_to_lock{false};
  mu->Lock();
  std::thread waiter([&] {
    about_to_lock = true;
    CountedLock lock(mu);
  });
  while (!about_to_lock) std::this_thread::yield();
  std::this_thread::sleep_for(wait);
  mu->Unlock();
  waiter.join();
}

TEST(CountedMutexTest, AMutexHasARowBeforeItIsEverLocked) {
  CountedMutex mu("test_unused");
  const LockStat row = Row("test_unused");
  EXPECT_EQ(row.acquired, 0);
  EXPECT_EQ(row.contended, 0);
  EXPECT_EQ(row.wait_min_ns, 0);
}

TEST(CountedMutexTest, AnUncontendedAcquisitionCountsAndWaitsForNothing) {
  CountedMutex mu("test_uncontended");
  for (int i = 0; i < 5; ++i) CountedLock lock(&mu);
  const LockStat row = Row("test_uncontended");
  EXPECT_EQ(row.acquired, 5);
  EXPECT_EQ(row.contended, 0);
  EXPECT_EQ(row.wait_total_ns, 0);
  EXPECT_EQ(row.wait_max_ns, 0);
  EXPECT_EQ(row.wait_min_ns, 0);
}

TEST(CountedMutexTest, TryLockCountsOnlyWhenItSucceeds) {
  CountedMutex mu("test_try");
  ASSERT_TRUE(mu.TryLock());
  std::thread([&] { EXPECT_FALSE(mu.TryLock()); }).join();
  mu.Unlock();
  EXPECT_EQ(Row("test_try").acquired, 1);
  EXPECT_EQ(Row("test_try").contended, 0);
}

TEST(CountedMutexTest, AContendedAcquisitionCountsItsWait) {
  CountedMutex mu("test_contended");
  ContendOnce(&mu, std::chrono::milliseconds(20));
  const LockStat row = Row("test_contended");
  EXPECT_EQ(row.acquired, 2);
  EXPECT_EQ(row.contended, 1);
  EXPECT_GE(row.wait_total_ns, 10'000'000);
  EXPECT_EQ(row.wait_max_ns, row.wait_total_ns);
  EXPECT_EQ(row.wait_min_ns, row.wait_total_ns);
}

TEST(CountedMutexTest, MaxAndMinAreThoseOfTheLongestAndShortestWait) {
  CountedMutex mu("test_extremes");
  ContendOnce(&mu, std::chrono::milliseconds(60));
  ContendOnce(&mu, std::chrono::milliseconds(5));
  const LockStat row = Row("test_extremes");
  EXPECT_EQ(row.contended, 2);
  EXPECT_GE(row.wait_max_ns, 40'000'000);
  EXPECT_LT(row.wait_min_ns, row.wait_max_ns);
  EXPECT_EQ(row.wait_total_ns, row.wait_min_ns + row.wait_max_ns);
}

TEST(CountedMutexTest, MutexesOfOneNameAddUpToOneRow) {
  std::vector<std::unique_ptr<CountedMutex>> mutexes;
  mutexes.reserve(100);
  for (int i = 0; i < 100; ++i) mutexes.push_back(std::make_unique<CountedMutex>("test_many"));
  for (auto& mu : mutexes) CountedLock lock(mu.get());
  ContendOnce(mutexes[3].get(), std::chrono::milliseconds(30));
  ContendOnce(mutexes[7].get(), std::chrono::milliseconds(1));
  const LockStat row = Row("test_many");
  EXPECT_EQ(row.acquired, 104);
  EXPECT_EQ(row.contended, 2);
  EXPECT_EQ(row.wait_total_ns, row.wait_min_ns + row.wait_max_ns);
  const std::vector<LockStat> rows = LockStats();
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(),
                          [](const LockStat& r) { return r.name == "test_many"; }),
            1);
}

TEST(CountedMutexTest, ARowRemembersItsDestroyedMutexes) {
  // The middle, the first and the last of the row's list go, in that order.
  auto a = std::make_unique<CountedMutex>("test_gone");
  auto b = std::make_unique<CountedMutex>("test_gone");
  auto c = std::make_unique<CountedMutex>("test_gone");
  ContendOnce(b.get(), std::chrono::milliseconds(2));
  const LockStat before = Row("test_gone");
  b.reset();
  { CountedLock lock(a.get()); }
  a.reset();
  { CountedLock lock(c.get()); }
  c.reset();
  const LockStat row = Row("test_gone");
  EXPECT_EQ(row.acquired, 4);
  EXPECT_EQ(row.contended, 1);
  EXPECT_EQ(row.wait_total_ns, before.wait_total_ns);
  EXPECT_EQ(row.wait_max_ns, before.wait_max_ns);
  EXPECT_EQ(row.wait_min_ns, before.wait_min_ns);
}

TEST(CountedMutexTest, ResetZeroesTheCountsOfLiveAndDestroyedMutexes) {
  CountedMutex live("test_reset");
  {
    CountedMutex gone("test_reset");
    ContendOnce(&gone, std::chrono::milliseconds(1));
  }
  ContendOnce(&live, std::chrono::milliseconds(50));
  ResetLockStats();
  LockStat row = Row("test_reset");
  EXPECT_EQ(row.acquired, 0);
  EXPECT_EQ(row.contended, 0);
  EXPECT_EQ(row.wait_total_ns, 0);
  EXPECT_EQ(row.wait_max_ns, 0);
  EXPECT_EQ(row.wait_min_ns, 0);

  // Waits from before the reset leave no trace in the extremes after it.
  ContendOnce(&live, std::chrono::milliseconds(1));
  row = Row("test_reset");
  EXPECT_EQ(row.acquired, 2);
  EXPECT_EQ(row.contended, 1);
  EXPECT_GT(row.wait_total_ns, 0);
  EXPECT_EQ(row.wait_max_ns, row.wait_total_ns);
  EXPECT_EQ(row.wait_min_ns, row.wait_total_ns);
}

TEST(CountedMutexTest, AMutexDestroyedAfterAResetAddsOnlyWhatItCountedSince) {
  auto mu = std::make_unique<CountedMutex>("test_reset_gone");
  { CountedLock lock(mu.get()); }
  ResetLockStats();
  { CountedLock lock(mu.get()); }
  mu.reset();
  EXPECT_EQ(Row("test_reset_gone").acquired, 1);
}

TEST(CountedMutexTest, RowsAreOrderedByTotalWaitThenName) {
  CountedMutex b("test_order_b");
  CountedMutex a("test_order_a");
  CountedMutex waited("test_order_waited");
  ResetLockStats();
  ContendOnce(&waited, std::chrono::milliseconds(2));
  std::vector<std::string> names;
  for (const LockStat& row : LockStats()) {
    if (row.name.starts_with("test_order_")) names.push_back(row.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"test_order_waited", "test_order_a", "test_order_b"}));
}

TEST(CountedMutexTest, EveryAcquisitionOfManyThreadsIsCountedAndNoneOverlap) {
  constexpr int kThreads = 4;
  constexpr int kEach = 50'000;
  CountedMutex mu("test_threads");
  int64_t guarded = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        CountedLock lock(&mu);
        ++guarded;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(guarded, kThreads * kEach);
  EXPECT_EQ(Row("test_threads").acquired, kThreads * kEach);
}

TEST(CountedMutexTest, ReadingAndResettingMayRunWithLockingMakingAndDestroying) {
  CountedMutex shared("test_stress");
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        CountedLock outer(&shared);
        CountedMutex own("test_stress");
        CountedLock inner(&own);
      }
    });
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1000);
  for (int round = 0; std::chrono::steady_clock::now() < end; ++round) {
    const LockStat row = Row("test_stress");
    EXPECT_GE(row.acquired, row.contended);
    EXPECT_LT(row.acquired, uint64_t{1} << 40) << "a count went below zero";
    EXPECT_LE(row.wait_min_ns, row.wait_max_ns);
    if (round % 10 == 0) ResetLockStats();
  }
  stop = true;
  for (auto& thread : threads) thread.join();
}

TEST(CountedMutexDeathTest, ANameOfTheWrongLengthAborts) {
  const std::string longest(63, 'n');
  CountedMutex ok(longest);
  EXPECT_EQ(Row(longest).acquired, 0);
  EXPECT_DEATH(CountedMutex(longest + "n"), "name of 64 bytes, must be 1 to 63");
  EXPECT_DEATH(CountedMutex(""), "name of 0 bytes, must be 1 to 63");
}

}  // namespace
}  // namespace tcact::lock
