// Many threads on few actions. What is checked at the end does not depend on how they met:
// references balance, every update that was answered as counted is in exactly one life's last
// statistics, no reader saw a torn action.
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/act/store.h"
#include "tests/server/core/act/store_fixture.h"

namespace tcact::act {
namespace {

constexpr int kThreads = 4;
constexpr auto kDuration = std::chrono::milliseconds(700);

// Runs body(thread) on all threads until the time is over.
template <typename Body>
void RunThreads(Body body) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&body, &stop, thread] {
      std::mt19937 random(static_cast<uint32_t>(thread) + 1);
      while (!stop.load(std::memory_order_relaxed)) body(thread, random);
    });
  }
  std::this_thread::sleep_for(kDuration);
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

class StoreStressTest : public ::testing::TestWithParam<AllocMode> {
 protected:
  // One operation; its error code.
  Errc Do(OpType type, uint32_t index, absl::string_view params = "p") {
    Step step;
    return s_->Execute(s_.netns(), MakeOp(type, index, params), 1000, &step).code;
  }

  TestStore s_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Modes, StoreStressTest,
                         ::testing::Values(AllocMode::kPerObject, AllocMode::kSlab,
                                           AllocMode::kSlabMerged));

TEST_P(StoreStressTest, EveryCountedUpdateIsInOneLastStatistics) {
  constexpr uint32_t kIndexes = 3;
  std::atomic<uint64_t> counted{0};
  std::atomic<uint64_t> told{0};
  RunThreads([&](int, std::mt19937& random) {
    const uint32_t index = 1 + random() % kIndexes;
    const uint32_t dice = random() % 10;
    if (dice == 0) {
      Step step;
      Snapshot last;
      const Error error = s_->Execute(s_.netns(), MakeOp(OpType::kDelete, index), 1000, &step,
                                      kWithCounters, &last);
      if (error.ok()) told += last.counters.bytes;
    } else if (dice == 1) {
      (void)Do(OpType::kCreate, index);
    } else if (s_->UpdateStats(s_.netns(), kSmall, index, {.bytes = 1}, 1000)) {
      ++counted;
    }
  });
  for (uint32_t index = 1; index <= kIndexes; ++index) told += s_.Get(index).counters.bytes;
  EXPECT_GT(counted, 0u);
  EXPECT_EQ(told, counted);
}

TEST_P(StoreStressTest, BindsAndUnbindsBalance) {
  constexpr uint32_t kIndexes = 2;
  std::atomic<int64_t> held[kIndexes + 1] = {};
  RunThreads([&](int, std::mt19937& random) {
    const uint32_t index = 1 + random() % kIndexes;
    switch (random() % 6) {
      case 0:
      case 1:
        if (Do(OpType::kBind, index) == Errc::kOk) ++held[index];
        break;
      case 2:
      case 3:
        // The count goes down first: what is counted as held is at least bound.
        if (held[index].fetch_sub(1) > 0) {
          Errc code;
          do {
            code = Do(OpType::kUnbind, index);
          } while (code == Errc::kBusy);
          ASSERT_EQ(code, Errc::kOk);
        } else {
          ++held[index];
        }
        break;
      case 4:
        (void)Do(OpType::kReplace, index, "replaced");
        break;
      default:
        (void)Do(OpType::kDelete, index);
    }
  });
  for (uint32_t index = 1; index <= kIndexes; ++index) {
    EXPECT_EQ(s_.Get(index).bindcnt, static_cast<uint32_t>(held[index].load()));
    while (held[index]-- > 0) ASSERT_EQ(Do(OpType::kUnbind, index), Errc::kOk);
    const Errc code = Do(OpType::kDelete, index);
    EXPECT_TRUE(code == Errc::kOk || code == Errc::kNotFound);
  }
  s_->Shrink();
  EXPECT_EQ(s_.RecordsInUse(), 0u);
}

