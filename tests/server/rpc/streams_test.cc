// Apply and DumpActions, and how all of it ends.
#include <chrono>
#include <thread>

#include "absl/strings/match.h"
#include "absl/synchronization/notification.h"
#include "tests/server/rpc/server_fixture.h"

namespace tcact::rpc {
namespace {

using grpc::StatusCode;

class StreamsTest : public ServerTest {
 protected:
  v1::ApplyRequest CreateBatch(uint64_t id, uint32_t first, uint32_t count) {
    v1::ApplyRequest request;
    request.set_batch_id(id);
    for (uint32_t i = 0; i < count; ++i) *request.add_ops()->mutable_create() = Gact(first + i);
    return request;
  }

  static v1::DumpActionsRequest DumpOf(const std::string& kind) {
    v1::DumpActionsRequest request;
    request.set_kind(kind);
    return request;
  }
};

TEST_F(StreamsTest, ApplyAnswersEachOperationByItself) {
  grpc::ClientContext context;
  auto stream = actions_->Apply(&context);
  v1::ApplyRequest request;
  request.set_batch_id(42);
  request.set_view(v1::ACTION_VIEW_FULL);
  *request.add_ops()->mutable_create() = Gact(0);
  *request.add_ops()->mutable_create() = Gact(1);  // in use by now
  *request.add_ops()->mutable_replace() = Gact(1);
  auto* stats = request.add_ops()->mutable_stats();
  *stats->mutable_key() = Key(1);
  stats->mutable_delta()->set_packets(2);
  stats->mutable_delta()->set_hw_packets(3);
  *request.add_ops()->mutable_get() = Key(1);
  *request.add_ops()->mutable_bind() = Gact(1);
  *request.add_ops()->mutable_delete_() = Key(1);  // bound
  *request.add_ops()->mutable_unbind() = Key(1);
  *request.add_ops()->mutable_reset_stats() = Key(1);
  *request.add_ops()->mutable_delete_() = Key(1);
  request.add_ops();  // nothing
  *request.add_ops()->mutable_get() = Key(0);
  ASSERT_TRUE(stream->Write(request));
  v1::ApplyResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.batch_id(), 42u);
  ASSERT_EQ(response.indexes_size(), 12);
  for (const int done : {0, 2, 3, 4, 5, 7, 8, 9}) EXPECT_EQ(response.indexes(done), 1u) << done;
  for (const int failed : {1, 6, 10, 11}) EXPECT_EQ(response.indexes(failed), 0u) << failed;
  ASSERT_EQ(response.errors_size(), 4);
  EXPECT_EQ(response.errors(0).position(), 1u);
  EXPECT_EQ(response.errors(0).reason(), "ACTION_EXISTS");
  EXPECT_EQ(response.errors(1).reason(), "ACTION_BOUND");
  EXPECT_EQ(response.errors(1).code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(response.errors(2).reason(), "INVALID_FIELD");
  EXPECT_EQ(response.errors(3).position(), 11u);
  ASSERT_EQ(response.actions_size(), 3);  // get, unbind, delete
  EXPECT_EQ(response.actions(0).stats().packets(), 5u);
  EXPECT_EQ(response.actions(0).stats().hw_packets(), 3u);
  EXPECT_EQ(response.actions(2).stats().packets(), 0u);
  stream->WritesDone();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(ActionsInAll(), 0u);
}

TEST_F(StreamsTest, ApplyAnswersManyBatchesInOrder) {
  grpc::ClientContext context;
  auto stream = actions_->Apply(&context);
  constexpr uint64_t kBatches = 200;
  std::thread writer([&] {
    for (uint64_t i = 0; i < kBatches; ++i) {
      if (!stream->Write(CreateBatch(i, static_cast<uint32_t>(i * 32 + 1), 32))) break;
    }
    stream->WritesDone();
  });
  v1::ApplyResponse response;
  uint64_t answered = 0;
  while (stream->Read(&response)) {
    EXPECT_EQ(response.batch_id(), answered++);
    EXPECT_EQ(response.errors_size(), 0);
  }
  writer.join();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(answered, kBatches);
  EXPECT_EQ(ActionsInAll(), kBatches * 32);
}

TEST_F(StreamsTest, ApplyOf4097OperationsEndsTheStreamAndDoesNothing) {
  grpc::ClientContext context;
  auto stream = actions_->Apply(&context);
  stream->Write(CreateBatch(1, 1, 10));
  stream->Write(CreateBatch(2, 100, 4097));
  v1::ApplyResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.batch_id(), 1u);
  EXPECT_FALSE(stream->Read(&response));
  ExpectError(stream->Finish(), StatusCode::INVALID_ARGUMENT, "BATCH_TOO_LARGE");
  EXPECT_EQ(ActionsInAll(), 10u);
}

TEST_F(StreamsTest, ApplyStopsAtTheFirstErrorIfAsked) {
  grpc::ClientContext context;
  auto stream = actions_->Apply(&context);
  v1::ApplyRequest request = CreateBatch(1, 1, 3);
  *request.add_ops()->mutable_create() = Gact(2);  // in use by now
  *request.add_ops()->mutable_create() = Gact(50);
  request.set_stop_on_error(true);
  ASSERT_TRUE(stream->Write(request));
  // May fail already: the stream may have ended. Either way nothing of it is done.
  stream->Write(CreateBatch(2, 100, 3));
  v1::ApplyResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.batch_id(), 1u);
  ASSERT_EQ(response.indexes_size(), 4);
  EXPECT_EQ(response.indexes(2), 3u);
  EXPECT_EQ(response.indexes(3), 0u);
  ASSERT_EQ(response.errors_size(), 1);
  EXPECT_EQ(response.errors(0).position(), 3u);
  EXPECT_FALSE(stream->Read(&response));
  ExpectError(stream->Finish(), StatusCode::ALREADY_EXISTS, "ACTION_EXISTS");
  EXPECT_EQ(ActionsInAll(), 3u);
}

