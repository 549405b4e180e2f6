#include "server/core/act/store.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "server/core/act/store_impl.h"
#include "server/core/base/check.h"
#include "server/core/rcu/rcu.h"

namespace tcact::act {
namespace {

constexpr size_t kMaxNetnsName = 255;
// Records of a namespace's end that are collected in one read section.
constexpr size_t kSweepSlice = 4096;

}  // namespace

NetnsRef::NetnsRef(const NetnsRef& other) : netns_(other.netns_) {
  if (netns_ != nullptr) netns_->Hold();
}

NetnsRef::~NetnsRef() {
  if (netns_ != nullptr) Store::Impl::Release(netns_);
}

Store::Impl::Impl(const StoreOptions& options)
    : mode_(options.alloc_mode),
      percpu_(options.cpus),
      shared_stats_({.name = "act_shared_stats", .object_size = kMergedLineBytes}),
      netns_(options.max_netns) {
  for (const KindSpec& spec : options.kinds) {
    TCACT_CHECK(spec.kind != 0 && spec.kind < kMaxKind, "a kind's number is 1 to kMaxKind - 1");
    TCACT_CHECK(pools_[spec.kind] == nullptr, "a kind is given once");
    TCACT_CHECK(spec.inline_params >= 8 && spec.inline_params <= 1024,
                "inline_params is 8 to 1024");
    pools_[spec.kind] =
        std::make_unique<RecordPool>(spec, options.alloc_mode, &percpu_, &shared_stats_);
  }
}

Store::Impl::~Impl() {
  for (;;) {
    const std::vector<Netns*> some = netns_.List(true, "", 1);
    if (some.empty()) break;
    netns_.Remove(some[0]->name());
    Sweep(some[0]);
    Release(some[0]);
    Release(some[0]);
  }
  ForEachPool([](RecordPool* pool) { pool->Settle(); });
  rcu::Barrier();
}

void Store::Impl::Release(Netns* netns) {
  if (netns->Release()) rcu::DeferDelete(netns);
}

void Store::Impl::EndTransaction(Netns* netns) {
  // Held until the sweep is done, whoever else lets go.
  netns->Hold();
  bool last_open = false;
  bool last_hold = false;
  netns->EndTransaction(&last_open, &last_hold);
  if (last_open && netns->gone()) Sweep(netns);
  Release(netns);
}

uint64_t Store::Impl::Sweep(Netns* netns) {
  // Taken out of the tables first, killed after a grace period: until then a late lookup may touch
  // a record's state.
  std::vector<std::pair<Kind, Record*>> records;
  lock::CountedLock lock(netns->sweep_mutex());
  netns->ForEachTable([&](Kind kind, idr::Idr* table) {
    uint32_t next = 1;
    do {
      rcu::ReadGuard guard;
      size_t taken = 0;
      next = table->Walk(next, [&](uint32_t index, void* object) {
        table->Erase(index);
        records.emplace_back(kind, static_cast<Record*>(object));
        return ++taken < kSweepSlice;
      });
    } while (next != 0);
  });
  rcu::Synchronize();
  for (auto [kind, record] : records) {
    record->state.store(0, std::memory_order_seq_cst);
    pools_[kind]->Unmake(record);
  }
  SettleIfNeeded();
  return records.size();
}

void Store::Impl::SettleIfNeeded() {
  if (mode_ != AllocMode::kPerObject) return;
  ForEachPool([](RecordPool* pool) {
    if (pool->TooManyWaiting()) pool->Settle();
  });
}

Store::Store(StoreOptions options)
    : options_(std::move(options)), impl_(std::make_unique<Impl>(options_)) {}

Store::~Store() = default;

const KindSpec* Store::FindKind(Kind kind) const {
  for (const KindSpec& spec : options_.kinds) {
    if (spec.kind == kind) return &spec;
  }
  return nullptr;
}

// ---------- namespaces ----------

bool Store::ValidNetnsName(absl::string_view name) {
  if (name.size() > kMaxNetnsName || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7F && byte != '/';
  });
}

NetnsRef Store::FindNetns(absl::string_view name) { return NetnsRef(impl_->netns_.Find(name)); }

Error Store::OpenNetns(absl::string_view name, NetnsRef* netns) {
  if (!ValidNetnsName(name)) return {Errc::kBadName, 0, 0, 0};
  Netns* found = nullptr;
  const Errc code = impl_->netns_.Open(name, &found);
  if (code == Errc::kOk) *netns = NetnsRef(found);
  return {code, 0, 0, 0};
}

Error Store::DeleteNetns(absl::string_view name, uint64_t* actions) {
  const NetnsRef netns = UnlinkNetns(name, actions);
  if (!netns) return {Errc::kNotFound, 0, 0, 0};
  SweepNetns(netns);
  return {};
}