TEST_P(StoreStressTest, ReadersSeeWholeActionsOnly) {
  std::atomic<uint64_t> read{0};
  RunThreads([&](int thread, std::mt19937& random) {
    const uint32_t index = 1 + random() % 2;
    if (thread < 2) {
      // Parameters and cookie say the same letter; lengths cross the border between inline and heap
      // block.
      const std::string params(1 + random() % 60, static_cast<char>('a' + random() % 26));
      Op op = MakeOp(random() % 4 == 0 ? OpType::kDelete : OpType::kReplace, index, params);
      op.spec.cookie = MakeCookie(params.substr(0, 1));
      Step step;
      (void)s_->Execute(s_.netns(), op, 1000, &step);
      return;
    }
    Snapshot snapshot;
    if (!s_->Get(s_.netns(), kSmall, index, kAllParts, &snapshot).ok()) return;
    ++read;
    ASSERT_EQ(snapshot.index, index);
    ASSERT_FALSE(snapshot.params.empty());
    ASSERT_EQ(snapshot.params.find_first_not_of(snapshot.params[0]), std::string::npos);
    ASSERT_EQ(snapshot.cookie.view(), snapshot.params.substr(0, 1));
  });
  EXPECT_GT(read, 0u);
}

TEST_P(StoreStressTest, AnActionThatLivesThroughADumpIsInItOnce) {
  for (uint32_t i = 1; i <= 500; ++i) ASSERT_EQ(Do(OpType::kCreate, i * 10), Errc::kOk);
  std::atomic<uint64_t> dumps{0};
  RunThreads([&](int thread, std::mt19937& random) {
    if (thread != 0) {
      // Churns around the actions that stay.
      const uint32_t index = (1 + random() % 500) * 10 + 1 + random() % 9;
      (void)Do(random() % 2 == 0 ? OpType::kCreate : OpType::kDelete, index);
      return;
    }
    uint32_t next = 1;
    uint32_t last = 0;
    uint32_t stayed = 0;
    do {
      int left = 50;
      next = s_->Dump(s_.netns(), kSmall, next, {}, [&](Snapshot& snapshot) {
        EXPECT_GT(snapshot.index, last);
        last = snapshot.index;
        if (snapshot.index % 10 == 0) ++stayed;
        return --left > 0;
      });
    } while (next != 0);
    ASSERT_EQ(stayed, 500u);
    ++dumps;
  });
  EXPECT_GT(dumps, 0u);
}

TEST_P(StoreStressTest, NamespacesComeAndGoUnderLoad) {
  RunThreads([&](int, std::mt19937& random) {
    const std::string name = "ns" + std::to_string(random() % 3);
    if (random() % 50 == 0) {
      uint64_t actions = 0;
      (void)s_->DeleteNetns(name, &actions);
      return;
    }
    NetnsRef netns;
    ASSERT_TRUE(s_->OpenNetns(name, &netns).ok());
    const std::vector<Op> ops = {MakeOp(OpType::kCreate, 0),
                                 MakeOp(OpType::kBind, 1 + random() % 50)};
    Transaction txn;
    if (s_->Prepare(netns, ops, 1000, &txn).ok() && random() % 3 != 0) s_->Commit(&txn);
  });
  for (const NetnsInfo& info : s_->ListNetns(true, "", 100)) {
    uint64_t actions = 0;
    if (info.name.empty()) continue;
    ASSERT_TRUE(s_->DeleteNetns(info.name, &actions).ok());
  }
  s_->Shrink();
  EXPECT_EQ(s_.RecordsInUse(), 0u);
}

TEST_P(StoreStressTest, ShrinkRunsBesideEverything) {
  RunThreads([&](int thread, std::mt19937& random) {
    if (thread == 0) {
      s_->Shrink();
      return;
    }
    const uint32_t index = 1 + random() % 2000;
    switch (random() % 3) {
      case 0:
        (void)Do(OpType::kCreate, index);
        break;
      case 1:
        (void)Do(OpType::kDelete, index);
        break;
      default:
        (void)s_->UpdateStats(s_.netns(), kSmall, index, {.packets = 1}, 1000);
    }
  });
}

}  // namespace
}  // namespace tcact::act
