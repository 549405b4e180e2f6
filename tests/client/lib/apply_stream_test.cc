#include "client/lib/apply_stream.h"

#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/lib/client.h"
#include "client/lib/status.h"
#include "gtest/gtest.h"
#include "tests/client/lib/fake_server.h"

namespace tcact::client {
namespace {

class ApplyStreamTest : public testing::Test {
 protected:
  ApplyStreamTest() {
    Options options;
    options.channel.address = fake_.address();
    options.channel.own_connection = true;
    client_ = *Client::Connect(options);
  }

  std::unique_ptr<ApplyStream> Open(int window) {
    return client_->Apply({.window = window}, [this](const v1::ApplyResponse& answer) {
      answers_.push_back(answer.batch_id());
    });
  }

  // Answers every batch at once.
  static grpc::Status Echo(FakeStore::ApplyStream* stream) {
    v1::ApplyRequest request;
    v1::ApplyResponse response;
    while (stream->Read(&request)) {
      response.set_batch_id(request.batch_id());
      stream->Write(response);
    }
    return grpc::Status::OK;
  }

  FakeServer fake_;
  std::unique_ptr<Client> client_;
  std::vector<uint64_t> answers_;  // of the stream's thread until Finish
};

TEST_F(ApplyStreamTest, AnswersComeOnceAndInOrder) {
  fake_.store.on_apply = Echo;
  auto stream = Open(4);
  std::vector<uint64_t> sent;
  for (int i = 0; i < 100; ++i) {
    v1::ApplyRequest request;
    const auto id = stream->Send(&request);
    ASSERT_TRUE(id.ok()) << id.status();
    sent.push_back(*id);
  }
  EXPECT_TRUE(stream->Finish().ok()) << stream->Finish();
  EXPECT_EQ(answers_, sent);
  EXPECT_EQ(stream->in_flight(), 0);
}

TEST_F(ApplyStreamTest, SendWaitsWhileTheWindowIsFull) {
  absl::Notification answer;
  fake_.store.on_apply = [&](FakeStore::ApplyStream* stream) {
    answer.WaitForNotification();
    return Echo(stream);
  };
  auto stream = Open(2);
  std::atomic<int> sent{0};
  std::thread sender([&] {
    for (int i = 0; i < 3; ++i) {
      v1::ApplyRequest request;
      ASSERT_TRUE(stream->Send(&request).ok());
      ++sent;
    }
  });
  while (sent < 2) absl::SleepFor(absl::Milliseconds(1));
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_EQ(sent, 2) << "the third waits";
  EXPECT_EQ(stream->in_flight(), 2);
  answer.Notify();
  sender.join();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(answers_.size(), 3u);
}

TEST_F(ApplyStreamTest, AnAnswerOutOfOrderEndsTheStream) {
  fake_.store.on_apply = [](FakeStore::ApplyStream* stream) {
    v1::ApplyRequest request;
    stream->Read(&request);
    v1::ApplyResponse response;
    response.set_batch_id(request.batch_id() + 1);
    stream->Write(response);
    stream->Read(&request);
    return grpc::Status::OK;
  };
  auto stream = Open(4);
  v1::ApplyRequest request;
  ASSERT_TRUE(stream->Send(&request).ok());
  const absl::Status status = stream->Finish();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), "answer to batch 2 where batch 1 was due");
  EXPECT_TRUE(answers_.empty());
}

TEST_F(ApplyStreamTest, AServerThatEndsTheStreamWithAnErrorWakesTheSender) {
  fake_.store.on_apply = [](FakeStore::ApplyStream* stream) {
    v1::ApplyRequest request;
    stream->Read(&request);
    return WithReason(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many", "QUOTA_EXCEEDED");
  };
  auto stream = Open(1);
  v1::ApplyRequest request;
  ASSERT_TRUE(stream->Send(&request).ok());
  EXPECT_FALSE(stream->Send(&request).ok()) << "the window is full and no answer will come";
  EXPECT_EQ(Reason(stream->Finish()), "QUOTA_EXCEEDED");
}

TEST_F(ApplyStreamTest, AServerThatLeavesABatchUnansweredIsAnError) {
  fake_.store.on_apply = [](FakeStore::ApplyStream* stream) {
    v1::ApplyRequest request;
    while (stream->Read(&request)) {
    }
    return grpc::Status::OK;
  };
  auto stream = Open(4);
  v1::ApplyRequest request;
  ASSERT_TRUE(stream->Send(&request).ok());
  EXPECT_EQ(stream->Finish().message(), "the server ended the stream after 0 of 1 answers");
}

TEST_F(ApplyStreamTest, CancelEndsAStreamThatHangs) {
  fake_.store.on_apply = [](FakeStore::ApplyStream* stream) {
    v1::ApplyRequest request;
    while (stream->Read(&request)) {
    }
    return grpc::Status::CANCELLED;
  };
  auto stream = Open(1);
  v1::ApplyRequest request;
  ASSERT_TRUE(stream->Send(&request).ok());
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(20));
    stream->Cancel();
  });
  EXPECT_FALSE(stream->Send(&request).ok());
  canceller.join();
  EXPECT_EQ(stream->Finish().code(), absl::StatusCode::kCancelled);
}

// Both sides hold more than the transport does: a client that read its answers only between two
// writes would hang here.
TEST_F(ApplyStreamTest, LargeBatchesAndLargeAnswersDoNotBlockEachOther) {
  fake_.store.on_apply = [](FakeStore::ApplyStream* stream) {
    v1::ApplyRequest request;
    v1::ApplyResponse response;
    response.add_errors()->set_message(std::string(1 << 20, 'x'));
    while (stream->Read(&request)) {
      response.set_batch_id(request.batch_id());
      stream->Write(response);
    }
    return grpc::Status::OK;
  };
  auto stream = Open(16);
  v1::ApplyRequest request;
  request.set_netns(std::string(1 << 20, 'n'));
  for (int i = 0; i < 48; ++i) ASSERT_TRUE(stream->Send(&request).ok());
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(answers_.size(), 48u);
}

TEST_F(ApplyStreamTest, OneThatIsLeftDoesNotHang) {
  fake_.store.on_apply = Echo;
  auto stream = Open(4);
  v1::ApplyRequest request;
  ASSERT_TRUE(stream->Send(&request).ok());
  stream.reset();
}

}  // namespace
}  // namespace tcact::client