TEST_F(StreamsTest, ApplyThatMayStopGoesOnWhileAllIsWell) {
  grpc::ClientContext context;
  auto stream = actions_->Apply(&context);
  v1::ApplyResponse response;
  for (uint64_t i = 0; i < 10; ++i) {
    v1::ApplyRequest request = CreateBatch(i, static_cast<uint32_t>(i * 10 + 1), 10);
    request.set_stop_on_error(true);
    ASSERT_TRUE(stream->Write(request));
    ASSERT_TRUE(stream->Read(&response));
  }
  stream->WritesDone();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(ActionsInAll(), 100u);
}

TEST_F(StreamsTest, ApplyCreatesAListWholeOrNotAtAll) {
  grpc::ClientContext context;
  auto stream = actions_->Apply(&context);
  v1::ApplyRequest request;
  auto* list = request.add_ops()->mutable_create_all();
  for (const uint32_t index : {7u, 0u, 8u}) *list->add_actions() = Gact(index);
  list = request.add_ops()->mutable_create_all();
  for (const uint32_t index : {20u, 7u}) *list->add_actions() = Gact(index);  // 7 is in use by now
  request.add_ops()->mutable_create_all();                                    // nothing
  list = request.add_ops()->mutable_create_all();
  *list->add_actions() = Gact(0);
  list->mutable_actions(0)->set_cookie(std::string(17, 'c'));
  ASSERT_TRUE(stream->Write(request));
  v1::ApplyResponse response;
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_EQ(response.indexes_size(), 4);
  EXPECT_EQ(response.indexes(0), 7u);
  ASSERT_EQ(response.errors_size(), 3);
  EXPECT_EQ(response.errors(0).position(), 1u);
  EXPECT_EQ(response.errors(0).reason(), "ACTION_EXISTS");
  EXPECT_EQ(response.errors(1).reason(), "INVALID_FIELD");
  EXPECT_TRUE(absl::StrContains(response.errors(2).message(), "create_all.actions[0].cookie"))
      << response.errors(2).message();
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(ActionsInAll(), 3u);
}

