// Actions that were kept elsewhere: put back as they were, and saved again.
#include <algorithm>
#include <limits>

#include "server/core/act/store_impl.h"
#include "server/core/rcu/rcu.h"

namespace tcact::act {
namespace {

uint64_t StateOf(const SavedAction& saved) {
  return (saved.standalone ? state::kStandalone : 0) + saved.binds * state::kOneBind;
}

Errc FromReservation(idr::Reservation reservation) {
  if (reservation == idr::Reservation::kReserved) return Errc::kOk;
  return reservation == idr::Reservation::kNoMemory ? Errc::kNoMemory : Errc::kExists;
}

StatsDelta DeltaOf(const Counters& counters) {
  StatsDelta delta;
  delta.bytes = counters.bytes;
  delta.packets = counters.packets;
  delta.hw_bytes = counters.hw_bytes;
  delta.hw_packets = counters.hw_packets;
  delta.drops = counters.drops;
  delta.overlimits = counters.overlimits;
  delta.requeues = counters.requeues;
  constexpr uint32_t kMaxGauge = std::numeric_limits<int32_t>::max();
  delta.qlen = static_cast<int32_t>(std::min(counters.qlen, kMaxGauge));
  delta.backlog = static_cast<int32_t>(std::min(counters.backlog, kMaxGauge));
  return delta;
}

}  // namespace

void Store::Impl::MarkStatsSaved(Record* record) {
  Body body = ReadBody(*record);
  if (body.stats_saved()) return;
  body.SetStatsSaved();
  BodyWriter(record).SetBody(body);
}

Error Store::Restore(const NetnsRef& netns, const SavedAction& saved) {
  const Kind kind = saved.spec.kind;
  const uint32_t index = saved.spec.index;
  RecordPool* pool = impl_->pool(kind);
  if (pool == nullptr) return {Errc::kUnknownKind, kind, index, 0};
  rcu::ReadGuard guard;
  idr::Idr* table = netns.get()->MakeTable(kind);
  if (table == nullptr) return {Errc::kNoMemory, kind, index, 0};
  if (const Errc code = FromReservation(table->Reserve(index)); code != Errc::kOk)
    return {code, kind, index, 0};
  Record* record = pool->Make(saved.spec, netns.get(), index, StateOf(saved), saved.installed_ms,
                              saved.generation);
  if (record == nullptr) {
    table->Cancel(index);
    return {Errc::kNoMemory, kind, index, 0};
  }
  table->Publish(index, record);
  return {};
}

bool Store::RestoreStats(const NetnsRef& netns, Kind kind, uint32_t index,
                         const SavedStats& saved) {
  if (impl_->pool(kind) == nullptr) return false;
  rcu::ReadGuard guard;
  Record* record = Impl::FindLive(*netns.get(), kind, index);
  if (record == nullptr || record->generation.load(std::memory_order_acquire) != saved.generation)
    return false;
  AddToCounters(record, saved.generation, impl_->CurrentUnit(), DeltaOf(saved.counters));
  record->last_used.store(moment::Make(saved.generation, saved.last_used_ms),
                          std::memory_order_relaxed);
  record->first_used.store(moment::Make(saved.generation, saved.first_used_ms),
                           std::memory_order_relaxed);
  Impl::MarkStatsSaved(record);
  return true;
}

void Store::Remove(const NetnsRef& netns, Kind kind, uint32_t index) {
  if (impl_->pool(kind) == nullptr) return;
  {
    rcu::ReadGuard guard;
    Record* record = Impl::FindLive(*netns.get(), kind, index);
    if (record == nullptr) return;
    record->state.store(0, std::memory_order_seq_cst);
    // Its generation may be restored, in this record even: lines stamped with it must be empty.
    ZeroCounters(record, record->generation.load(std::memory_order_relaxed),
                 impl_->percpu_.units());
    impl_->Destroy(kind, record, kNoParts, nullptr);
  }
  impl_->SettleIfNeeded();
}

Error Store::SaveStats(const NetnsRef& netns, Kind kind, uint32_t index, Snapshot* snapshot) {
  const Error error = Get(netns, kind, index, kWithCounters, snapshot);
  if (!error.ok()) return error;
  rcu::ReadGuard guard;
  if (Record* record = Impl::FindLive(*netns.get(), kind, index)) Impl::MarkStatsSaved(record);
  return {};
}

void Store::RaiseGenerations(uint64_t above) { act::RaiseGenerations(above); }

uint64_t Store::GenerationBound() { return act::GenerationBound(); }

}  // namespace tcact::act
