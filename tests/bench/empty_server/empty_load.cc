// Drives empty_server with the load tester's engine, with messages of the sizes that the churn
// scenario has, and prints operations a second.
//
//   empty_load --server=unix:/path --mode=unary|apply --ops-per-message=N
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/synchronization/mutex.h"
#include "client/lib/channel.h"
#include "client/load/action_slot.h"
#include "client/load/engine.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "proto/tcact/v1/action_store.pb.h"
#include "tests/bench/empty_server/empty.pb.h"

ABSL_FLAG(std::string, server, "unix:/tmp/tcact_empty.sock", "address");
ABSL_FLAG(std::string, mode, "apply", "unary or apply");
ABSL_FLAG(int, ops_per_message, 1, "operations of one message");
ABSL_FLAG(absl::Duration, duration, absl::Seconds(2), "measured time");

namespace tcact::bench {
namespace {

// Sends in turn what has the size of a create and of a delete.
class EmptySlot : public load::Slot {
 public:
  EmptySlot(bool unary, uint32_t ops) : unary_(unary), ops_(ops) {
    v1::Operation create;
    *create.mutable_create() = load::SampleAction("gact");
    v1::Operation destroy;
    destroy.mutable_delete_()->set_kind("gact");
    destroy.mutable_delete_()->set_index(300);
    for (const v1::Operation* op : {&create, &destroy}) {
      EmptyBatch batch;
      // The inner message's bytes; tag and length come on top in both.
      for (uint32_t i = 0; i < ops_; ++i) {
        batch.add_operations()->set_payload(std::string(op->ByteSizeLong() - 2, 'x'));
      }
      batches_.push_back(batch);
    }
    // A unary create and delete of one action, and their answers.
    v1::CreateActionsRequest create_request;
    create_request.set_netns("load");
    create_request.set_view(v1::ACTION_VIEW_TERSE);
    v1::DeleteActionsRequest delete_request;
    delete_request.set_netns("load");
    v1::CreateActionsResponse terse;
    v1::DeleteActionsResponse full;
    for (uint32_t i = 0; i < ops_; ++i) {
      *create_request.add_actions() = create.create();
      *delete_request.add_keys() = destroy.delete_();
      terse.add_actions()->set_index(300);
      terse.mutable_actions(i)->set_kind("gact");
      v1::Action* action = full.add_actions();
      *action = create.create();
      action->set_index(300);
      action->set_kind("gact");
      action->set_refcnt(1);
      action->set_generation(1000000);
      action->mutable_stats();
    }
    AddRequest(create_request.ByteSizeLong(), terse.ByteSizeLong());
    AddRequest(delete_request.ByteSizeLong(), full.ByteSizeLong());
  }

  const std::string& Next(uint64_t batch_id, grpc::ByteBuffer* body) override {
    turn_ = 1 - turn_;
    bool own = false;
    if (unary_) {
      (void)grpc::SerializationTraits<EmptyRequest>::Serialize(requests_[turn_], body, &own);
      return call_;
    }
    batches_[turn_].set_batch_id(batch_id);
    (void)grpc::SerializationTraits<EmptyBatch>::Serialize(batches_[turn_], body, &own);
    return stream_;
  }

  void OnReply(grpc::ByteBuffer* reply, load::Outcome* outcome) override {
    bool sound = false;
    if (unary_) {
      EmptyResponse response;
      sound = grpc::SerializationTraits<EmptyResponse>::Deserialize(reply, &response).ok() &&
              response.payload().size() == requests_[turn_].reply_bytes();
    } else {
      EmptyBatchResponse response;
      sound = grpc::SerializationTraits<EmptyBatchResponse>::Deserialize(reply, &response).ok() &&
              response.indexes_size() == static_cast<int>(ops_);
    }
    if (sound) {
      outcome->operations += ops_;
    } else {
      outcome->errors.push_back(absl::InternalError("the answer does not fit"));
    }
  }
  void OnFailure() override {}
  bool clean() const override { return true; }

 private:
  void AddRequest(size_t request_bytes, size_t reply_bytes) {
    EmptyRequest request;
    // A payload's tag and length, and reply_bytes, take about six bytes of the message.
    request.set_payload(std::string(request_bytes > 6 ? request_bytes - 6 : 0, 'x'));
    request.set_reply_bytes(static_cast<uint32_t>(reply_bytes > 2 ? reply_bytes - 2 : 0));
    requests_.push_back(request);
  }

  const std::string call_ = "/tcact.bench.Empty/Call";
  const std::string stream_ = "/tcact.bench.Empty/Stream";
  const bool unary_;
  const uint32_t ops_;
  size_t turn_ = 0;
  std::vector<EmptyBatch> batches_;
  std::vector<EmptyRequest> requests_;
};

int Run() {
  const bool unary = absl::GetFlag(FLAGS_mode) == "unary";
  load::EnginePlan plan;
  plan.transport = unary ? load::Transport::kUnary : load::Transport::kStream;
  plan.stream_method = "/tcact.bench.Empty/Stream";
  plan.warmup = absl::Milliseconds(500);
  plan.duration = absl::GetFlag(FLAGS_duration);
  auto channel =
      client::MakeChannel({.address = absl::GetFlag(FLAGS_server), .own_connection = true});
  if (!channel.ok()) {
    std::fprintf(stderr, "empty_load: %s\n", channel.status().ToString().c_str());
    return 1;
  }
  load::RunOptions defaults;
  defaults.mode = unary ? load::Mode::kUnary : load::Mode::kApply;
  load::Lane lane{.channel = *std::move(channel), .slots = {}};
  for (int i = 0; i < load::InFlight(defaults); ++i) {
    lane.slots.push_back(std::make_unique<EmptySlot>(
        unary, static_cast<uint32_t>(absl::GetFlag(FLAGS_ops_per_message))));
  }
  std::vector<load::Lane> lanes;
  lanes.push_back(std::move(lane));
  const load::Tally tally = load::RunEngine(plan, std::move(lanes), [](const load::Progress&) {});
  uint64_t operations = 0;
  for (const load::Second& second : tally.seconds) operations += second.operations;
  std::printf("\"operations_per_second\": %.0f\n",
              static_cast<double>(operations) / absl::ToDoubleSeconds(plan.duration));
  for (const auto& [key, error] : tally.errors) {
    std::fprintf(stderr, "empty_load: %s\n", error.example.c_str());
  }
  return operations > 0 && tally.errors.empty() ? 0 : 1;
}

}  // namespace
}  // namespace tcact::bench

int main(int argc, char** argv) {
  // As tcactd and tcact-load.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  absl::ParseCommandLine(argc, argv);
  return tcact::bench::Run();
}