NetnsRef Store::UnlinkNetns(absl::string_view name, uint64_t* actions) {
  *actions = 0;
  // Counted while it is still found: from then on whoever ends a transaction there may sweep it.
  if (const NetnsRef found = FindNetns(name)) {
    rcu::ReadGuard guard;
    *actions = found.get()->CountActions();
  }
  return NetnsRef(impl_->netns_.Remove(name));
}

void Store::SweepNetns(const NetnsRef& netns) {
  // From here on nobody begins anything in it: who looked before it was gone is through after the
  // grace period.
  rcu::Synchronize();
  // A transaction that is open sweeps when it ends; this one makes sure that there is an end after
  // the mark.
  netns.get()->BeginTransaction();
  impl_->EndTransaction(netns.get());
}

const std::string& Store::NameOf(const NetnsRef& netns) { return netns.get()->name(); }

uint64_t Store::QuotaOf(const NetnsRef& netns) { return netns.get()->max_actions(); }

std::vector<NetnsInfo> Store::ListNetns(bool from_start, absl::string_view after, size_t limit) {
  std::vector<NetnsInfo> list;
  for (Netns* netns : impl_->netns_.List(from_start, after, limit)) {
    NetnsRef ref(netns);
    rcu::ReadGuard guard;
    list.push_back({netns->name(), netns->CountActions(), netns->max_actions()});
  }
  return list;
}

uint64_t Store::NetnsCount() const { return impl_->netns_.size(); }

Error Store::SetQuota(absl::string_view name, uint64_t max_actions) {
  NetnsRef netns;
  const Error error = OpenNetns(name, &netns);
  if (error.ok()) netns.get()->SetMaxActions(max_actions);
  return error;
}

// ---------- reads ----------

Error Store::Get(const NetnsRef& netns, Kind kind, uint32_t index, SnapshotParts parts,
                 Snapshot* snapshot) {
  if (impl_->pool(kind) == nullptr) return {Errc::kUnknownKind, kind, index, 0};
  rcu::ReadGuard guard;
  for (;;) {
    const Record* record = Impl::FindLive(*netns.get(), kind, index);
    if (record == nullptr) return {Errc::kNotFound, kind, index, 0};
    const Netns* owner = impl_->Read(kind, *record, parts, snapshot);
    // Else the record became another action since it was found: look again.
    if (owner == netns.get() && snapshot->index == index && snapshot->refcnt != 0) return {};
  }
}

uint32_t Store::Dump(const NetnsRef& netns, Kind kind, uint32_t first, const DumpOptions& options,
                     absl::FunctionRef<bool(Snapshot& snapshot)> visit) {
  if (impl_->pool(kind) == nullptr) return 0;
  const idr::Idr* table = netns.get()->FindTable(kind);
  if (table == nullptr) return 0;
  rcu::ReadGuard guard;
  Snapshot snapshot;
  size_t visits = 0;
  return table->Walk(first, [&](uint32_t index, void* object) {
    auto* record = static_cast<Record*>(object);
    // The usual save looks for few among many: one word tells most of them apart.
    const uint64_t used = record->last_used.load(std::memory_order_relaxed);
    if (moment::Ms(used) < options.used_since_ms) return ++visits < options.max_visits;
    const Netns* owner = impl_->Read(kind, *record, options.parts, &snapshot);
    if (owner != netns.get() || snapshot.index != index || snapshot.refcnt == 0 ||
        snapshot.last_used_ms < options.used_since_ms ||
        (options.save_stats && snapshot.first_used_ms == 0)) {
      return ++visits < options.max_visits;
    }
    if (options.poll_hw_stats && snapshot.offloadable) {
      record->used_hw_tag.store(static_cast<uint32_t>(snapshot.generation),
                                std::memory_order_relaxed);
      snapshot.used_hw_stats_known = true;
    }
    if (options.save_stats) Impl::MarkStatsSaved(record);
    return visit(snapshot) && ++visits < options.max_visits;
  });
}

uint64_t Store::Count(const NetnsRef& netns, Kind kind) {
  if (kind >= kMaxKind) return 0;
  const idr::Idr* table = netns.get()->FindTable(kind);
  if (table == nullptr) return 0;
  rcu::ReadGuard guard;
  return table->Count();
}

uint64_t Store::TotalActions() {
  uint64_t total = 0;
  impl_->ForEachPool([&](RecordPool* pool) { total += pool->cache()->stats().objects_in_use; });
  return total;
}

// ---------- statistics ----------

