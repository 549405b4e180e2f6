// The life of one action: how each operation is prepared, committed and undone. Every rule about
// references is one compare-and-swap on Record::state; see record.h.
#include <utility>

#include "server/core/act/backoff.h"
#include "server/core/act/store_impl.h"
#include "server/core/base/check.h"

namespace tcact::act {
namespace {

using state::kClaim;
using state::kOneBind;
using state::kOnePending;
using state::kStandalone;

bool IsStill(const Record& record, const Netns* netns, uint32_t index) {
  return record.index.load(std::memory_order_acquire) == index &&
         record.netns.load(std::memory_order_acquire) == netns;
}

// Sets the claim: kOk, kBound (only with `unbound`), or kBusy if it is held or the action is dead.
Errc Claim(Record* record, bool unbound) {
  uint64_t word = record->state.load(std::memory_order_acquire);
  for (;;) {
    if (!state::Alive(word) || (word & kClaim) != 0) return Errc::kBusy;
    if (unbound && state::Binds(word) != 0) return Errc::kBound;
    if (record->state.compare_exchange_weak(word, word | kClaim, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
      return Errc::kOk;
    }
  }
}

// Adds a bind, and the claim if `claim`; a claim that is held is in the way unless `claimed_by_us`.
Errc AddBind(Record* record, bool claim, bool claimed_by_us) {
  uint64_t word = record->state.load(std::memory_order_acquire);
  for (;;) {
    if (!state::Alive(word)) return Errc::kBusy;
    if ((word & kClaim) != 0 && !claimed_by_us) return Errc::kBusy;
    if (state::Binds(word) == state::kMaxBinds) return Errc::kTooManyBinds;
    // Pending too, until it is committed: nobody may unbind what may yet be undone.
    const uint64_t next = (word + kOneBind + kOnePending) | (claim ? kClaim : 0);
    if (record->state.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
      return Errc::kOk;
    }
  }
}

// Ends a record that was never published. A late lookup may hold it for a moment by mistake.
void KillUnpublished(Record* record, uint64_t state_word) {
  uint64_t word = state_word;
  for (Backoff backoff; !record->state.compare_exchange_weak(word, 0, std::memory_order_seq_cst);
       backoff.Pause()) {
    word = state_word;
  }
}

Errc FromReservation(idr::Reservation reservation) {
  switch (reservation) {
    case idr::Reservation::kReserved:
      return Errc::kOk;
    case idr::Reservation::kPublished:
      return Errc::kExists;
    case idr::Reservation::kBusy:
      return Errc::kBusy;
    case idr::Reservation::kNoMemory:
      return Errc::kNoMemory;
    case idr::Reservation::kFull:
      return Errc::kNoFreeIndex;
  }
  return Errc::kNoMemory;
}

}  // namespace

Record* Store::Impl::FindLive(const Netns& netns, Kind kind, uint32_t index) {
  const idr::Idr* table = netns.FindTable(kind);
  if (table == nullptr) return nullptr;
  auto* record = static_cast<Record*>(table->Find(index));
  return record != nullptr && record->Alive() ? record : nullptr;
}

// ---------- prepare ----------

Errc Store::Impl::PrepareStep(Netns* netns, const Op& op, int64_t now_ms, Step* step) {
  step->type = op.type;
  step->kind = op.spec.kind;
  step->index = op.spec.index;
  step->op = &op;
  switch (op.type) {
    case OpType::kCreate:
      return PrepareCreate(netns, op, kStandalone, now_ms, step);
    case OpType::kReplace:
      return PrepareReplace(netns, op, now_ms, step);
    case OpType::kDelete:
      return PrepareDelete(netns, op.spec.kind, op.spec.index, step);
    case OpType::kBind:
      return PrepareBind(netns, op, now_ms, step);
    case OpType::kUnbind:
      return PrepareUnbind(netns, op, step);
    case OpType::kResetStats:
      return PrepareReset(netns, op, step);
  }
  return Errc::kUnknownKind;
}

Errc Store::Impl::PrepareCreate(Netns* netns, const Op& op, uint64_t state_word, int64_t now_ms,
                                Step* step) {
  idr::Idr* table = netns->MakeTable(op.spec.kind);
  if (table == nullptr) return Errc::kNoMemory;
  uint32_t index = op.spec.index;
  const Errc code = netns->WithinQuota([&] {
    return FromReservation(index == 0 ? table->ReserveLowest(&index) : table->Reserve(index));
  });
  if (code == Errc::kExists && FindLive(*netns, op.spec.kind, index) == nullptr) {
    return Errc::kBusy;  // its last life is just being taken out
  }
  if (code != Errc::kOk) return code;
  Record* record = pools_[op.spec.kind]->Make(op.spec, netns, index, state_word, now_ms);
  if (record == nullptr) {
    table->Cancel(index);
    return Errc::kNoMemory;
  }
  step->created = true;
  step->index = index;
  step->record = record;
  step->generation = record->generation.load(std::memory_order_relaxed);
  return Errc::kOk;
}

Errc Store::Impl::PrepareReplace(Netns* netns, const Op& op, int64_t now_ms, Step* step) {
  Record* record = op.spec.index == 0 ? nullptr : FindLive(*netns, op.spec.kind, op.spec.index);
  if (record == nullptr) {
    const Errc code = PrepareCreate(netns, op, kStandalone, now_ms, step);
    return code == Errc::kExists ? Errc::kBusy : code;  // created by somebody just now: look again
  }
  const Errc code = Claim(record, /*unbound=*/false);
  if (code != Errc::kOk) return code;
  if (!IsStill(*record, netns, op.spec.index)) {
    Unclaim(op.spec.kind, record);
    return Errc::kBusy;
  }
  if (!pools_[op.spec.kind]->FitsInline(op.spec.params.size())) {
    step->new_params = NewParamsBlock(op.spec.params);
    if (step->new_params == nullptr) {
      Unclaim(op.spec.kind, record);
      return Errc::kNoMemory;
    }
  }
  step->owns_claim = true;
  step->record = record;
  step->generation = record->generation.load(std::memory_order_relaxed);
  return Errc::kOk;
}

Errc Store::Impl::PrepareDelete(Netns* netns, Kind kind, uint32_t index, Step* step) {
  Record* record = FindLive(*netns, kind, index);
  if (record == nullptr) return Errc::kNotFound;
  const Errc code = Claim(record, /*unbound=*/true);
  if (code == Errc::kBound) return IsStill(*record, netns, index) ? code : Errc::kBusy;
  if (code != Errc::kOk) return code;
  if (!IsStill(*record, netns, index)) {
    Unclaim(kind, record);
    return Errc::kBusy;
  }
  step->type = OpType::kDelete;
  step->kind = kind;
  step->index = index;
  step->owns_claim = true;
  step->record = record;
  step->generation = record->generation.load(std::memory_order_relaxed);
  return Errc::kOk;
}

Errc Store::Impl::PrepareBind(Netns* netns, const Op& op, int64_t now_ms, Step* step) {
  Record* record = op.spec.index == 0 ? nullptr : FindLive(*netns, op.spec.kind, op.spec.index);
  if (record == nullptr) {
    if (op.spec.bind_only) return Errc::kNotFound;
    const Errc code = PrepareCreate(netns, op, kOneBind, now_ms, step);
    return code == Errc::kExists ? Errc::kBusy : code;
  }
  // The body may be written only under the claim, so a bind that brings a cookie takes it.
  const bool claim = op.spec.cookie.size != 0;
  const Errc code = AddBind(record, claim, /*claimed_by_us=*/false);
  if (code != Errc::kOk) return code;
  if (!IsStill(*record, netns, op.spec.index)) {
    ReleaseBind(op.spec.kind, record, kNoParts, nullptr);
    if (claim) Unclaim(op.spec.kind, record);
    return Errc::kBusy;
  }
  step->owns_claim = claim;
  step->record = record;
  step->generation = record->generation.load(std::memory_order_relaxed);
  return Errc::kOk;
}

Errc Store::Impl::PrepareBindAgain(const Op& op, Step* earlier, Step* step) {
  const Errc code = AddBind(earlier->record, /*claim=*/false, /*claimed_by_us=*/true);
  if (code != Errc::kOk) return code;
  // The later step lets the claim go, so that both may write the cookie.
  step->owns_claim = std::exchange(earlier->owns_claim, false);
  step->record = earlier->record;
  step->generation = earlier->generation;
  step->type = op.type;
  step->kind = op.spec.kind;
  step->index = op.spec.index;
  step->op = &op;
  return Errc::kOk;
}

Errc Store::Impl::PrepareUnbind(Netns* netns, const Op& op, Step* step) {
  Record* record = FindLive(*netns, op.spec.kind, op.spec.index);
  if (record == nullptr) return Errc::kNotFound;
  uint64_t word = record->state.load(std::memory_order_acquire);
  do {
    if (!state::Alive(word)) return Errc::kBusy;
    // Binds that others are about to give back may yet stay.
    if (state::Pending(word) >= state::Binds(word)) {
      const bool bound = state::Binds(word) != 0 || !IsStill(*record, netns, op.spec.index);
      return bound ? Errc::kBusy : Errc::kNotBound;
    }
  } while (!record->state.compare_exchange_weak(word, word + kOnePending, std::memory_order_acq_rel,
                                                std::memory_order_acquire));
  if (!IsStill(*record, netns, op.spec.index)) {
    record->state.fetch_sub(kOnePending, std::memory_order_acq_rel);
    return Errc::kBusy;
  }
  step->record = record;
  step->generation = record->generation.load(std::memory_order_relaxed);
  return Errc::kOk;
}

Errc Store::Impl::PrepareReset(Netns* netns, const Op& op, Step* step) {
  Record* record = FindLive(*netns, op.spec.kind, op.spec.index);
  if (record == nullptr) return Errc::kNotFound;
  // Holds nothing: Commit looks it up again.
  step->generation = record->generation.load(std::memory_order_acquire);
  return Errc::kOk;
}

// ---------- abort ----------

void Store::Impl::AbortStep(Netns* netns, Step* step) {
  if (step->created) {
    KillUnpublished(step->record, step->type == OpType::kBind ? kOneBind : kStandalone);
    netns->FindTable(step->kind)->Cancel(step->index);
    pools_[step->kind]->Unmake(step->record);
    return;
  }
  switch (step->type) {
    case OpType::kBind:
      ReleaseBind(step->kind, step->record, kNoParts, nullptr);
      if (step->owns_claim) Unclaim(step->kind, step->record);
      return;
    case OpType::kUnbind:
      step->record->state.fetch_sub(kOnePending, std::memory_order_acq_rel);
      return;
    case OpType::kReplace:
    case OpType::kDelete:
      FreeParamsBlockNow(std::exchange(step->new_params, nullptr));
      Unclaim(step->kind, step->record);
      return;
    case OpType::kCreate:
    case OpType::kResetStats:
      return;
  }
}

// ---------- commit ----------

Netns* Store::Impl::Read(Kind kind, const Record& record, SnapshotParts parts, Snapshot* snapshot) {
  Netns* netns = pools_[kind]->Read(record, (parts & kWithParams) != 0, snapshot);
  if ((parts & kWithCounters) != 0) {
    snapshot->counters = SumCounters(record, snapshot->generation, percpu_.units());
  }
  return netns;
}

void Store::Impl::CommitStep(Netns* netns, Step* step, SnapshotParts parts, Snapshot* snapshot) {
  if (step->created) return CommitCreate(netns, step, parts, snapshot);
  switch (step->type) {
    case OpType::kReplace:
      return CommitReplace(step, parts, snapshot);
    case OpType::kDelete:
      return CommitDelete(step, parts, snapshot);
    case OpType::kBind:
      return CommitBind(step, parts, snapshot);
    case OpType::kUnbind:
      return CommitUnbind(step, parts, snapshot);
    case OpType::kResetStats:
      return CommitReset(netns, step, parts, snapshot);
    case OpType::kCreate:
      return;
  }
}

void Store::Impl::CommitCreate(Netns* netns, Step* step, SnapshotParts parts, Snapshot* snapshot) {
  // Read first: once published, it may be deleted at once.
  if (snapshot != nullptr) Read(step->kind, *step->record, parts, snapshot);
  netns->FindTable(step->kind)->Publish(step->index, step->record);
}

void Store::Impl::CommitReplace(Step* step, SnapshotParts parts, Snapshot* snapshot) {
  Record* record = step->record;
  RecordPool* pool = pools_[step->kind].get();
  const Spec& spec = step->op->spec;
  std::byte* old_block = pool->ParamsBlock(*record);
  {
    Body body = ReadBody(*record);
    body.SetHwStats(spec.hw_stats);
    body.SetFlags(body.no_percpu(), body.skip_hw(), spec.offloadable);
    if (spec.cookie.size != 0) body.SetCookie(spec.cookie);
    BodyWriter writer(record);
    writer.SetBody(body);
    if (step->new_params != nullptr) {
      writer.SetBlockParams(std::exchange(step->new_params, nullptr), spec.params.size(),
                            record->shared_counters());
    } else {
      writer.SetInlineParams(spec.params, record->shared_counters());
    }
  }
  if (old_block != nullptr) FreeParamsBlockLater(old_block);
  if (snapshot != nullptr) Read(step->kind, *record, parts, snapshot);
  Unclaim(step->kind, record);
}

void Store::Impl::CommitDelete(Step* step, SnapshotParts parts, Snapshot* snapshot) {
  // The claim keeps binds away, so the state is the claim and the standalone reference.
  const uint64_t word = step->record->state.exchange(0, std::memory_order_seq_cst);
  TCACT_CHECK(word == (kClaim | kStandalone), "a claimed action gains no bind");
  Destroy(step->kind, step->record, parts, snapshot);
  step->destroyed = true;
}

void Store::Impl::CommitBind(Step* step, SnapshotParts parts, Snapshot* snapshot) {
  const Cookie& cookie = step->op->spec.cookie;
  if (cookie.size != 0) {
    Body body = ReadBody(*step->record);
    body.SetCookie(cookie);
    BodyWriter(step->record).SetBody(body);
  }
  // The bind just made keeps the action alive.
  step->record->state.fetch_sub(kOnePending, std::memory_order_acq_rel);
  if (snapshot != nullptr) Read(step->kind, *step->record, parts, snapshot);
  if (step->owns_claim) Unclaim(step->kind, step->record);
}

void Store::Impl::CommitUnbind(Step* step, SnapshotParts parts, Snapshot* snapshot) {
  step->destroyed = ReleaseBind(step->kind, step->record, parts, snapshot);
}

void Store::Impl::CommitReset(Netns* netns, Step* step, SnapshotParts parts, Snapshot* snapshot) {
  Record* record = FindLive(*netns, step->kind, step->index);
  if (record == nullptr) return;
  ZeroCounters(record, step->generation, percpu_.units());
  if (snapshot != nullptr) Read(step->kind, *record, parts, snapshot);
}

// ---------- ends ----------

void Store::Impl::Unclaim(Kind kind, Record* record) {
  uint64_t word = record->state.load(std::memory_order_acquire);
  for (;;) {
    // A dying action is ours to destroy.
    const uint64_t next = word & ~kClaim;
    if (record->state.compare_exchange_weak(word, next, std::memory_order_seq_cst,
                                            std::memory_order_acquire)) {
      if (next == 0) Destroy(kind, record, kNoParts, nullptr);
      return;
    }
  }
}

bool Store::Impl::ReleaseBind(Kind kind, Record* record, SnapshotParts parts, Snapshot* snapshot) {
  // Read while the bind still holds it; the counts are those after.
  if (snapshot != nullptr) Read(kind, *record, parts, snapshot);
  uint64_t word = record->state.load(std::memory_order_acquire);
  uint64_t next;
  do {
    TCACT_DCHECK(state::Pending(word) != 0 && state::Binds(word) != 0, "pending <= binds");
    next = word - kOneBind - kOnePending;
  } while (!record->state.compare_exchange_weak(word, next, std::memory_order_seq_cst,
                                                std::memory_order_acquire));
  if (snapshot != nullptr) {
    snapshot->refcnt = state::Refs(next);
    snapshot->bindcnt = state::Binds(next);
  }
  if (state::Alive(next)) return false;
  // Under a claim the record is dying now, and the claim's holder destroys it.
  if (next == 0) Destroy(kind, record, parts, snapshot);
  return true;
}

void Store::Impl::Destroy(Kind kind, Record* record, SnapshotParts parts, Snapshot* snapshot) {
  if (snapshot != nullptr) {
    // The state is dead, so no update is counted any more that this sum would miss.
    Read(kind, *record, parts, snapshot);
  }
  const uint32_t index = record->index.load(std::memory_order_relaxed);
  record->netns.load(std::memory_order_relaxed)->FindTable(kind)->Erase(index);
  pools_[kind]->Unmake(record);
}

}  // namespace tcact::act
