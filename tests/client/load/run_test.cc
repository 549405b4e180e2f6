#include "client/load/run.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "tests/client/lib/fake_server.h"

namespace tcact::load {
namespace {

using client::FakeServer;
using client::FakeStore;

// A store of indexes, no more: enough to tell whether the load tester cleans up and keeps its slots
// apart.
class IndexStore {
 public:
  explicit IndexStore(FakeServer* fake) {
    fake->store.on_create = [this](const v1::CreateActionsRequest& request,
                                   v1::CreateActionsResponse* response) {
      absl::MutexLock lock(&mu_);
      for (int i = 0; i < request.actions_size(); ++i) {
        response->add_actions()->set_index(Create());
      }
      return grpc::Status::OK;
    };
    fake->store.on_delete = [this](const v1::DeleteActionsRequest& request,
                                   v1::DeleteActionsResponse*) {
      absl::MutexLock lock(&mu_);
      for (const v1::ActionKey& key : request.keys()) {
        if (live_.erase(key.index()) == 0) {
          return client::WithReason(grpc::StatusCode::NOT_FOUND, "gone", "ACTION_NOT_FOUND");
        }
      }
      return grpc::Status::OK;
    };
    fake->store.on_apply = [this](FakeStore::ApplyStream* stream) { return Apply(stream); };
  }

  size_t live() const {
    absl::MutexLock lock(&mu_);
    return live_.size();
  }

  std::atomic<bool> refuse_binds{false};

 private:
  uint32_t Create() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    live_.insert(++last_);
    return last_;
  }

  grpc::Status Apply(FakeStore::ApplyStream* stream) {
    v1::ApplyRequest request;
    while (stream->Read(&request)) {
      v1::ApplyResponse response;
      response.set_batch_id(request.batch_id());
      for (int i = 0; i < request.ops_size(); ++i) ApplyOne(request.ops(i), i, &response);
      if (!stream->Write(response)) break;
    }
    return grpc::Status::OK;
  }

  void ApplyOne(const v1::Operation& op, int position, v1::ApplyResponse* response) {
    absl::MutexLock lock(&mu_);
    uint32_t index = 0;
    if (op.has_create()) {
      index = Create();
    } else if (op.has_delete_()) {
      if (live_.erase(op.delete_().index()) > 0) index = op.delete_().index();
    } else {
      const uint32_t asked = op.has_bind()     ? op.bind().index()
                             : op.has_unbind() ? op.unbind().index()
                             : op.has_stats()  ? op.stats().key().index()
                                               : op.get().index();
      const bool refused = op.has_bind() && refuse_binds;
      if (live_.count(asked) > 0 && !refused) index = asked;
    }
    response->add_indexes(index);
    if (index != 0) return;
    v1::OperationError* error = response->add_errors();
    error->set_position(static_cast<uint32_t>(position));
    error->set_code(grpc::StatusCode::NOT_FOUND);
    error->set_reason("ACTION_NOT_FOUND");
  }

  mutable absl::Mutex mu_;
  std::set<uint32_t> live_ ABSL_GUARDED_BY(mu_);
  uint32_t last_ ABSL_GUARDED_BY(mu_) = 0;
};

class RunTest : public testing::Test {
 protected:
  RunTest() : store_(&fake_) {
    options_.server = fake_.address();
    options_.duration = absl::Milliseconds(300);
    options_.warmup = absl::Milliseconds(50);
    options_.ops_per_message = 7;
    options_.actions = 100;
  }

  RunResult RunAll() {
    auto result = load::Run(options_, [](const Progress&) {});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *std::move(result) : RunResult();
  }

  FakeServer fake_;
  IndexStore store_;
  RunOptions options_;
};

TEST_F(RunTest, ApplyScenariosSucceedAndLeaveNothingBehind) {
  for (Scenario scenario :
       {Scenario::kChurn, Scenario::kBind, Scenario::kStats, Scenario::kMixed}) {
    options_.scenario = scenario;
    options_.connections = 2;
    const RunResult result = RunAll();
    EXPECT_GT(result.operations, 100u) << ScenarioName(scenario);
    EXPECT_EQ(UnexpectedErrors(result), 0u) << ReportText(result);
    EXPECT_EQ(store_.live(), 0u) << ScenarioName(scenario);
    EXPECT_TRUE(result.warnings.empty());
  }
}

TEST_F(RunTest, UnaryChurnSucceedsAndLeavesNothingBehind) {
  options_.mode = Mode::kUnary;
  const RunResult result = RunAll();
  EXPECT_GT(result.operations, 50u);
  EXPECT_EQ(UnexpectedErrors(result), 0u) << ReportText(result);
  EXPECT_EQ(store_.live(), 0u);
}

TEST_F(RunTest, AnOpenLoopCleansUpToo) {
  options_.rate = 7000;
  const RunResult result = RunAll();
  EXPECT_GT(result.operations, 500u);
  EXPECT_EQ(store_.live(), 0u);
}

TEST_F(RunTest, OperationsThatFailAreErrorsUnlessExpected) {
  options_.scenario = Scenario::kBind;
  store_.refuse_binds = true;
  const RunResult result = RunAll();
  EXPECT_EQ(result.operations, 0u);
  EXPECT_GT(UnexpectedErrors(result), 0u);
  RunResult expected = result;
  expected.options.expected_errors = {"ACTION_NOT_FOUND"};
  EXPECT_EQ(UnexpectedErrors(expected), 0u);
  expected.options.expected_errors = {"NOT_FOUND"};
  EXPECT_EQ(UnexpectedErrors(expected), 0u);
  expected.options.expected_errors = {"ABORTED"};
  EXPECT_EQ(UnexpectedErrors(expected), UnexpectedErrors(result));
}

TEST_F(RunTest, AnAbsentServerIsNamed) {
  options_.server = FakeServer::NewAddress();
  const auto result = load::Run(options_, [](const Progress&) {});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StrContains(result.status().message(), options_.server)) << result.status();
}

TEST_F(RunTest, TextAndJsonTellTheSame) {
  const RunResult result = RunAll();
  const nlohmann::json json = ReportJson(result);
  EXPECT_EQ(json["operations"], result.operations);
  EXPECT_EQ(json["series"].size(), 1u);
  EXPECT_EQ(json["series"][0]["operations"], result.operations);
  EXPECT_EQ(json["options"]["scenario"], "churn");
  EXPECT_GE(json["latency_us"]["p99"], json["latency_us"]["p50"]);
  EXPECT_TRUE(absl::StrContains(ReportText(result), absl::StrCat(result.operations)));
}

TEST_F(RunTest, DumpedActionsAreCounted) {
  fake_.store.on_dump = [](FakeStore::DumpWriter* writer) {
    v1::DumpActionsResponse part;
    for (int i = 0; i < 50; ++i) part.add_actions()->mutable_gact();
    writer->Write(part);
    writer->Write(part);
    return grpc::Status::OK;
  };
  options_.scenario = Scenario::kDump;
  options_.mode = Mode::kUnary;
  const RunResult result = RunAll();
  EXPECT_GT(result.messages, 0u);
  // A dump may lie on an edge of the measured time with one of its two parts.
  EXPECT_NEAR(static_cast<double>(result.operations), static_cast<double>(result.messages) * 100,
              100);
  EXPECT_EQ(UnexpectedErrors(result), 0u) << ReportText(result);
}

}  // namespace
}  // namespace tcact::load
