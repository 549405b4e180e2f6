// A disk that fails under load: the server turns read-only, says so, still serves reads, shows
// nothing that it refused, and after a restart with a good disk has everything that it
// acknowledged.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "proto/tcact/v1/admin.grpc.pb.h"
#include "tests/fault/auditor.h"
#include "tests/fault/tcactd_process.h"

namespace tcact::fault {
namespace {

constexpr int kAuditors = 4;

class DiskTest : public ::testing::TestWithParam<const char*> {
 protected:
  DiskTest() {
    for (int i = 0; i < kAuditors; ++i)
      auditors_.push_back(std::make_unique<Auditor>(1 + 1000 * i, 77 + i));
  }

  std::string FailFile() const { return directory_.path() + "/fail"; }

  void Start() {
    const std::vector<std::string> environment = {
        "LD_PRELOAD=" + std::filesystem::absolute("tests/fault/libfail_disk.so").string(),
        "TCACT_FAIL_PREFIX=" + directory_.path() + "/store", "TCACT_FAIL_FILE=" + FailFile()};
    server_ = std::make_unique<TcactdProcess>(
        directory_.path(), std::vector<std::string>{"--stats-durability=acked"}, environment);
    ASSERT_TRUE(server_->ok()) << server_->Log();
    for (auto& auditor : auditors_) auditor->Connect(server_->NewChannel());
  }

  void DriveFor(absl::Duration time) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (auto& auditor : auditors_) {
      threads.emplace_back([&stop, a = auditor.get()] {
        while (!stop && !a->in_doubt() && !a->refused()) a->Drive(&stop);
      });
    }
    absl::SleepFor(time);
    stop = true;
    for (std::thread& thread : threads) thread.join();
  }

  v1::GetServerInfoResponse Info() {
    grpc::ClientContext context;
    v1::GetServerInfoResponse response;
    auto admin = v1::Admin::NewStub(server_->NewChannel());
    EXPECT_TRUE(admin->GetServerInfo(&context, v1::GetServerInfoRequest(), &response).ok());
    return response;
  }

  Directory directory_;
  std::vector<std::unique_ptr<Auditor>> auditors_;
  std::unique_ptr<TcactdProcess> server_;
};

TEST_P(DiskTest, TurnsReadOnlyAndLosesNothingAcknowledged) {
  Start();
  if (HasFatalFailure()) return;
  DriveFor(absl::Milliseconds(500));
  std::ofstream(FailFile()) << GetParam() << "\n";
  DriveFor(absl::Seconds(1));
  EXPECT_TRUE(Info().read_only());
  EXPECT_FALSE(Info().read_only_reason().empty());
  EXPECT_TRUE(absl::StrContains(server_->Log(), "READ-ONLY")) << server_->Log();
  // In memory what was not recorded is undone: each auditor sees what was acknowledged to it, and
  // no change of what is in doubt.
  for (auto& auditor : auditors_) auditor->Verify();
  if (HasFailure()) return;

  server_->Kill();
  std::filesystem::remove(FailFile());
  Start();
  if (HasFatalFailure()) return;
  EXPECT_FALSE(Info().read_only());
  for (auto& auditor : auditors_) {
    auditor->Forgive();
    auditor->Verify();
  }
  DriveFor(absl::Milliseconds(300));
  for (auto& auditor : auditors_) auditor->Verify();
}

INSTANTIATE_TEST_SUITE_P(Failures, DiskTest,
                         ::testing::Values("sync-eio", "write-eio", "write-enospc"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace tcact::fault
