#include "server/rpc/change.h"

#include <optional>

#include "server/durable/records.h"

namespace tcact::rpc {
namespace {

using durable::Journal;

// The turn of a change, where changes are recorded.
class ChangeTurn {
 public:
  ChangeTurn(const Context& context, const act::NetnsRef& netns) : netns_(netns) {
    if (context.keeper != nullptr) turn_.emplace(context.keeper->journal());
  }
  bool ok() const { return !turn_ || turn_->ok(); }
  // What recording needs of a step's snapshot, beside what the caller asks for.
  act::SnapshotParts With(act::SnapshotParts parts) const {
    return turn_ ? static_cast<act::SnapshotParts>(parts | act::kWithParams) : parts;
  }
  void Record(const act::Step& step, const act::Snapshot& snapshot) {
    if (turn_) durable::RecordStep(act::Store::NameOf(netns_), step, snapshot, turn_->batch());
  }

 private:
  const act::NetnsRef& netns_;
  std::optional<Journal::Turn> turn_;
};

Problem ToProblem(const Context& context, const act::Error& error, int position) {
  return FromStoreError(error, context.kinds->Name(error.kind), position);
}

}  // namespace

Problem ChangeAll(const Context& context, const act::NetnsRef& netns, absl::Span<const act::Op> ops,
                  int64_t now_ms, act::SnapshotParts parts, act::Store::ResultSink sink) {
  ChangeTurn turn(context, netns);
  if (!turn.ok()) return ReadOnly();
  if (ops.size() == 1) {
    act::Step step;
    act::Snapshot snapshot;
    const act::Error error =
        context.store->Execute(netns, ops[0], now_ms, &step, turn.With(parts), &snapshot);
    if (!error.ok()) return ToProblem(context, error, 0);
    turn.Record(step, snapshot);
    sink(step, snapshot);
    return {};
  }
  act::Transaction txn;
  const act::Error error = context.store->Prepare(netns, ops, now_ms, &txn);
  if (!error.ok()) return ToProblem(context, error, static_cast<int>(error.position));
  context.store->Commit(&txn, turn.With(parts),
                        [&](const act::Step& step, act::Snapshot& snapshot) {
                          turn.Record(step, snapshot);
                          sink(step, snapshot);
                        });
  return {};
}

Problem ChangeOne(const Context& context, const act::NetnsRef& netns, const act::Op& op,
                  int position, int64_t now_ms, act::SnapshotParts parts, act::Snapshot* snapshot) {
  ChangeTurn turn(context, netns);
  if (!turn.ok()) return ReadOnly();
  act::Step step;
  const act::Error error =
      context.store->Execute(netns, op, now_ms, &step, turn.With(parts), snapshot);
  if (!error.ok()) return ToProblem(context, error, position);
  turn.Record(step, *snapshot);
  return {};
}

Problem ChangeOne(const Context& context, const act::NetnsRef& netns, const act::Op& op,
                  int position, int64_t now_ms, uint32_t* index) {
  if (context.keeper != nullptr) {
    thread_local act::Snapshot snapshot;
    Problem problem = ChangeOne(context, netns, op, position, now_ms, act::kNoParts, &snapshot);
    *index = problem.ok() ? snapshot.index : 0;
    return problem;
  }
  act::Step step;
  const act::Error error = context.store->Execute(netns, op, now_ms, &step);
  if (!error.ok()) return ToProblem(context, error, position);
  *index = step.index;
  return {};
}

Problem CountOne(const Context& context, const act::NetnsRef& netns, const act::Spec& spec,
                 int position, const act::StatsDelta& delta, int64_t now_ms) {
  std::optional<Journal::Turn> turn;
  if (context.keeper != nullptr) {
    if (context.keeper->journal()->failed()) return ReadOnly();
    if (context.keeper->options().stats_acked) turn.emplace(context.keeper->journal());
    if (turn && !turn->ok()) return ReadOnly();
  }
  if (!context.store->UpdateStats(netns, spec.kind, spec.index, delta, now_ms))
    return ToProblem(context, {act::Errc::kNotFound, spec.kind, spec.index, 0}, position);
  if (!turn) return {};
  act::Snapshot snapshot;
  if (context.store->SaveStats(netns, spec.kind, spec.index, &snapshot).ok())
    durable::RecordStats(act::Store::NameOf(netns), snapshot, turn->batch());
  return {};
}

Problem Flush(const Context& context, const act::NetnsRef& netns, act::Kind kind,
              bool stop_at_bound, uint64_t* deleted, uint32_t* stopped_at) {
  ChangeTurn turn(context, netns);
  if (!turn.ok()) return ReadOnly();
  act::Transaction txn;
  const act::Error error =
      context.store->PrepareFlush(netns, kind, stop_at_bound, &txn, stopped_at);
  if (!error.ok()) return ToProblem(context, error, kNoPosition);
  *deleted = txn.steps().size();
  if (context.keeper == nullptr) {
    context.store->Commit(&txn);
  } else {
    context.store->Commit(&txn, act::kNoParts, [&](const act::Step& step, act::Snapshot& snapshot) {
      turn.Record(step, snapshot);
    });
  }
  return {};
}

}  // namespace tcact::rpc
