// Auditor: a client that knows of each of its actions what the server must say, and drives load.
//
// It owns a range of indexes of gact, so what it knows is not changed by others. It has one request
// at a time in flight; when the server dies under it, that request is in doubt, and only that one.
// After a restart Settle sends it again with the same request id (or source and sequence): it must
// then be done exactly once.
#ifndef TCACT_TESTS_FAULT_AUDITOR_H_
#define TCACT_TESTS_FAULT_AUDITOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "gtest/gtest.h"
#include "proto/tcact/v1/action_store.grpc.pb.h"

namespace tcact::fault {

class Auditor {
 public:
  static constexpr uint32_t kIndexes = 200;

  Auditor(uint32_t first_index, uint64_t seed)
      : first_(first_index), name_(absl::StrCat("auditor-", first_index)), random_(seed) {}

  void Connect(const std::shared_ptr<grpc::Channel>& channel) {
    stub_ = v1::ActionStore::NewStub(channel);
  }

  // Random changes until one is not answered, or `stop`. Any answer that contradicts what is known
  // fails the test.
  void Drive(const std::atomic<bool>* stop) {
    while (!stop->load() && pending_ == nullptr && !::testing::Test::HasFailure()) Step();
  }

  // Sends what is in doubt again; it must be done once. False: not answered again.
  bool Settle() {
    if (pending_ == nullptr) return true;
    const std::function<bool()> again = std::exchange(pending_, nullptr);
    if (again()) return true;
    return false;
  }

  // Gives up what is in doubt: either outcome is right, and the next Verify learns which.
  void Forgive() {
    if (pending_ == nullptr) return;
    pending_ = nullptr;
    doubt_ = doubt_index_;
  }

  // Compares every index with what is known.
  void Verify() {
    for (uint32_t index = first_; index < first_ + kIndexes; ++index) {
      grpc::ClientContext context;
      v1::GetActionRequest request;
      v1::Action action;
      request.mutable_key()->set_kind("gact");
      request.mutable_key()->set_index(index);
      const grpc::Status status = stub_->GetAction(&context, request, &action);
      ASSERT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::NOT_FOUND)
          << status.error_message();
      Known seen;
      if (status.ok()) seen = {true, action.bindcnt(), action.stats().packets()};
      Known& known = known_[index];
      if (index == doubt_) known = Either(known, doubt_known_, seen);
      ASSERT_EQ(seen.exists, known.exists) << "index " << index;
      ASSERT_EQ(seen.binds, known.binds) << "index " << index;
      ASSERT_EQ(seen.packets, known.packets) << "index " << index;
    }
    doubt_ = 0;
  }

  uint64_t answered() const { return answered_; }

 private:
  struct Known {
    bool exists = false;
    uint32_t binds = 0;
    uint64_t packets = 0;
    bool operator==(const Known&) const = default;
  };

  static Known Either(const Known& before, const Known& after, const Known& seen) {
    return seen == after ? after : before;
  }

  static bool Lost(const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
           status.error_code() == grpc::StatusCode::UNKNOWN ||
           status.error_code() == grpc::StatusCode::CANCELLED ||
           status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  }

  // Sends until it is answered or lost; on an answer `after` becomes what is known.
  template <typename Request, typename Response>
  void Send(uint32_t index, const Known& after, Request request,
            grpc::Status (v1::ActionStore::Stub::*method)(grpc::ClientContext*, const Request&,
                                                          Response*)) {
    doubt_index_ = index;
    doubt_known_ = after;
    const auto attempt = [this, index, after, request, method] {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
      Response response;
      const grpc::Status status = (stub_.get()->*method)(&context, request, &response);
      if (Lost(status)) return false;
      if (status.error_code() == grpc::StatusCode::FAILED_PRECONDITION &&
          status.error_message().find("read-only") != std::string::npos) {
        refused_ = true;
        return true;
      }
      EXPECT_TRUE(status.ok()) << index << ": " << status.error_message();
      known_[index] = after;
      ++answered_;
      return true;
    };
    if (!attempt()) pending_ = attempt;
  }

  void Step() {
    const uint32_t index = first_ + static_cast<uint32_t>(random_() % kIndexes);
    Known after = known_[index];
    const std::string id = absl::StrCat(name_, "-", ++requests_);
    v1::ActionKey key;
    key.set_kind("gact");
    key.set_index(index);
    v1::Action action;
    action.set_index(index);
    action.mutable_gact()->mutable_verdict()->set_type(v1::Verdict::TYPE_DROP);
    if (!after.exists) {
      v1::CreateActionsRequest request;
      request.set_request_id(id);
      *request.add_actions() = action;
      after.exists = true;
      return Send(index, after, request, &v1::ActionStore::Stub::CreateActions);
    }
    switch (random_() % 4) {
      case 0: {
        v1::BindRequest request;
        request.set_request_id(id);
        *request.add_actions() = action;
        ++after.binds;
        return Send(index, after, request, &v1::ActionStore::Stub::Bind);
      }
      case 1: {
        v1::UpdateStatsRequest request;
        request.set_kind("gact");
        request.add_indexes(index);
        request.add_packets(3);
        request.set_source(name_);
        request.set_sequence(requests_);
        after.packets += 3;
        return Send(index, after, request, &v1::ActionStore::Stub::UpdateStats);
      }
      default:
        break;
    }
    if (after.binds != 0) {
      v1::UnbindRequest request;
      request.set_request_id(id);
      *request.add_keys() = key;
      --after.binds;
      return Send(index, after, request, &v1::ActionStore::Stub::Unbind);
    }
    v1::DeleteActionsRequest request;
    request.set_request_id(id);
    *request.add_keys() = key;
    Send(index, Known(), request, &v1::ActionStore::Stub::DeleteActions);
  }

 public:
  // The server said READ_ONLY.
  bool refused() const { return refused_; }
  bool in_doubt() const { return pending_ != nullptr; }

 private:
  const uint32_t first_;
  const std::string name_;
  std::mt19937_64 random_;
  std::unique_ptr<v1::ActionStore::Stub> stub_;
  std::map<uint32_t, Known> known_;
  uint64_t requests_ = 0;
  uint64_t answered_ = 0;
  std::function<bool()> pending_;
  uint32_t doubt_index_ = 0;
  Known doubt_known_;
  uint32_t doubt_ = 0;  // 0: none
  bool refused_ = false;
};

}  // namespace tcact::fault

#endif  // TCACT_TESTS_FAULT_AUDITOR_H_
