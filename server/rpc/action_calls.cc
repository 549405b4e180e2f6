#include "server/rpc/action_calls.h"

#include <string>

#include "absl/container/inlined_vector.h"
#include "server/rpc/change.h"
#include "server/rpc/limits.h"
#include "server/rpc/netns.h"

namespace tcact::rpc {
namespace {

// The most common request has one entry: it allocates nothing here.
using OpList = absl::InlinedVector<act::Op, 1>;
using ParamsList = absl::InlinedVector<std::string, 1>;

Problem CheckBatch(absl::string_view field, int count) {
  return count >= 1 && count <= kMaxBatchEntries ? Problem()
                                                 : BatchTooLarge(field, count, kMaxBatchEntries);
}

template <typename Actions>
Problem ReadActions(const Context& context, act::OpType type, Actions* actions, OpList* ops,
                    ParamsList* params) {
  if (Problem problem = CheckBatch("actions", actions->size()); !problem.ok()) return problem;
  ops->resize(actions->size());
  params->resize(actions->size());
  for (int i = 0; i < actions->size(); ++i) {
    (*ops)[i].type = type;
    Problem problem = ReadAction(*context.kinds, {"actions", i}, type == act::OpType::kBind,
                                 actions->Mutable(i), &(*params)[i], &(*ops)[i].spec);
    if (!problem.ok()) return problem;
  }
  return {};
}

template <typename Keys>
Problem ReadKeys(const Context& context, act::OpType type, const Keys& keys, OpList* ops) {
  if (Problem problem = CheckBatch("keys", keys.size()); !problem.ok()) return problem;
  ops->resize(keys.size());
  for (int i = 0; i < keys.size(); ++i) {
    (*ops)[i].type = type;
    if (Problem problem = ReadKey(*context.kinds, {"keys", i}, keys[i], &(*ops)[i].spec);
        !problem.ok()) {
      return problem;
    }
  }
  return {};
}

// What a key finds in a namespace that is not there.
Problem NotFound(const Context& context, const act::Spec& spec, int position) {
  act::Error error;
  error.code = act::Errc::kNotFound;
  error.index = spec.index;
  return FromStoreError(error, context.kinds->Name(spec.kind), position);
}

Problem GetOne(const Context& context, const act::NetnsRef& netns, const act::Spec& spec,
               int position, act::SnapshotParts parts, act::Snapshot* snapshot) {
  if (!netns) return NotFound(context, spec, position);
  const act::Error error = context.store->Get(netns, spec.kind, spec.index, parts, snapshot);
  return error.ok() ? Problem() : FromStoreError(error, context.kinds->Name(spec.kind), position);
}

template <typename Response>
Problem ApplyInOrder(const Context& context, const act::NetnsRef& netns, const OpList& ops,
                     v1::ActionView view, int64_t now_ms, Response* response) {
  act::Snapshot snapshot;
  for (size_t i = 0; i < ops.size(); ++i) {
    Problem problem =
        ChangeOne(context, netns, ops[i], static_cast<int>(i), now_ms, PartsOf(view), &snapshot);
    if (!problem.ok()) return problem;
    WriteAction(*context.kinds, snapshot, view, now_ms, response->add_actions());
  }
  return {};
}

template <typename Response>
Problem ApplyWhole(const Context& context, const act::NetnsRef& netns, const OpList& ops,
                   v1::ActionView view, int64_t now_ms, Response* response) {
  response->mutable_actions()->Reserve(static_cast<int>(ops.size()));
  return ChangeAll(context, netns, ops, now_ms, PartsOf(view),
                   [&](const act::Step&, act::Snapshot& snapshot) {
                     WriteAction(*context.kinds, snapshot, view, now_ms, response->add_actions());
                   });
}

// Create, replace and bind differ in the type only.
template <typename Request, typename Response>
Problem ChangeActions(const Context& context, act::OpType type, bool best_effort, Request* request,
                      Response* response) {
  const int64_t now_ms = NowMs();
  OpList ops;
  ParamsList params;
  Problem problem = ReadActions(context, type, request->mutable_actions(), &ops, &params);
  if (!problem.ok()) return problem;
  act::NetnsRef netns;
  problem = OpenNetns(context, request->netns(), &netns);
  if (!problem.ok()) return problem;
  problem = best_effort ? ApplyInOrder(context, netns, ops, request->view(), now_ms, response)
                        : ApplyWhole(context, netns, ops, request->view(), now_ms, response);
  if (type != act::OpType::kBind || problem.ok() || problem->code != grpc::StatusCode::NOT_FOUND)
    return problem;
  // What may be made is made: not found is only what breaks a rule.
  const int position = problem->position;
  return BrokenRule(*context.kinds, {"actions", position}, true,
                    request->mutable_actions(position));
}

// Reads the keys of `request`, finds its namespace, and sees that each key is there if `all_exist`.
template <typename Request>
Problem ReadKeyRequest(const Context& context, act::OpType type, const Request& request,
                       bool all_exist, OpList* ops, act::NetnsRef* netns) {
  Problem problem = FindNetns(context, request.netns(), netns);
  if (problem.ok()) problem = ReadKeys(context, type, request.keys(), ops);
  if (!problem.ok()) return problem;
  if (!*netns) return NotFound(context, ops->front().spec, 0);
  if (!all_exist) return {};
  act::Snapshot snapshot;
  for (size_t i = 0; i < ops->size(); ++i) {
    problem =
        GetOne(context, *netns, (*ops)[i].spec, static_cast<int>(i), act::kNoParts, &snapshot);
    if (!problem.ok()) return problem;
  }
  return {};
}

}  // namespace

grpc::Status CreateActions(const Context& context, v1::CreateActionsRequest* request,
                           v1::CreateActionsResponse* response) {
  return ToStatus(ChangeActions(context, act::OpType::kCreate, false, request, response),
                  request->netns());
}

grpc::Status ReplaceActions(const Context& context, v1::ReplaceActionsRequest* request,
                            v1::ReplaceActionsResponse* response) {
  return ToStatus(
      ChangeActions(context, act::OpType::kReplace, request->best_effort(), request, response),
      request->netns());
}

grpc::Status Bind(const Context& context, v1::BindRequest* request, v1::BindResponse* response) {
  return ToStatus(ChangeActions(context, act::OpType::kBind, false, request, response),
                  request->netns());
}

grpc::Status GetAction(const Context& context, v1::GetActionRequest* request,
                       v1::Action* response) {
  act::NetnsRef netns;
  act::Spec spec;
  act::Snapshot snapshot;
  Problem problem = FindNetns(context, request->netns(), &netns);
  if (problem.ok()) problem = ReadKey(*context.kinds, {"key"}, request->key(), &spec);
  if (problem.ok())
    problem = GetOne(context, netns, spec, kNoPosition, PartsOf(request->view()), &snapshot);
  if (!problem.ok()) return ToStatus(problem, request->netns());
  WriteAction(*context.kinds, snapshot, request->view(), NowMs(), response);
  return grpc::Status::OK;
}

grpc::Status BatchGetActions(const Context& context, v1::BatchGetActionsRequest* request,
                             v1::BatchGetActionsResponse* response) {
  const int64_t now_ms = NowMs();
  act::NetnsRef netns;
  OpList ops;
  Problem problem = FindNetns(context, request->netns(), &netns);
  if (problem.ok()) problem = ReadKeys(context, act::OpType::kResetStats, request->keys(), &ops);
  response->mutable_actions()->Reserve(static_cast<int>(ops.size()));
  act::Snapshot snapshot;
  for (size_t i = 0; problem.ok() && i < ops.size(); ++i) {
    problem = GetOne(context, netns, ops[i].spec, static_cast<int>(i), PartsOf(request->view()),
                     &snapshot);
    if (problem.ok())
      WriteAction(*context.kinds, snapshot, request->view(), now_ms, response->add_actions());
  }
  return ToStatus(problem, request->netns());
}

grpc::Status DeleteActions(const Context& context, v1::DeleteActionsRequest* request,
                           v1::DeleteActionsResponse* response) {
  const int64_t now_ms = NowMs();
  OpList ops;
  act::NetnsRef netns;
  // The kernel, too, looks for all of them before it deletes the first.
  Problem problem =
      ReadKeyRequest(context, act::OpType::kDelete, *request, request->best_effort(), &ops, &netns);
  if (problem.ok()) {
    problem = request->best_effort()
                  ? ApplyInOrder(context, netns, ops, v1::ACTION_VIEW_FULL, now_ms, response)
                  : ApplyWhole(context, netns, ops, v1::ACTION_VIEW_FULL, now_ms, response);
  }
  return ToStatus(problem, request->netns());
}

grpc::Status FlushActions(const Context& context, v1::FlushActionsRequest* request,
                          v1::FlushActionsResponse* response) {
  act::NetnsRef netns;
  act::Kind kind = 0;
  Problem problem = FindNetns(context, request->netns(), &netns);
  if (problem.ok()) problem = ReadKind(*context.kinds, "kind", request->kind(), &kind);
  if (!problem.ok() || !netns) return ToStatus(problem, request->netns());
  uint64_t deleted = 0;
  uint32_t stopped_at = 0;
  problem = Flush(context, netns, kind, request->best_effort(), &deleted, &stopped_at);
  response->set_deleted(deleted);
  response->set_stopped_at(stopped_at);
  return ToStatus(problem, request->netns());
}

grpc::Status Unbind(const Context& context, v1::UnbindRequest* request,
                    v1::UnbindResponse* response) {
  const int64_t now_ms = NowMs();
  OpList ops;
  act::NetnsRef netns;
  Problem problem = ReadKeyRequest(context, act::OpType::kUnbind, *request, false, &ops, &netns);
  if (problem.ok())
    problem = ApplyWhole(context, netns, ops, v1::ACTION_VIEW_FULL, now_ms, response);
  return ToStatus(problem, request->netns());
}

grpc::Status ResetStats(const Context& context, v1::ResetStatsRequest* request,
                        v1::ResetStatsResponse*) {
  OpList ops;
  act::NetnsRef netns;
  Problem problem =
      ReadKeyRequest(context, act::OpType::kResetStats, *request, false, &ops, &netns);
  if (problem.ok()) {
    problem = ChangeAll(context, netns, ops, NowMs(), act::kNoParts,
                        [](const act::Step&, act::Snapshot&) {});
  }
  return ToStatus(problem, request->netns());
}

}  // namespace tcact::rpc
