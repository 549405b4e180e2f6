// kill -9 at random moments under load: nothing that was answered is missing, nothing is counted
// twice. TCACT_FAULT_ROUNDS says how often; 12 by default.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/fault/auditor.h"
#include "tests/fault/tcactd_process.h"

namespace tcact::fault {
namespace {

constexpr int kAuditors = 8;

int Rounds() {
  const char* text = std::getenv("TCACT_FAULT_ROUNDS");
  return text == nullptr ? 12 : std::atoi(text);
}

class CrashTest : public ::testing::TestWithParam<const char*> {
 protected:
  CrashTest() {
    const uint64_t seed = std::random_device()();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    random_.seed(seed);
    for (int i = 0; i < kAuditors; ++i)
      auditors_.push_back(std::make_unique<Auditor>(1 + 1000 * i, random_()));
  }

  void Start() {
    server_ = std::make_unique<TcactdProcess>(
        directory_.path(),
        std::vector<std::string>{std::string("--durability=") + GetParam(),
                                 "--stats-durability=acked", "--stats-interval=100ms"});
    ASSERT_TRUE(server_->ok()) << server_->Log();
    for (auto& auditor : auditors_) auditor->Connect(server_->NewChannel());
  }

  template <typename Do>
  void Each(Do action) {
    std::vector<std::thread> threads;
    for (auto& auditor : auditors_)
      threads.emplace_back([&action, a = auditor.get()] { action(a); });
    for (std::thread& thread : threads) thread.join();
  }

  // Drives until `end` ends the server.
  template <typename End>
  void DriveUntil(End end) {
    std::atomic<bool> stop{false};
    std::thread ender([&] {
      absl::SleepFor(absl::Milliseconds(50 + static_cast<int64_t>(random_() % 400)));
      end();
      stop = true;
    });
    Each([&stop](Auditor* auditor) { auditor->Drive(&stop); });
    ender.join();
  }

  uint64_t Answered() const {
    uint64_t answered = 0;
    for (const auto& auditor : auditors_) answered += auditor->answered();
    return answered;
  }

  Directory directory_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Auditor>> auditors_;
  std::unique_ptr<TcactdProcess> server_;
};

TEST_P(CrashTest, NothingAnsweredIsLostAndNothingIsDoneTwice) {
  for (int round = 0; round < Rounds() && !HasFailure(); ++round) {
    Start();
    if (HasFatalFailure()) return;
    Each([](Auditor* auditor) {
      EXPECT_TRUE(auditor->Settle());
      auditor->Verify();
    });
    if (HasFailure()) break;
    DriveUntil([this] { server_->Kill(); });
  }
  std::printf("%llu changes answered\n", static_cast<unsigned long long>(Answered()));
  EXPECT_GT(Answered(), 0u);
}

TEST_P(CrashTest, ATerminatedServerLosesNothing) {
  for (int round = 0; round < 3 && !HasFailure(); ++round) {
    Start();
    if (HasFatalFailure()) return;
    Each([](Auditor* auditor) {
      EXPECT_TRUE(auditor->Settle());
      auditor->Verify();
    });
    if (HasFailure()) break;
    DriveUntil([this] { EXPECT_EQ(server_->Terminate(), 0) << server_->Log(); });
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, CrashTest, ::testing::Values("sync", "os"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tcact::fault
