// Transactions: several operations that happen whole or not at all.
#include <utility>

#include "server/core/act/backoff.h"
#include "server/core/act/store_impl.h"
#include "server/core/base/check.h"
#include "server/core/rcu/rcu.h"

namespace tcact::act {
namespace {

// How long Prepare waits for another transaction that is in the middle of its commit. Spins, then
// yields.
constexpr int kMaxPauses = 512;
// Steps of a long transaction that are committed in one read section.
constexpr size_t kStepsPerGuard = 1024;
// Indexes of a flush that are claimed in one read section.
constexpr size_t kFlushSlice = 1024;

// The earlier step of the same transaction that is about the same index, or null.
Step* FindEarlier(absl::Span<Step> earlier, const Op& op) {
  for (Step& step : earlier) {
    if (step.kind == op.spec.kind && step.index == op.spec.index) return &step;
  }
  return nullptr;
}

// Prepares one operation, waiting a moment for who is in its way.
Errc PrepareWaiting(Store::Impl* impl, Netns* netns, const Op& op, int64_t now_ms,
                    absl::Span<Step> earlier, Step* step) {
  for (Backoff backoff; backoff.pauses() < kMaxPauses; backoff.Pause()) {
    const Errc code = impl->PrepareStep(netns, op, now_ms, step);
    if (code != Errc::kBusy) return code;
    Step* mine = FindEarlier(earlier, op);
    if (mine == nullptr) continue;
    if (op.type == OpType::kBind && mine->type == OpType::kBind && !mine->created) {
      return impl->PrepareBindAgain(op, mine, step);
    }
    return op.type == OpType::kUnbind && mine->type == OpType::kUnbind ? Errc::kNotBound
                                                                       : Errc::kDuplicate;
  }
  return Errc::kBusy;
}

// Apart from the path of success, which then returns in registers.
[[gnu::noinline, gnu::cold]] Error MakeError(Errc code, const Op& op, size_t position) {
  return {code, op.spec.kind, op.spec.index, static_cast<uint32_t>(position)};
}

}  // namespace

Transaction::~Transaction() {
  if (open()) store_->Abort(this);
}

Error Store::Prepare(const NetnsRef& netns_ref, absl::Span<const Op> ops, int64_t now_ms,
                     Transaction* txn) {
  TCACT_CHECK(!txn->open(), "a transaction is prepared once");
  Netns* netns = netns_ref.get();
  netns->BeginTransaction();
  Error error;
  {
    rcu::ReadGuard guard;
    txn->steps_.clear();
    txn->steps_.reserve(ops.size());
    if (netns->gone()) error.code = Errc::kNetnsGone;
    for (size_t i = 0; error.ok() && i < ops.size(); ++i) {
      Step step;
      const Errc code = impl_->pool(ops[i].spec.kind) == nullptr
                            ? Errc::kUnknownKind
                            : PrepareWaiting(impl_.get(), netns, ops[i], now_ms,
                                             absl::MakeSpan(txn->steps_), &step);
      if (code == Errc::kOk) {
        txn->steps_.push_back(step);
      } else {
        error = MakeError(code, ops[i], i);
      }
    }
    if (!error.ok()) {
      for (; !txn->steps_.empty(); txn->steps_.pop_back()) {
        impl_->AbortStep(netns, &txn->steps_.back());
      }
    }
  }
  if (error.ok()) {
    txn->store_ = this;
    txn->netns_ = netns;
  } else {
    impl_->EndTransaction(netns);
  }
  return error;
}

void Store::Abort(Transaction* txn) {
  TCACT_CHECK(txn->open(), "only an open transaction is aborted");
  {
    rcu::ReadGuard guard;
    for (; !txn->steps_.empty(); txn->steps_.pop_back()) {
      impl_->AbortStep(txn->netns_, &txn->steps_.back());
    }
  }
  txn->store_ = nullptr;
  impl_->EndTransaction(txn->netns_);
}

void Store::Commit(Transaction* txn) {
  CommitSteps(txn, kNoParts, nullptr, [](const Step&, Snapshot&) {});
}

void Store::Commit(Transaction* txn, SnapshotParts parts, ResultSink on_result) {
  Snapshot snapshot;
  CommitSteps(txn, parts, &snapshot, on_result);
}

void Store::CommitSteps(Transaction* txn, SnapshotParts parts, Snapshot* snapshot,
                        ResultSink on_result) {
  TCACT_CHECK(txn->open(), "only an open transaction is committed");
  for (size_t done = 0; done < txn->steps_.size();) {
    {
      rcu::ReadGuard guard;
      const size_t end = std::min(txn->steps_.size(), done + kStepsPerGuard);
      for (; done < end; ++done) {
        Step& step = txn->steps_[done];
        impl_->CommitStep(txn->netns_, &step, parts, snapshot);
        if (snapshot != nullptr) on_result(step, *snapshot);
      }
    }
    impl_->SettleIfNeeded();
  }
  txn->store_ = nullptr;
  impl_->EndTransaction(txn->netns_);
}

Error Store::Execute(const NetnsRef& netns_ref, const Op& op, int64_t now_ms, Step* step,
                     SnapshotParts parts, Snapshot* snapshot) {
  *step = Step();
  Netns* netns = netns_ref.get();
  if (impl_->pool(op.spec.kind) == nullptr) return MakeError(Errc::kUnknownKind, op, 0);
  {
    rcu::ReadGuard guard;
    if (netns->gone()) return MakeError(Errc::kNetnsGone, op, 0);
    const Errc code = PrepareWaiting(impl_.get(), netns, op, now_ms, {}, step);
    if (code != Errc::kOk) return MakeError(code, op, 0);
    impl_->CommitStep(netns, step, parts, snapshot);
  }
  impl_->SettleIfNeeded();
  return {};
}

Error Store::PrepareFlush(const NetnsRef& netns_ref, Kind kind, bool stop_at_bound,
                          Transaction* txn, uint32_t* stopped_at) {
  TCACT_CHECK(!txn->open(), "a transaction is prepared once");
  *stopped_at = 0;
  if (impl_->pool(kind) == nullptr) return {Errc::kUnknownKind, kind, 0, 0};
  Netns* netns = netns_ref.get();
  netns->BeginTransaction();
  txn->store_ = this;
  txn->netns_ = netns;
  txn->steps_.clear();
  Error error;
  uint32_t next = 1;
  do {
    rcu::ReadGuard guard;
    next = impl_->ClaimSlice(netns, kind, next, kFlushSlice, &txn->steps_, &error);
  } while (error.ok() && next != 0);
  if (error.code == Errc::kBound && stop_at_bound) {
    *stopped_at = error.index;
    if (!txn->steps_.empty()) error = {};
  }
  if (!error.ok()) Abort(txn);
  return error;
}

uint32_t Store::Impl::ClaimSlice(Netns* netns, Kind kind, uint32_t first, size_t limit,
                                 StepVector* steps, Error* error) {
  const idr::Idr* table = netns->FindTable(kind);
  if (table == nullptr) return 0;
  size_t taken = 0;
  return table->Walk(first, [&](uint32_t index, void*) {
    Step step;
    Errc code = Errc::kBusy;
    for (Backoff backoff; code == Errc::kBusy && backoff.pauses() < kMaxPauses; backoff.Pause()) {
      code = PrepareDelete(netns, kind, index, &step);
    }
    if (code == Errc::kOk) {
      steps->push_back(step);
    } else if (code != Errc::kNotFound) {
      *error = {code, kind, index, 0};
      return false;
    }
    return ++taken < limit;
  });
}

}  // namespace tcact::act
