// A server with a record store: what is answered is recorded, what is not recorded is not answered.
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/server/durable/flaky_record_store.h"
#include "tests/server/rpc/server_fixture.h"

namespace tcact::rpc {
namespace {

constexpr auto kMoment = std::chrono::milliseconds(100);

class DurableServerTest : public ServerTest {
 protected:
  DurableServerTest() { keeper_options_.stats_interval = absl::Hours(1); }

  std::unique_ptr<durable::RecordStore> Records() override {
    auto flaky = std::make_unique<durable::FlakyRecordStore>(records_);
    flaky_ = flaky.get();
    return flaky;
  }

  void TearDown() override {
    flaky_->Release();
    ServerTest::TearDown();
  }

  // Ends the server as kill -9 would, as far as records go, and starts another on what was kept.
  void CrashAndRestart() {
    flaky_->Release();
    flaky_->Break();
    ServerTest::TearDown();
    context_.keeper = nullptr;
    SetUp();
  }

  void StopAndRestart() {
    server_.reset();
    ASSERT_TRUE(keeper_->Stop().ok());
    keeper_.reset();
    SetUp();
  }

  grpc::Status CreateOne(uint32_t index, const std::string& request_id = "",
                         v1::CreateActionsResponse* response = nullptr) {
    v1::CreateActionsRequest request;
    request.set_request_id(request_id);
    *request.add_actions() = Gact(index);
    return Create(request, response);
  }

  grpc::Status Delete(uint32_t index, v1::DeleteActionsResponse* response) {
    grpc::ClientContext context;
    v1::DeleteActionsRequest request;
    *request.add_keys() = Key(index);
    return actions_->DeleteActions(&context, request, response);
  }

