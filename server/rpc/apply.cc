#include "server/rpc/apply.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/rpc/change.h"
#include "server/rpc/limits.h"
#include "server/rpc/netns.h"

namespace tcact::rpc {

// What the operations of one batch have in common.
struct Applier::Batch {
  const v1::ApplyRequest* request;
  v1::ApplyResponse* response;
  int64_t now_ms;
  // Null until the namespace exists.
  act::NetnsRef netns;
  // Whether get, delete and unbind answer with the action.
  bool show;
};

namespace {

Problem NotFound(const Context& context, const act::Spec& spec, int position) {
  act::Error error;
  error.code = act::Errc::kNotFound;
  error.index = spec.index;
  return FromStoreError(error, context.kinds->Name(spec.kind), position);
}

void AddError(int position, const Problem& problem, v1::ApplyResponse* response) {
  v1::OperationError* error = response->add_errors();
  error->set_position(static_cast<uint32_t>(position));
  error->set_code(problem->code);
  error->set_reason(problem->reason);
  error->set_message(problem->text);
}

// Entries of the batch, those of an operation's list counted one by one.
int CountEntries(const v1::ApplyRequest& request) {
  int count = request.ops_size();
  for (const v1::Operation& operation : request.ops()) {
    if (count > kMaxBatchEntries) break;
    if (operation.has_create_all()) count += operation.create_all().actions_size();
  }
  return count;
}

}  // namespace

Problem Applier::Apply(v1::ApplyRequest* request, v1::ApplyResponse* response) {
  if (const int entries = CountEntries(*request); entries > kMaxBatchEntries) {
    return BatchTooLarge("ops", entries, kMaxBatchEntries);
  }
  Batch batch{request, response, NowMs(), act::NetnsRef(),
              request->view() != v1::ACTION_VIEW_UNSPECIFIED};
  if (Problem problem = FindNetns(context_, request->netns(), &batch.netns); !problem.ok())
    return problem;

  response->set_batch_id(request->batch_id());
  const int count = request->ops_size();
  auto* indexes = response->mutable_indexes();
  indexes->Reserve(count);
  for (int i = 0; i < count; ++i) {
    uint32_t index = 0;
    Problem problem = One(&batch, i, request->mutable_ops(i), &index);
    indexes->AddAlreadyReserved(problem.ok() ? index : 0);
    if (problem.ok()) continue;
    AddError(i, problem, response);
    if (request->stop_on_error()) {
      stopped_ = std::move(problem);
      break;
    }
  }
  return {};
}

Problem Applier::One(Batch* batch, int position, v1::Operation* operation, uint32_t* index) {
  switch (operation->op_case()) {
    case v1::Operation::kCreate:
      return Change(batch, position, act::OpType::kCreate, operation->mutable_create(), index);
    case v1::Operation::kReplace:
      return Change(batch, position, act::OpType::kReplace, operation->mutable_replace(), index);
    case v1::Operation::kBind:
      return Change(batch, position, act::OpType::kBind, operation->mutable_bind(), index);
    case v1::Operation::kGet:
      *index = operation->get().index();
      return Get(batch, position, operation->get());
    case v1::Operation::kDelete:
      *index = operation->delete_().index();
      return ChangeKey(batch, position, act::OpType::kDelete, operation->delete_(), batch->show);
    case v1::Operation::kUnbind:
      *index = operation->unbind().index();
      return ChangeKey(batch, position, act::OpType::kUnbind, operation->unbind(), batch->show);
    case v1::Operation::kStats:
      *index = operation->stats().key().index();
      return AddStats(batch, position, operation->stats());
    case v1::Operation::kResetStats:
      *index = operation->reset_stats().index();
      return ChangeKey(batch, position, act::OpType::kResetStats, operation->reset_stats(), false);
    case v1::Operation::kCreateAll:
      return CreateAll(batch, position, operation->mutable_create_all(), index);
    case v1::Operation::OP_NOT_SET:
      break;
  }
  return InvalidField("op", "none given, or one that this server does not know");
}

Problem Applier::Open(Batch* batch) {
  return batch->netns ? Problem() : OpenNetns(context_, batch->request->netns(), &batch->netns);
}

Problem Applier::Change(Batch* batch, int position, act::OpType type, v1::Action* action,
                        uint32_t* index) {
  act::Op op;
  op.type = type;
  Problem problem = ReadAction(*context_.kinds, {"", position}, type == act::OpType::kBind, action,
                               &params_, &op.spec);
  if (problem.ok()) problem = Open(batch);
  if (!problem.ok()) return problem;
  problem = ChangeOne(context_, batch->netns, op, position, batch->now_ms, index);
  if (!problem.ok() && op.spec.bind_only && problem->code == grpc::StatusCode::NOT_FOUND)
    return BrokenRule(*context_.kinds, {"", position}, true, action);
  return problem;
}

Problem Applier::CreateAll(Batch* batch, int position, v1::Operation::Actions* actions,
                           uint32_t* index) {
  const int count = actions->actions_size();
  if (count == 0) return InvalidField("create_all.actions", "none given; at least 1 is needed");
  std::vector<act::Op> ops(static_cast<size_t>(count));
  std::vector<std::string> params(ops.size());
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    ops[at].type = act::OpType::kCreate;
    Problem problem = ReadAction(*context_.kinds, {"create_all.actions", i}, false,
                                 actions->mutable_actions(i), &params[at], &ops[at].spec);
    if (!problem.ok()) return problem;
  }
  if (Problem problem = Open(batch); !problem.ok()) return problem;
  bool first = true;
  Problem problem = ChangeAll(context_, batch->netns, ops, batch->now_ms, act::kNoParts,
                              [&](const act::Step& step, act::Snapshot&) {
                                if (first) *index = step.index;
                                first = false;
                              });
  // ChangeAll counts within the list; an operation's place is that in the batch.
  if (!problem.ok()) problem->position = position;
  return problem;
}

