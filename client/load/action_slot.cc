#include "client/load/action_slot.h"

#include <algorithm>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "client/lib/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/support/proto_buffer_reader.h"

namespace tcact::load {
namespace {

const std::string kApply = "/tcact.v1.ActionStore/Apply";
const std::string kCreate = "/tcact.v1.ActionStore/CreateActions";
const std::string kDelete = "/tcact.v1.ActionStore/DeleteActions";
const std::string kBind = "/tcact.v1.ActionStore/Bind";
const std::string kUnbind = "/tcact.v1.ActionStore/Unbind";
const std::string kStats = "/tcact.v1.ActionStore/UpdateStats";
const std::string kGet = "/tcact.v1.ActionStore/GetAction";
const std::string kBatchGet = "/tcact.v1.ActionStore/BatchGetActions";
const std::string kDump = "/tcact.v1.ActionStore/DumpActions";

// One update stands for a burst of 1,500-byte packets.
constexpr uint64_t kDeltaPackets = 10;
constexpr uint64_t kDeltaBytes = kDeltaPackets * 1500;

template <typename Message>
void Encode(const Message& message, grpc::ByteBuffer* body) {
  bool own = false;
  // Fails only on messages over 2 GiB, which options do not allow.
  (void)grpc::SerializationTraits<Message>::Serialize(message, body, &own);
}

template <typename Message>
bool Decode(grpc::ByteBuffer* body, Message* message) {
  return grpc::SerializationTraits<Message>::Deserialize(body, message).ok();
}

// Counts the actions of a DumpActionsResponse without decoding them: the load tester shares the
// machine with the server, and what is asked is what the server can do. -1: not a message.
int64_t CountDumped(grpc::ByteBuffer* body) {
  using google::protobuf::internal::WireFormatLite;
  grpc::ProtoBufferReader reader(body);
  if (!reader.status().ok()) return -1;
  google::protobuf::io::CodedInputStream input(&reader);
  int64_t count = 0;
  for (uint32_t tag = input.ReadTag(); tag != 0; tag = input.ReadTag()) {
    if (!WireFormatLite::SkipField(&input, tag)) return -1;
    count += WireFormatLite::GetTagFieldNumber(tag) == v1::DumpActionsResponse::kActionsFieldNumber
                 ? 1
                 : 0;
  }
  return input.ConsumedEntireMessage() ? count : -1;
}

// The place in an operation that names the action.
void SetOperation(Step step, const std::string& kind, const v1::Action& sample, v1::Operation* op) {
  switch (step) {
    case Step::kCreate:
      *op->mutable_create() = sample;
      break;
    case Step::kDelete:
      op->mutable_delete_()->set_kind(kind);
      break;
    case Step::kBind:
      *op->mutable_bind() = sample;
      break;
    case Step::kUnbind:
      op->mutable_unbind()->set_kind(kind);
      break;
    case Step::kStats:
      op->mutable_stats()->mutable_key()->set_kind(kind);
      op->mutable_stats()->mutable_delta()->set_packets(kDeltaPackets);
      op->mutable_stats()->mutable_delta()->set_bytes(kDeltaBytes);
      break;
    case Step::kGet:
    case Step::kDump:
      op->mutable_get()->set_kind(kind);
      break;
  }
}

void SetIndex(uint32_t index, v1::Operation* op) {
  switch (op->op_case()) {
    case v1::Operation::kDelete:
      return op->mutable_delete_()->set_index(index);
    case v1::Operation::kBind:
      return op->mutable_bind()->set_index(index);
    case v1::Operation::kUnbind:
      return op->mutable_unbind()->set_index(index);
    case v1::Operation::kStats:
      return op->mutable_stats()->mutable_key()->set_index(index);
    case v1::Operation::kGet:
      return op->mutable_get()->set_index(index);
    default:
      return;  // a create leaves the choice to the server
  }
}

template <typename Request>
void AddKeys(const std::string& kind, const std::vector<uint32_t>& indexes, Request* request) {
  for (uint32_t index : indexes) {
    v1::ActionKey* key = request->add_keys();
    key->set_kind(kind);
    key->set_index(index);
  }
}

}  // namespace

std::vector<Step> StepsOf(Scenario scenario) {
  switch (scenario) {
    case Scenario::kChurn:
      return {Step::kCreate, Step::kDelete};
    case Scenario::kBind:
      return {Step::kBind, Step::kUnbind};
    case Scenario::kStats:
      return {Step::kStats};
    case Scenario::kMixed:
      return {Step::kCreate, Step::kBind, Step::kStats, Step::kGet, Step::kUnbind, Step::kDelete};
    case Scenario::kDump:
      return {Step::kDump};
  }
  return {};
}

v1::Action SampleAction(const std::string& kind) {
  v1::Action action;
  if (kind == "police") {
    action.mutable_police()->set_rate(125000000);
    action.mutable_police()->set_burst(131072);
  } else {
    action.mutable_gact()->mutable_verdict()->set_type(v1::Verdict::TYPE_DROP);
  }
  return action;
}

int64_t ResidentActions(const RunOptions& options) {
  switch (options.scenario) {
    case Scenario::kChurn:
    case Scenario::kMixed:
      return 0;
    case Scenario::kBind:
      return std::max<int64_t>(options.actions, int64_t{options.connections} * InFlight(options) *
                                                    options.ops_per_message);
    case Scenario::kStats:
      return std::max<int64_t>(options.actions, options.ops_per_message);
    case Scenario::kDump:
      return options.actions;
  }
  return 0;
}

ActionSlot::ActionSlot(const RunOptions& options, const std::vector<uint32_t>* resident, int number)
    : netns_(options.netns),
      kind_(options.kind),
      sample_(SampleAction(options.kind)),
      steps_(StepsOf(options.scenario)),
      mode_(options.mode),
      ops_(static_cast<uint32_t>(options.ops_per_message)),
      resident_(resident),
      own_actions_(steps_[0] == Step::kCreate),
      batches_(steps_.size()),
      share_(resident->empty() ? 0 : size_t(number) * ops_ % resident->size()) {}

// The actions of the next message, where the slot did not make them itself.
void ActionSlot::TakeIndexes() {
  if (own_actions_ || position_ != 0 || resident_->empty() || step() == Step::kDump) return;
  indexes_.resize(ops_);
  for (uint32_t i = 0; i < ops_; ++i) indexes_[i] = (*resident_)[(share_ + i) % resident_->size()];
  if (step() == Step::kStats) share_ = (share_ + ops_) % resident_->size();
}

const std::string& ActionSlot::Next(uint64_t batch_id, grpc::ByteBuffer* body) {
  TakeIndexes();
  if (mode_ == Mode::kApply) {
    EncodeApply(batch_id, body);
    return kApply;
  }
  return EncodeUnary(body);
}

void ActionSlot::EncodeApply(uint64_t batch_id, grpc::ByteBuffer* body) {
  const auto count = static_cast<int>(step() == Step::kCreate ? ops_ : indexes_.size());
  v1::ApplyRequest& batch = batches_[position_];
  if (batch.ops_size() != count) {
    batch.clear_ops();
    for (int i = 0; i < count; ++i) SetOperation(step(), kind_, sample_, batch.add_ops());
    batch.set_netns(netns_);
    batch.set_view(step() == Step::kGet ? v1::ACTION_VIEW_FULL : v1::ACTION_VIEW_UNSPECIFIED);
  }
  if (step() != Step::kCreate) {
    for (int i = 0; i < count; ++i) SetIndex(indexes_[i], batch.mutable_ops(i));
  }
  batch_id_ = batch_id;
  batch.set_batch_id(batch_id);
  Encode(batch, body);
}

void ActionSlot::EncodeStats(grpc::ByteBuffer* body) {
  v1::UpdateStatsRequest request;
  request.set_netns(netns_);
  request.set_kind(kind_);
  const auto count = static_cast<int>(indexes_.size());
  request.mutable_indexes()->Add(indexes_.begin(), indexes_.end());
  request.mutable_packets()->Resize(count, kDeltaPackets);
  request.mutable_bytes()->Resize(count, kDeltaBytes);
  Encode(request, body);
}

const std::string& ActionSlot::EncodeUnary(grpc::ByteBuffer* body) {
  switch (step()) {
    case Step::kCreate: {
      v1::CreateActionsRequest request;
      request.set_netns(netns_);
      request.set_view(v1::ACTION_VIEW_TERSE);
      for (uint32_t i = 0; i < ops_; ++i) *request.add_actions() = sample_;
      Encode(request, body);
      return kCreate;
    }
    case Step::kBind: {
      v1::BindRequest request;
      request.set_netns(netns_);
      request.set_view(v1::ACTION_VIEW_TERSE);
      for (uint32_t index : indexes_) {
        v1::Action* action = request.add_actions();
        *action = sample_;
        action->set_index(index);
      }
      Encode(request, body);
      return kBind;
    }
    case Step::kDelete: {
      v1::DeleteActionsRequest request;
      request.set_netns(netns_);
      AddKeys(kind_, indexes_, &request);
      Encode(request, body);
      return kDelete;
    }
    case Step::kUnbind: {
      v1::UnbindRequest request;
      request.set_netns(netns_);
      AddKeys(kind_, indexes_, &request);
      Encode(request, body);
      return kUnbind;
    }
    case Step::kStats:
      EncodeStats(body);
      return kStats;
    case Step::kGet: {
      if (indexes_.size() == 1) {
        v1::GetActionRequest request;
        request.set_netns(netns_);
        request.mutable_key()->set_kind(kind_);
        request.mutable_key()->set_index(indexes_[0]);
        Encode(request, body);
        return kGet;
      }
      v1::BatchGetActionsRequest request;
      request.set_netns(netns_);
      AddKeys(kind_, indexes_, &request);
      Encode(request, body);
      return kBatchGet;
    }
    case Step::kDump:
      break;
  }
  v1::DumpActionsRequest request;
  request.set_netns(netns_);
  request.set_kind(kind_);
  Encode(request, body);
  return kDump;
}

void ActionSlot::OnReply(grpc::ByteBuffer* reply, Outcome* outcome) {
  if (mode_ == Mode::kApply) {
    OnApplyReply(reply, outcome);
  } else {
    OnUnaryReply(reply, outcome);
  }
}

void ActionSlot::OnApplyReply(grpc::ByteBuffer* reply, Outcome* outcome) {
  const int due = batches_[position_].ops_size();
  if (!Decode(reply, &answer_) || answer_.batch_id() != batch_id_ ||
      answer_.indexes_size() != due) {
    outcome->errors.push_back(absl::InternalError(
        absl::StrCat("answer to batch ", answer_.batch_id(), " with ", answer_.indexes_size(),
                     " indexes where batch ", batch_id_, " with ", due, " was due")));
    return OnFailure();
  }
  outcome->operations += answer_.indexes_size() - answer_.errors_size();
  for (const v1::OperationError& error : answer_.errors()) {
    absl::Status status(static_cast<absl::StatusCode>(error.code()), error.message());
    v1::ErrorInfo info;
    info.set_reason(error.reason());
    status.SetPayload(client::kErrorInfoUrl, absl::Cord(info.SerializeAsString()));
    outcome->errors.push_back(std::move(status));
  }
  indexes_.clear();
  for (uint32_t index : answer_.indexes()) {
    if (index != 0) indexes_.push_back(index);
  }
  Advance();
}

void ActionSlot::OnUnaryReply(grpc::ByteBuffer* reply, Outcome* outcome) {
  bool sound = true;
  if (step() == Step::kDump) {
    const int64_t count = CountDumped(reply);
    sound = count >= 0;
    outcome->operations += std::max<int64_t>(count, 0);
  } else if (step() == Step::kCreate) {
    v1::CreateActionsResponse response;
    sound = Decode(reply, &response) && response.actions_size() == static_cast<int>(ops_);
    indexes_.clear();
    for (const v1::Action& action : response.actions()) indexes_.push_back(action.index());
    outcome->operations += indexes_.size();
  } else if (step() == Step::kStats) {
    v1::UpdateStatsResponse response;
    sound = Decode(reply, &response) && response.applied() == indexes_.size();
    outcome->operations += response.applied();
  } else {
    // The answer's length is what a success means; its content is the tests' business.
    outcome->operations += indexes_.size();
  }
  if (!sound) {
    outcome->errors.push_back(absl::InternalError("the answer does not fit the request"));
    return OnFailure();
  }
  if (step() != Step::kDump) Advance();
}

void ActionSlot::OnFailure() {
  position_ = 0;
  indexes_.clear();
}

void ActionSlot::Advance() {
  position_ = (position_ + 1) % steps_.size();
  if (indexes_.empty()) position_ = 0;
}

}  // namespace tcact::load