  v1::UpdateStatsResponse Count(uint32_t index, uint64_t packets, const std::string& source = "",
                                uint64_t sequence = 0) {
    grpc::ClientContext context;
    v1::UpdateStatsRequest request;
    v1::UpdateStatsResponse response;
    request.set_kind("gact");
    request.add_indexes(index);
    request.add_packets(packets);
    request.set_source(source);
    request.set_sequence(sequence);
    const grpc::Status status = actions_->UpdateStats(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  uint64_t PacketsOf(uint32_t index) {
    v1::Action action;
    const grpc::Status status = Get(index, &action);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return action.stats().packets();
  }

  v1::GetServerInfoResponse Info() {
    grpc::ClientContext context;
    v1::GetServerInfoResponse response;
    EXPECT_TRUE(admin_->GetServerInfo(&context, {}, &response).ok());
    return response;
  }

  std::shared_ptr<durable::RecordStore> records_ = std::make_shared<durable::MemoryRecordStore>();
  durable::FlakyRecordStore* flaky_ = nullptr;
};

TEST_F(DurableServerTest, AChangeIsAnsweredWhenItIsRecorded) {
  flaky_->Hold();
  auto created = std::async(std::launch::async, [this] { return CreateOne(1); });
  EXPECT_EQ(created.wait_for(kMoment), std::future_status::timeout);
  flaky_->Release();
  EXPECT_TRUE(created.get().ok());
  EXPECT_EQ(flaky_->last_level(), durable::Level::kSync);
}

TEST_F(DurableServerTest, AReadDoesNotTellWhatIsNotRecorded) {
  flaky_->Hold();
  auto created = std::async(std::launch::async, [this] { return CreateOne(1); });
  EXPECT_EQ(created.wait_for(kMoment), std::future_status::timeout);
  auto read = std::async(std::launch::async, [this] {
    v1::Action action;
    return Get(1, &action);
  });
  EXPECT_EQ(read.wait_for(kMoment), std::future_status::timeout);
  flaky_->Release();
  EXPECT_TRUE(read.get().ok());
  EXPECT_TRUE(created.get().ok());
}

TEST_F(DurableServerTest, AdminIsNotHeldUp) {
  flaky_->Hold();
  auto created = std::async(std::launch::async, [this] { return CreateOne(1); });
  EXPECT_EQ(created.wait_for(kMoment), std::future_status::timeout);
  EXPECT_EQ(Info().durability(), "sync");
  flaky_->Release();
  EXPECT_TRUE(created.get().ok());
}

TEST_F(DurableServerTest, ApplyAnswersInOrderWhenRecordedAndReadsOnMeanwhile) {
  grpc::ClientContext context;
  auto stream = actions_->Apply(&context);
  flaky_->Hold();
  for (uint64_t batch = 1; batch <= 20; ++batch) {
    v1::ApplyRequest request;
    request.set_batch_id(batch);
    *request.add_ops()->mutable_create() = Gact(0);
    ASSERT_TRUE(stream->Write(request));
  }
  stream->WritesDone();
  const absl::Time end = absl::Now() + absl::Seconds(10);
  while (ActionsInAll() < 20 && absl::Now() < end) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_EQ(ActionsInAll(), 20u) << "all of them are done while the first commit runs";
  flaky_->Release();
  v1::ApplyResponse response;
  for (uint64_t batch = 1; batch <= 20; ++batch) {
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.batch_id(), batch);
    EXPECT_EQ(response.indexes(0), batch);
  }
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_LE(flaky_->commits(), 4) << "one commit for many batches";
}

TEST_F(DurableServerTest, ADumpEndsWhenWhatItShowedIsRecorded) {
  Fill(2000);
  flaky_->Hold();
  auto created = std::async(std::launch::async, [this] { return CreateOne(5000); });
  EXPECT_EQ(created.wait_for(kMoment), std::future_status::timeout);
  auto dumped = std::async(std::launch::async, [this] {
    grpc::ClientContext context;
    v1::DumpActionsRequest request;
    request.set_kind("gact");
    v1::DumpActionsResponse response;
    int shown = 0;
    auto reader = actions_->DumpActions(&context, request);
    while (reader->Read(&response)) shown += response.actions_size();
    EXPECT_TRUE(reader->Finish().ok());
    return shown;
  });
  EXPECT_EQ(dumped.wait_for(kMoment), std::future_status::timeout);
  flaky_->Release();
  EXPECT_EQ(dumped.get(), 2001);
}

// ---------- restarts ----------

TEST_F(DurableServerTest, WhatWasAnsweredIsThereAfterACrash) {
  Fill(10);
  Fill(3, "blue");
  ASSERT_TRUE(Bind(4).ok());
  v1::DeleteActionsResponse deleted;
  ASSERT_TRUE(Delete(7, &deleted).ok());
  v1::Action before;
  ASSERT_TRUE(Get(4, &before).ok());
  CrashAndRestart();
  v1::Action after;
  ASSERT_TRUE(Get(4, &after).ok());
  EXPECT_EQ(after.refcnt(), 2u);
  EXPECT_EQ(after.bindcnt(), 1u);
  EXPECT_EQ(after.generation(), before.generation());
  EXPECT_FALSE(Get(7, &after).ok());
  EXPECT_TRUE(Get(3, &after, "blue").ok());
  EXPECT_EQ(ActionsInAll(), 12u);
}

TEST_F(DurableServerTest, AFlushAndADeletedNamespaceStayGone) {
  Fill(10);
  Fill(3, "blue");
  {
    grpc::ClientContext context;
    v1::FlushActionsRequest request;
    v1::FlushActionsResponse response;
    request.set_kind("gact");
    ASSERT_TRUE(actions_->FlushActions(&context, request, &response).ok());
    EXPECT_EQ(response.deleted(), 10u);
  }
  {
    grpc::ClientContext context;
    v1::DeleteNamespaceRequest request;
    v1::DeleteNamespaceResponse response;
    request.set_netns("blue");
    ASSERT_TRUE(admin_->DeleteNamespace(&context, request, &response).ok());
    EXPECT_EQ(response.actions(), 3u);
  }
  CrashAndRestart();
  EXPECT_EQ(ActionsInAll(), 0u);
  EXPECT_EQ(store_->NetnsCount(), 1u);
}

TEST_F(DurableServerTest, StatisticsAreSavedAtTheEnd) {
  Fill(1);
  Count(1, 5);
  StopAndRestart();
  EXPECT_EQ(PacketsOf(1), 5u);
  Count(1, 2);
  v1::DeleteActionsResponse response;
  ASSERT_TRUE(Delete(1, &response).ok());
  EXPECT_EQ(response.actions(0).stats().packets(), 7u) << "delete returns the final statistics";
}

TEST_F(DurableServerTest, StatisticsAreSavedAtAnInterval) {
  keeper_options_.stats_interval = absl::Milliseconds(10);
  StopAndRestart();
  Fill(1);
  Count(1, 5);
  absl::SleepFor(absl::Milliseconds(500));
  CrashAndRestart();
  EXPECT_EQ(PacketsOf(1), 5u);
}

class AckedStatsTest : public DurableServerTest {
 protected:
  AckedStatsTest() { keeper_options_.stats_acked = true; }
};

TEST_F(AckedStatsTest, AnAnsweredUpdateSurvivesACrash) {
  Fill(1);
  Count(1, 5);
  CrashAndRestart();
  EXPECT_EQ(PacketsOf(1), 5u);
}

TEST_F(AckedStatsTest, AnUpdateIsCountedOnceOverRetriesAndRestarts) {
  Fill(1);
  EXPECT_FALSE(Count(1, 5, "pod", 1).already_counted());
  EXPECT_TRUE(Count(1, 5, "pod", 1).already_counted());
  CrashAndRestart();
  EXPECT_TRUE(Count(1, 5, "pod", 1).already_counted());
  EXPECT_FALSE(Count(1, 5, "pod", 2).already_counted());
  EXPECT_EQ(PacketsOf(1), 10u);
}

// ---------- request ids ----------

TEST_F(DurableServerTest, ARetryGetsTheFirstAnswerAlsoAfterACrash) {
  v1::CreateActionsResponse first;
  ASSERT_TRUE(CreateOne(0, "id", &first).ok());
  v1::CreateActionsResponse again;
  ASSERT_TRUE(CreateOne(0, "id", &again).ok());
  EXPECT_EQ(again.SerializeAsString(), first.SerializeAsString());
  CrashAndRestart();
  again.Clear();
  ASSERT_TRUE(CreateOne(0, "id", &again).ok());
  EXPECT_EQ(again.SerializeAsString(), first.SerializeAsString());
  EXPECT_EQ(ActionsInAll(), 1u);
}

TEST_F(DurableServerTest, AnIdOfAnotherRequestIsRefused) {
  ASSERT_TRUE(CreateOne(1, "id").ok());
  ExpectError(CreateOne(2, "id"), grpc::StatusCode::INVALID_ARGUMENT, "REQUEST_ID_REUSED");
  ExpectError(CreateOne(2, std::string(129, 'x')), grpc::StatusCode::INVALID_ARGUMENT,
              "INVALID_FIELD");
}

TEST_F(DurableServerTest, AFailedChangeMayBeTriedAgain) {
  ASSERT_TRUE(CreateOne(1).ok());
  ExpectError(CreateOne(1, "id"), grpc::StatusCode::ALREADY_EXISTS, "ACTION_EXISTS");
  v1::DeleteActionsResponse deleted;
  ASSERT_TRUE(Delete(1, &deleted).ok());
  EXPECT_TRUE(CreateOne(1, "id").ok());
}

// ---------- a store that fails ----------

TEST_F(DurableServerTest, AFailedCommitIsToldUndoneAndEndsChanges) {
  Fill(2);
  flaky_->Break();
  ExpectError(CreateOne(3), grpc::StatusCode::UNKNOWN, "NOT_RECORDED");
  ExpectError(CreateOne(3), grpc::StatusCode::FAILED_PRECONDITION, "READ_ONLY");
  v1::Action action;
  ExpectError(Get(3, &action), grpc::StatusCode::NOT_FOUND, "ACTION_NOT_FOUND");
  EXPECT_TRUE(Get(2, &action).ok()) << "reads go on";
  EXPECT_TRUE(Info().read_only());
  EXPECT_EQ(Info().read_only_reason(), "no space left on device");
}

TEST_F(DurableServerTest, AnApplyStreamEndsWhenItsAnswersAreLost) {
  Fill(1);
  grpc::ClientContext context;
  auto stream = actions_->Apply(&context);
  flaky_->Break();
  v1::ApplyRequest request;
  *request.add_ops()->mutable_create() = Gact(2);
  ASSERT_TRUE(stream->Write(request));
  v1::ApplyResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(InfoOf(stream->Finish()).reason(), "NOT_RECORDED");
}

TEST_F(DurableServerTest, StatisticsAreRefusedWhenTheyCannotBeKept) {
  Fill(1);
  flaky_->Break();
  EXPECT_FALSE(CreateOne(3).ok());
  grpc::ClientContext context;
  v1::UpdateStatsRequest request;
  v1::UpdateStatsResponse response;
  request.set_kind("gact");
  request.add_indexes(1);
  ExpectError(actions_->UpdateStats(&context, request, &response),
              grpc::StatusCode::FAILED_PRECONDITION, "READ_ONLY");
}

}  // namespace
}  // namespace tcact::rpc