Problem Applier::ChangeKey(Batch* batch, int position, act::OpType type, const v1::ActionKey& key,
                           bool show) {
  act::Op op;
  op.type = type;
  if (Problem problem = ReadKey(*context_.kinds, {"", position}, key, &op.spec); !problem.ok())
    return problem;
  if (!batch->netns) return NotFound(context_, op.spec, position);
  if (!show) {
    uint32_t index = 0;
    return ChangeOne(context_, batch->netns, op, position, batch->now_ms, &index);
  }
  const v1::ActionView view = batch->request->view();
  Problem problem =
      ChangeOne(context_, batch->netns, op, position, batch->now_ms, PartsOf(view), &snapshot_);
  if (problem.ok())
    WriteAction(*context_.kinds, snapshot_, view, batch->now_ms, batch->response->add_actions());
  return problem;
}

Problem Applier::Get(Batch* batch, int position, const v1::ActionKey& key) {
  act::Spec spec;
  if (Problem problem = ReadKey(*context_.kinds, {"", position}, key, &spec); !problem.ok())
    return problem;
  if (!batch->netns) return NotFound(context_, spec, position);
  const v1::ActionView view = batch->request->view();
  const act::SnapshotParts parts = batch->show ? PartsOf(view) : act::kNoParts;
  const act::Error error =
      context_.store->Get(batch->netns, spec.kind, spec.index, parts, &snapshot_);
  if (!error.ok()) return FromStoreError(error, context_.kinds->Name(spec.kind), position);
  if (batch->show)
    WriteAction(*context_.kinds, snapshot_, view, batch->now_ms, batch->response->add_actions());
  return {};
}

Problem Applier::AddStats(Batch* batch, int position, const v1::Operation::Stats& stats) {
  act::Spec spec;
  act::StatsDelta delta;
  Problem problem = ReadKey(*context_.kinds, {"", position}, stats.key(), &spec);
  if (problem.ok()) problem = ReadDelta(stats.delta(), "delta", &delta);
  if (!problem.ok()) return problem;
  if (!batch->netns) return NotFound(context_, spec, position);
  return CountOne(context_, batch->netns, spec, position, delta, batch->now_ms);
}

}  // namespace tcact::rpc