TEST_F(StreamsTest, ApplyCountsTheEntriesOfListsToo) {
  grpc::ClientContext context;
  auto stream = actions_->Apply(&context);
  v1::ApplyRequest request;
  auto* list = request.add_ops()->mutable_create_all();
  for (int i = 0; i < kMaxBatchEntries; ++i) list->add_actions();
  stream->Write(request);
  v1::ApplyResponse response;
  EXPECT_FALSE(stream->Read(&response));
  ExpectError(stream->Finish(), StatusCode::INVALID_ARGUMENT, "BATCH_TOO_LARGE");
}

TEST_F(StreamsTest, DumpShowsEachActionOnceAscending) {
  Fill(5000);
  grpc::ClientContext context;
  auto reader = actions_->DumpActions(&context, DumpOf("gact"));
  v1::DumpActionsResponse response;
  uint32_t last = 0;
  int messages = 0;
  while (reader->Read(&response)) {
    ++messages;
    EXPECT_LE(response.actions_size(), kDumpSlice);
    for (const auto& action : response.actions()) EXPECT_EQ(action.index(), ++last);
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(last, 5000u);
  EXPECT_GE(messages, 5000 / kDumpSlice);
}

TEST_F(StreamsTest, DumpOfAnEmptyTableEndsWell) {
  grpc::ClientContext context;
  auto reader = actions_->DumpActions(&context, DumpOf("police"));
  v1::DumpActionsResponse response;
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(StreamsTest, DumpWithPollMarksWhatHardwareCouldTake) {
  Fill(1);
  v1::Action action;
  ASSERT_TRUE(Get(1, &action).ok());
  EXPECT_EQ(action.used_hw_stats(), v1::HW_STATS_UNSPECIFIED);
  grpc::ClientContext context;
  v1::DumpActionsRequest request = DumpOf("gact");
  request.set_poll_hw_stats(true);
  auto reader = actions_->DumpActions(&context, request);
  v1::DumpActionsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.actions(0).used_hw_stats(), v1::HW_STATS_DISABLED);
  EXPECT_TRUE(reader->Finish().ok());
  ASSERT_TRUE(Get(1, &action).ok());
  EXPECT_EQ(action.used_hw_stats(), v1::HW_STATS_DISABLED);
}

TEST_F(StreamsTest, DumpOfAnUnknownKindIsRefused) {
  grpc::ClientContext context;
  auto reader = actions_->DumpActions(&context, DumpOf("nosuch"));
  v1::DumpActionsResponse response;
  EXPECT_FALSE(reader->Read(&response));
  ExpectError(reader->Finish(), StatusCode::INVALID_ARGUMENT, "UNKNOWN_KIND");
}

TEST_F(StreamsTest, TooManyDumpsAreRefusedAndTheirPlacesComeBack) {
  Fill(50'000);
  struct Open {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::DumpActionsResponse>> reader;
  };
  std::vector<std::unique_ptr<Open>> open;
  v1::DumpActionsResponse response;
  for (int i = 0; i < kMaxDumps; ++i) {
    open.push_back(std::make_unique<Open>());
    open.back()->reader = actions_->DumpActions(&open.back()->context, DumpOf("gact"));
    ASSERT_TRUE(open.back()->reader->Read(&response)) << i;
  }
  grpc::ClientContext context;
  auto reader = actions_->DumpActions(&context, DumpOf("gact"));
  ASSERT_FALSE(reader->Read(&response));
  ExpectError(reader->Finish(), StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED");
  for (auto& one : open) {
    one->context.TryCancel();
    EXPECT_EQ(one->reader->Finish().error_code(), StatusCode::CANCELLED);
  }
  bool served = false;
  for (int i = 0; i < 500 && !served; ++i) {
    grpc::ClientContext again;
    auto next = actions_->DumpActions(&again, DumpOf("gact"));
    served = next->Read(&response);
    again.TryCancel();
    (void)next->Finish();
    if (!served) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(served);
}

TEST_F(StreamsTest, ADumpThatNobodyReadsHoldsNobodyUpAndLittleMemory) {
  Fill(200'000);
  const auto resident = [this] {
    grpc::ClientContext context;
    v1::GetServerInfoRequest request;
    v1::GetServerInfoResponse response;
    EXPECT_TRUE(admin_->GetServerInfo(&context, request, &response).ok());
    return response.resident_bytes();
  };
  const uint64_t before = resident();
  auto channel = NewChannel();
  auto stub = v1::ActionStore::NewStub(channel);
  grpc::ClientContext context;
  auto reader = stub->DumpActions(&context, DumpOf("gact"));
  v1::DumpActionsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  for (uint32_t i = 1; i <= 1000; ++i) {
    v1::Action action;
    ASSERT_TRUE(Get(i, &action).ok());
  }
  // The whole dump is some 15 MB of messages; what is on its way is a slice and the sockets'
  // buffers.
  // With a sanitizer, shadow memory and quarantines count too.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr uint64_t kSlack = uint64_t{64} << 20;
#else
  constexpr uint64_t kSlack = uint64_t{12} << 20;
#endif
  EXPECT_LT(resident(), before + kSlack);
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::CANCELLED);
}

TEST_F(StreamsTest, ADumpPastItsDeadlineEnds) {
  Fill(200'000);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  auto reader = actions_->DumpActions(&context, DumpOf("gact"));
  v1::DumpActionsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::DEADLINE_EXCEEDED);
}

class StallTest : public StreamsTest {
 protected:
  StallTest() { server_options_.stall = absl::Seconds(1); }
};

TEST_F(StallTest, ADumpThatNobodyReadsIsCancelledInTheEnd) {
  Fill(200'000);
  grpc::ClientContext context;
  auto reader = actions_->DumpActions(&context, DumpOf("gact"));
  v1::DumpActionsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  std::this_thread::sleep_for(std::chrono::seconds(4));
  while (reader->Read(&response)) {
  }
  EXPECT_FALSE(reader->Finish().ok());
}

TEST_F(StreamsTest, ShutdownEndsStreamsWithUnavailableAndAnswersWhatWasDone) {
  Fill(200'000);
  grpc::ClientContext apply_context;
  auto apply = actions_->Apply(&apply_context);
  apply->Write(CreateBatch(7, 300'001, 10));
  v1::ApplyResponse answer;
  ASSERT_TRUE(apply->Read(&answer));
  grpc::ClientContext dump_context;
  auto dump = actions_->DumpActions(&dump_context, DumpOf("gact"));
  v1::DumpActionsResponse response;
  ASSERT_TRUE(dump->Read(&response));

  const absl::Time start = absl::Now();
  std::thread ending([this] { server_->Shutdown(absl::Seconds(20)); });
  EXPECT_FALSE(apply->Read(&answer));
  EXPECT_EQ(apply->Finish().error_code(), StatusCode::UNAVAILABLE);
  while (dump->Read(&response)) {
  }
  EXPECT_EQ(dump->Finish().error_code(), StatusCode::UNAVAILABLE);
  ending.join();
  EXPECT_LT(absl::Now() - start, absl::Seconds(15));
  v1::Action action;
  EXPECT_EQ(Get(1, &action).error_code(), StatusCode::UNAVAILABLE);
}

TEST_F(StreamsTest, ShutdownCutsAStalledDumpAtItsDeadline) {
  Fill(200'000);
  grpc::ClientContext context;
  auto dump = actions_->DumpActions(&context, DumpOf("gact"));
  v1::DumpActionsResponse response;
  ASSERT_TRUE(dump->Read(&response));
  // Until its windows are full and it stalls.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const absl::Time start = absl::Now();
  server_->Shutdown(absl::Seconds(1));
  EXPECT_GT(absl::Now() - start, absl::Milliseconds(900));
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  while (dump->Read(&response)) {
  }
  EXPECT_EQ(dump->Finish().error_code(), StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace tcact::rpc
