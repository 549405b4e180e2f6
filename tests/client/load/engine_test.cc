#include "client/load/engine.h"

#include <atomic>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/lib/channel.h"
#include "gtest/gtest.h"
#include "tests/client/lib/fake_server.h"

namespace tcact::load {
namespace {

using client::FakeServer;
using client::FakeStore;

constexpr uint64_t kMs = 1000000;

// Sends empty messages, and notes what the engine promises.
class EmptySlot : public Slot {
 public:
  explicit EmptySlot(std::atomic<int>* broken) : broken_(broken) {}

  const std::string& Next(uint64_t batch_id, grpc::ByteBuffer* body) override {
    if (under_way_) ++*broken_;
    under_way_ = true;
    v1::ApplyRequest request;
    request.set_batch_id(batch_id);
    bool own = false;
    (void)grpc::SerializationTraits<v1::ApplyRequest>::Serialize(request, body, &own);
    id_ = batch_id;
    return method_;
  }
  void OnReply(grpc::ByteBuffer* reply, Outcome* outcome) override {
    if (!under_way_) ++*broken_;
    under_way_ = false;
    v1::ApplyResponse answer;
    (void)grpc::SerializationTraits<v1::ApplyResponse>::Deserialize(reply, &answer);
    if (id_ != 0 && answer.batch_id() != id_) ++*broken_;
    ++outcome->operations;
  }
  void OnFailure() override { under_way_ = false; }
  bool clean() const override { return true; }

 private:
  const std::string method_ = "/tcact.v1.ActionStore/GetAction";
  std::atomic<int>* const broken_;
  bool under_way_ = false;
  uint64_t id_ = 0;
};

class EngineTest : public testing::Test {
 protected:
  Tally Run(const EnginePlan& plan, int lanes, int slots) {
    std::vector<Lane> all;
    for (int i = 0; i < lanes; ++i) {
      Lane lane{
          .channel = *client::MakeChannel({.address = fake_.address(), .own_connection = true}),
          .slots = {}};
      for (int j = 0; j < slots; ++j) lane.slots.push_back(std::make_unique<EmptySlot>(&broken_));
      all.push_back(std::move(lane));
    }
    return RunEngine(plan, std::move(all), [this](const Progress& p) { last_ = p; });
  }

  static uint64_t Operations(const Tally& tally) {
    uint64_t sum = 0;
    for (const Second& second : tally.seconds) sum += second.operations;
    return sum;
  }

  // Answers every batch at once.
  static grpc::Status Echo(FakeStore::ApplyStream* stream) {
    v1::ApplyRequest request;
    v1::ApplyResponse response;
    while (stream->Read(&request)) {
      response.set_batch_id(request.batch_id());
      if (!stream->Write(response)) break;
    }
    return grpc::Status::OK;
  }

  static EnginePlan StreamPlan() {
    EnginePlan plan;
    plan.transport = Transport::kStream;
    plan.stream_method = "/tcact.v1.ActionStore/Apply";
    plan.duration = absl::Milliseconds(300);
    return plan;
  }

