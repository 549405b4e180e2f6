#include "server/rpc/change.h"

namespace tcact::rpc {

Problem ChangeAll(const Context& context, const act::NetnsRef& netns, absl::Span<const act::Op> ops,
                  int64_t now_ms, act::SnapshotParts parts, act::Store::ResultSink sink) {
  if (ops.size() == 1) {
    act::Step step;
    act::Snapshot snapshot;
    const act::Error error = context.store->Execute(netns, ops[0], now_ms, &step, parts, &snapshot);
    if (!error.ok()) return FromStoreError(error, context.kinds->Name(error.kind), 0);
    sink(step, snapshot);
    return {};
  }
  act::Transaction txn;
  const act::Error error = context.store->Prepare(netns, ops, now_ms, &txn);
  if (!error.ok())
    return FromStoreError(error, context.kinds->Name(error.kind), static_cast<int>(error.position));
  context.store->Commit(&txn, parts, sink);
  return {};
}

Problem ChangeOne(const Context& context, const act::NetnsRef& netns, const act::Op& op,
                  int position, int64_t now_ms, act::SnapshotParts parts, act::Snapshot* snapshot) {
  act::Step step;
  const act::Error error = context.store->Execute(netns, op, now_ms, &step, parts, snapshot);
  if (!error.ok()) return FromStoreError(error, context.kinds->Name(error.kind), position);
  return {};
}

Problem ChangeOne(const Context& context, const act::NetnsRef& netns, const act::Op& op,
                  int position, int64_t now_ms, uint32_t* index) {
  act::Step step;
  const act::Error error = context.store->Execute(netns, op, now_ms, &step);
  if (!error.ok()) return FromStoreError(error, context.kinds->Name(error.kind), position);
  *index = step.index;
  return {};
}

Problem Flush(const Context& context, const act::NetnsRef& netns, act::Kind kind,
              bool stop_at_bound, uint64_t* deleted, uint32_t* stopped_at) {
  act::Transaction txn;
  const act::Error error =
      context.store->PrepareFlush(netns, kind, stop_at_bound, &txn, stopped_at);
  if (!error.ok()) return FromStoreError(error, context.kinds->Name(error.kind), kNoPosition);
  *deleted = txn.steps().size();
  context.store->Commit(&txn);
  return {};
}

}  // namespace tcact::rpc
