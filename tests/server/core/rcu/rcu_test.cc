#include "server/core/rcu/rcu.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tcact::rcu {
namespace {

void SetTrue(void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }

// A thread that holds a read section open until told otherwise.
class Reader {
 public:
  Reader() {
    thread_ = std::thread([this] {
      ReadGuard guard;
      inside_ = true;
      while (!leave_) std::this_thread::yield();
      left_ = true;
    });
    while (!inside_) std::this_thread::yield();
  }
  ~Reader() { Leave(); }
  void Leave() {
    leave_ = true;
    if (thread_.joinable()) thread_.join();
  }
  void LeaveSoon() { leave_ = true; }
  bool left() const { return left_; }

 private:
  std::atomic<bool> inside_{false};
  std::atomic<bool> leave_{false};
  std::atomic<bool> left_{false};
  std::thread thread_;
};

TEST(RcuTest, GuardsNest) {
  ReadGuard outer;
  { ReadGuard inner; }
  // Still inside: work deferred now must not run before `outer` ends.
  static std::atomic<bool> ran{false};
  Defer(&SetTrue, &ran);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_FALSE(ran);
}

TEST(RcuTest, DeferredWorkRunsOnceAndBarrierWaitsForIt) {
  std::atomic<int> runs{0};
  for (int i = 0; i < 100; ++i) {
    Defer([](void* arg) { ++*static_cast<std::atomic<int>*>(arg); }, &runs);
  }
  Barrier();
  EXPECT_EQ(runs, 100);
  Barrier();
  EXPECT_EQ(runs, 100);
}

TEST(RcuTest, DeferredWorkWaitsForReadersThatWereThere) {
  std::atomic<bool> ran{false};
  Reader reader;
  Defer(&SetTrue, &ran);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_FALSE(ran);
  reader.Leave();
  Barrier();
  EXPECT_TRUE(ran);
}

TEST(RcuTest, SynchronizeWaitsForReadersThatWereThere) {
  Reader reader;
  std::thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    reader.LeaveSoon();
  }).detach();
  Synchronize();
  EXPECT_TRUE(reader.left());
  reader.Leave();
}

TEST(RcuTest, DeferredWorkMayReadAndDeferMore) {
  struct Chain {
    std::atomic<int> links{0};
  } chain;
  Defer(
      [](void* arg) {
        ReadGuard guard;
        ++static_cast<Chain*>(arg)->links;
        Defer(
            [](void* again) {
              ReadGuard inner;
              ++static_cast<Chain*>(again)->links;
            },
            arg);
      },
      &chain);
  Barrier();
  Barrier();
  EXPECT_EQ(chain.links, 2);
}

TEST(RcuTest, DeferDeleteDeletes) {
  struct Counted {
    explicit Counted(std::atomic<int>* gone) : gone(gone) {}
    ~Counted() { ++*gone; }
    std::atomic<int>* gone;
  };
  std::atomic<int> gone{0};
  DeferDelete(new Counted(&gone));
  Barrier();
  EXPECT_EQ(gone, 1);
}

TEST(RcuTest, ThreadsThatReadAndEndHoldUpNobody) {
  for (int i = 0; i < 50; ++i) std::thread([] { ReadGuard guard; }).join();
  Synchronize();
}

TEST(RcuTest, AThreadThatOnlyDefersNeedsNoGuard) {
  std::atomic<bool> ran{false};
  std::thread([&] { Defer(&SetTrue, &ran); }).join();
  Barrier();
  EXPECT_TRUE(ran);
}

TEST(RcuTest, AGuardInAThreadLocalsDestructorWorks) {
  struct ReadsAtEnd {
    ~ReadsAtEnd() { ReadGuard guard; }
    int touched = 0;
  };
  for (int i = 0; i < 10; ++i) {
    std::thread([] {
      thread_local ReadsAtEnd at_end;
      at_end.touched = 1;
      ReadGuard guard;
    }).join();
  }
  Synchronize();
}

// Readers check that what they find is whole while a writer replaces and defers the deletion of it.
// Address sanitizer sees a use after free, thread sanitizer a missing edge.
TEST(RcuTest, WhatAReaderFoundStaysWholeUntilItsGuardEnds) {
  struct Pair {
    explicit Pair(int v) : a(v), b(-v) {}
    ~Pair() { a = b = 1; }
    int a;
    int b;
  };
  std::atomic<Pair*> shared{new Pair(0)};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> reads{0};
  std::vector<std::thread> readers;
  readers.reserve(8);
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        ReadGuard guard;
        const Pair* pair = shared.load(std::memory_order_acquire);
        ASSERT_EQ(pair->a + pair->b, 0);
        ++reads;
      }
    });
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1000);
  for (int i = 1; std::chrono::steady_clock::now() < end; ++i) {
    DeferDelete(shared.exchange(new Pair(i), std::memory_order_acq_rel));
    if (i % 1000 == 0) Synchronize();
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  DeferDelete(shared.load());
  Barrier();
  EXPECT_GT(reads, 0);
}

TEST(RcuDeathTest, WaitingInsideAReadSectionAborts) {
  EXPECT_DEATH(
      {
        ReadGuard guard;
        Synchronize();
      },
      "Synchronize inside a ReadGuard");
  EXPECT_DEATH(
      {
        ReadGuard guard;
        Barrier();
      },
      "Barrier inside a ReadGuard");
}

}  // namespace
}  // namespace tcact::rcu