  FakeServer fake_;
  std::atomic<int> broken_{0};
  Progress last_;
};

TEST_F(EngineTest, UnaryCallsKeepEverySlotBusyOneMessageAtATime) {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  fake_.store.on_get = [&](const v1::GetActionRequest&, v1::Action*) {
    int with_me = ++now;
    int seen = most;
    while (seen < with_me && !most.compare_exchange_weak(seen, with_me)) {
    }
    absl::SleepFor(absl::Milliseconds(20));
    --now;
    return grpc::Status::OK;
  };
  EnginePlan plan;
  plan.duration = absl::Milliseconds(500);
  const Tally tally = Run(plan, 1, 4);
  EXPECT_EQ(broken_, 0);
  EXPECT_TRUE(tally.errors.empty());
  EXPECT_EQ(most, 4);
  EXPECT_GE(tally.latency_ns.min(), 20 * kMs);
  EXPECT_GT(Operations(tally), 0u);
}

TEST_F(EngineTest, AStreamsAnswersReachTheirSlotsInOrder) {
  fake_.store.on_apply = Echo;
  EnginePlan plan = StreamPlan();
  plan.threads = 2;
  const Tally tally = Run(plan, 3, 5);
  EXPECT_EQ(broken_, 0);
  EXPECT_TRUE(tally.errors.empty()) << tally.errors.begin()->second.example;
  EXPECT_GT(Operations(tally), 100u);
  EXPECT_EQ(tally.unfinished, 0u);
}

TEST_F(EngineTest, WarmUpIsNotMeasured) {
  fake_.store.on_apply = Echo;
  EnginePlan plan = StreamPlan();
  plan.warmup = absl::Milliseconds(700);
  plan.duration = absl::Milliseconds(100);
  const Tally tally = Run(plan, 1, 1);
  EXPECT_LT(Operations(tally), last_.operations / 2) << "most of it came during the warm-up";
}

// The point of an open loop: while the server stalls for half a second, messages stay due, and each
// counts the wait that it would have seen.
TEST_F(EngineTest, AStallShowsInTheLatencyOfAllThatWasDueMeanwhile) {
  const absl::Time start = absl::Now();
  absl::Mutex stalled;
  fake_.store.on_get = [&](const v1::GetActionRequest&, v1::Action*) {
    absl::MutexLock lock(&stalled);
    const absl::Time end = start + absl::Milliseconds(700);
    if (absl::Now() > start + absl::Milliseconds(200) && absl::Now() < end) {
      absl::SleepFor(end - absl::Now());
    }
    return grpc::Status::OK;
  };
  EnginePlan plan;
  plan.duration = absl::Seconds(1);
  plan.messages_per_second = 200;
  const Tally tally = Run(plan, 1, 1);
  // About 100 of 200 messages were due in the stall, evenly over it: a quarter of all waited 250 ms
  // and more. A closed loop, or one that counts from the sending, would show a single slow message.
  EXPECT_NEAR(static_cast<double>(tally.latency_ns.count()), 200, 60);
  EXPECT_GT(tally.latency_ns.CountBetween(250 * kMs, UINT64_MAX), 25u);
  EXPECT_GT(tally.latency_ns.Percentile(90), 200 * kMs);
  EXPECT_EQ(tally.never_sent, 0u);
}

TEST_F(EngineTest, AnIdleServerSeesTheAskedRateAndNoWaiting) {
  fake_.store.on_get = [](const v1::GetActionRequest&, v1::Action*) { return grpc::Status::OK; };
  EnginePlan plan;
  plan.duration = absl::Seconds(1);
  plan.messages_per_second = 300;
  const Tally tally = Run(plan, 1, 8);
  EXPECT_NEAR(static_cast<double>(tally.latency_ns.count()), 300, 90);
  EXPECT_LT(tally.latency_ns.Percentile(50), 20 * kMs);
}

TEST_F(EngineTest, AServerThatCannotKeepUpLeavesMessagesUnsent) {
  fake_.store.on_get = [](const v1::GetActionRequest&, v1::Action*) {
    absl::SleepFor(absl::Milliseconds(50));
    return grpc::Status::OK;
  };
  EnginePlan plan;
  plan.duration = absl::Milliseconds(300);
  plan.drain = absl::Milliseconds(300);
  plan.messages_per_second = 1000;
  const Tally tally = Run(plan, 1, 1);
  EXPECT_GT(tally.never_sent, 200u);
}

TEST_F(EngineTest, ErrorsAreCountedByCodeAndReason) {
  fake_.store.on_get = [](const v1::GetActionRequest&, v1::Action*) {
    return client::WithReason(grpc::StatusCode::NOT_FOUND, "no gact 7", "ACTION_NOT_FOUND");
  };
  EnginePlan plan;
  plan.duration = absl::Milliseconds(100);
  const Tally tally = Run(plan, 1, 1);
  ASSERT_EQ(tally.errors.size(), 1u);
  const auto& [key, error] = *tally.errors.begin();
  EXPECT_EQ(key.first, absl::StatusCode::kNotFound);
  EXPECT_EQ(key.second, "ACTION_NOT_FOUND");
  EXPECT_EQ(error.example, "no gact 7");
  EXPECT_LT(error.count, 50u) << "errors at once are not repeated at full speed";
  EXPECT_EQ(Operations(tally), 0u);
}

TEST_F(EngineTest, AStreamThatBreaksEndsTheRunWithAnError) {
  fake_.store.on_apply = [](FakeStore::ApplyStream* stream) {
    v1::ApplyRequest request;
    stream->Read(&request);
    return client::WithReason(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many", "QUOTA_EXCEEDED");
  };
  EnginePlan plan = StreamPlan();
  plan.duration = absl::Seconds(20);
  const absl::Time start = absl::Now();
  const Tally tally = Run(plan, 1, 3);
  EXPECT_LT(absl::Now() - start, absl::Seconds(5)) << "no slot is left, so the run ends early";
  ASSERT_EQ(tally.errors.size(), 1u);
  EXPECT_EQ(tally.errors.begin()->first.second, "QUOTA_EXCEEDED");
}

TEST_F(EngineTest, WhatNeverAnswersIsGivenUpAfterTheDrain) {
  fake_.store.on_apply = [](FakeStore::ApplyStream* stream) {
    v1::ApplyRequest request;
    while (stream->Read(&request)) {
    }
    return grpc::Status::OK;
  };
  EnginePlan plan = StreamPlan();
  plan.duration = absl::Milliseconds(100);
  plan.drain = absl::Milliseconds(200);
  const Tally tally = Run(plan, 1, 3);
  EXPECT_EQ(tally.unfinished, 3u);
}

}  // namespace
}  // namespace tcact::load
