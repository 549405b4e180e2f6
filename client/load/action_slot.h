// ActionSlot: a slot that leads actions of its own through a cycle of operations.
//
// Each message does one kind of operation to `ops_per_message` actions; the cycle is the scenario:
//   churn create, delete (index chosen by the server) bind bind, unbind (a share of the resident
//   actions) stats stats (a window that moves over the resident actions) mixed create, bind, stats,
//   get, unbind, delete (index chosen by the server) dump one DumpActions of the whole table; its
//   operations are the actions that came
//
// Slots never work on each other's actions, save for statistics, so a healthy server fails none.
#ifndef TCACT_CLIENT_LOAD_ACTION_SLOT_H_
#define TCACT_CLIENT_LOAD_ACTION_SLOT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/load/options.h"
#include "client/load/slot.h"
#include "proto/tcact/v1/action_store.pb.h"

namespace tcact::load {

enum class Step : uint8_t { kCreate, kDelete, kBind, kUnbind, kStats, kGet, kDump };

std::vector<Step> StepsOf(Scenario scenario);

// An action of that kind with valid parameters and index 0.
v1::Action SampleAction(const std::string& kind);

// How many resident actions a run needs: `actions`, more where the slots' shares need it, 0 where
// the scenario makes its own.
int64_t ResidentActions(const RunOptions& options);

class ActionSlot : public Slot {
 public:
  // `resident` (must outlive the slot): the indexes of the resident actions; `number`: which slot
  // of the run this is, from 0. REQUIRES: resident holds at least ResidentActions(options).
  ActionSlot(const RunOptions& options, const std::vector<uint32_t>* resident, int number);

  const std::string& Next(uint64_t batch_id, grpc::ByteBuffer* body) override;
  void OnReply(grpc::ByteBuffer* reply, Outcome* outcome) override;
  void OnFailure() override;
  bool clean() const override { return position_ == 0; }

 private:
  Step step() const { return steps_[position_]; }
  void TakeIndexes();
  void EncodeApply(uint64_t batch_id, grpc::ByteBuffer* body);
  const std::string& EncodeUnary(grpc::ByteBuffer* body);
  void EncodeStats(grpc::ByteBuffer* body);
  void OnApplyReply(grpc::ByteBuffer* reply, Outcome* outcome);
  void OnUnaryReply(grpc::ByteBuffer* reply, Outcome* outcome);
  void Advance();

  const std::string netns_;
  const std::string kind_;
  const v1::Action sample_;
  const std::vector<Step> steps_;
  const Mode mode_;
  const uint32_t ops_;
  const std::vector<uint32_t>* const resident_;
  const bool own_actions_;  // made by the slot's own create step
  // A request for each step, reused, so that a message costs no allocations.
  std::vector<v1::ApplyRequest> batches_;
  size_t share_;  // where the slot's share of the resident actions begins

  size_t position_ = 0;  // in steps_
  std::vector<uint32_t> indexes_;
  uint64_t batch_id_ = 0;
  v1::ApplyResponse answer_;
};

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_ACTION_SLOT_H_