namespace {

bool UpdateRecord(Record* record, const Netns* netns, uint32_t index, uint32_t cpu,
                  const StatsDelta& delta, int64_t now_ms) {
  const uint64_t generation = record->generation.load(std::memory_order_acquire);
  if (record->index.load(std::memory_order_acquire) != index ||
      record->netns.load(std::memory_order_acquire) != netns) {
    return false;
  }
  if (!AddToCounters(record, generation, cpu, delta)) return false;
  NoteUse(record, generation, now_ms);
  return true;
}

template <typename T>
T At(absl::Span<const T> column, size_t i) {
  return column.empty() ? T{0} : column[i];
}

}  // namespace

bool Store::UpdateStats(const NetnsRef& netns, Kind kind, uint32_t index, const StatsDelta& delta,
                        int64_t now_ms) {
  if (kind >= kMaxKind) return false;
  rcu::ReadGuard guard;
  // A life that ends while we look makes way for another, or for none.
  while (Record* record = Impl::FindLive(*netns.get(), kind, index)) {
    const uint32_t cpu = impl_->CurrentUnit();
    if (UpdateRecord(record, netns.get(), index, cpu, delta, now_ms)) return true;
  }
  return false;
}

uint64_t Store::UpdateStatsBatch(const NetnsRef& netns, Kind kind, const StatsColumns& columns,
                                 int64_t now_ms, std::vector<uint32_t>* missing) {
  // Entries done in one read section, and on one CPU as far as we know.
  constexpr size_t kSlice = 1024;
  uint64_t applied = 0;
  for (size_t i = 0; i < columns.indexes.size();) {
    rcu::ReadGuard guard;
    const uint32_t cpu = impl_->CurrentUnit();
    const size_t end = std::min(columns.indexes.size(), i + kSlice);
    for (; i < end; ++i) {
      StatsDelta delta;
      delta.bytes = At(columns.bytes, i);
      delta.packets = At(columns.packets, i);
      if (columns.hardware) {
        delta.hw_bytes = delta.bytes;
        delta.hw_packets = delta.packets;
      }
      delta.drops = At(columns.drops, i);
      delta.overlimits = At(columns.overlimits, i);
      delta.requeues = At(columns.requeues, i);
      delta.qlen = At(columns.qlen, i);
      delta.backlog = At(columns.backlog, i);
      const uint32_t index = columns.indexes[i];
      bool counted = false;
      while (!counted) {
        Record* record = kind < kMaxKind ? Impl::FindLive(*netns.get(), kind, index) : nullptr;
        if (record == nullptr) break;
        counted = UpdateRecord(record, netns.get(), index, cpu, delta, now_ms);
      }
      if (counted) {
        ++applied;
      } else {
        missing->push_back(static_cast<uint32_t>(i));
      }
    }
  }
  return applied;
}

// ---------- memory ----------

slab::ShrinkResult Store::Shrink() {
  slab::ShrinkResult result;
  impl_->ForEachPool([&](RecordPool* pool) {
    pool->Settle();
    const slab::ShrinkResult one = pool->cache()->Shrink();
    result.slabs += one.slabs;
    result.bytes += one.bytes;
  });
  const slab::ShrinkResult shared = impl_->shared_stats_.Shrink();
  result.slabs += shared.slabs;
  result.bytes += shared.bytes;
  for (Netns* netns : impl_->netns_.List(true, "", SIZE_MAX)) {
    NetnsRef ref(netns);
    rcu::ReadGuard guard;
    netns->ForEachTable([&](Kind, idr::Idr* table) { result.bytes += table->Shrink(); });
  }
  rcu::Barrier();
  result.bytes += impl_->percpu_.Trim();
#if defined(__GLIBC__)
  malloc_trim(0);  // index nodes and long parameters came from the heap
#endif
  return result;
}

std::vector<slab::CacheStats> Store::SlabStats() const {
  std::vector<slab::CacheStats> all;
  impl_->ForEachPool([&](RecordPool* pool) { all.push_back(pool->cache()->stats()); });
  if (options_.alloc_mode == AllocMode::kPerObject) all.push_back(impl_->shared_stats_.stats());
  return all;
}

percpu::Stats Store::PercpuStats() const { return impl_->percpu_.stats(); }

uint64_t Store::IndexBytes() {
  uint64_t bytes = 0;
  for (Netns* netns : impl_->netns_.List(true, "", SIZE_MAX)) {
    NetnsRef ref(netns);
    rcu::ReadGuard guard;
    netns->ForEachTable([&](Kind, const idr::Idr* table) { bytes += table->MemoryBytes(); });
  }
  return bytes;
}

percpu::Allocator* Store::percpu_for_test() { return &impl_->percpu_; }

slab::KmemCache* Store::cache_for_test(Kind kind) { return impl_->pool(kind)->cache(); }

}  // namespace tcact::act
