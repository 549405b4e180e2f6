// Netns: one network namespace: its index tables, its quota, and who holds it. NetnsMap: all of
// them by name.
//
// The life of a namespace
//   NetnsMap::Open --> open --Delete--> gone --last reference, last open transaction--> freed
//
// Invariants
//   - A gone namespace is not found and takes no new transaction. Its actions are destroyed when no
//     transaction is open on it any more: by Delete itself, else by the transaction that ends last.
//   - Tables are made at a kind's first create and live as long as the namespace.
//   - holds counts references (low 32 bits) and open transactions (high 32 bits); at 0 the
//     namespace is freed, after a grace period.
//
// Thread safety: all methods, from any thread.
#ifndef TCACT_SERVER_CORE_ACT_NETNS_H_
#define TCACT_SERVER_CORE_ACT_NETNS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "server/core/act/types.h"
#include "server/core/idr/idr.h"
#include "server/core/lock/counted_mutex.h"

namespace tcact::act {

class Netns {
 public:
  explicit Netns(std::string name) : name_(std::move(name)) {}
  ~Netns();
  Netns(const Netns&) = delete;
  Netns& operator=(const Netns&) = delete;

  const std::string& name() const { return name_; }

  // Null if the kind has had no action here yet.
  idr::Idr* FindTable(Kind kind) const { return tables_[kind].load(std::memory_order_acquire); }
  // Null when memory is out.
  idr::Idr* MakeTable(Kind kind);
  template <typename Visit>
  void ForEachTable(Visit visit) const {
    for (Kind kind = 0; kind < kMaxKind; ++kind) {
      if (idr::Idr* table = FindTable(kind)) visit(kind, table);
    }
  }
  // Published and reserved. REQUIRES: ReadGuard.
  uint64_t CountActions() const;

  bool gone() const { return gone_.load(std::memory_order_seq_cst); }
  void MarkGone() { gone_.store(true, std::memory_order_seq_cst); }

  // References. Hold may be called by who holds one, TryHold by who found the namespace inside a
  // ReadGuard. Release returns true when it was the last: then the caller destroys the namespace
  // after a grace period.
  void Hold() { holds_.fetch_add(1, std::memory_order_relaxed); }
  bool TryHold();
  bool Release() { return holds_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  // The same with an open transaction. End's `last_open`: no transaction is open any more.
  void BeginTransaction() { holds_.fetch_add(kOneOpen + 1, std::memory_order_seq_cst); }
  void EndTransaction(bool* last_open, bool* last_hold);
  bool HasOpenTransaction() const { return (holds_.load(std::memory_order_seq_cst) >> 32) != 0; }

  // Held while the actions of a gone namespace are destroyed: two transactions may each have been
  // the last for a moment.
  lock::CountedMutex* sweep_mutex() { return &sweep_mutex_; }

  // --- quota ---

  uint64_t max_actions() const { return max_actions_.load(std::memory_order_relaxed); }
  void SetMaxActions(uint64_t max_actions);
  // Reserves by `reserve` (which returns whether it did) if the quota leaves room; kQuota if not.
  // Without a quota it just calls it, without a lock. REQUIRES: ReadGuard.
  template <typename Reserve>
  Errc WithinQuota(Reserve reserve) {
    if (max_actions() == 0) return reserve();
    lock::CountedLock lock(&quota_mutex_);
    const uint64_t max = max_actions();
    if (max != 0 && headroom_ <= 0) {
      headroom_ = static_cast<int64_t>(max) - static_cast<int64_t>(CountActions());
      if (headroom_ <= 0) return Errc::kQuota;
    }
    const Errc code = reserve();
    if (code == Errc::kOk) --headroom_;
    return code;
  }

 private:
  static constexpr uint64_t kOneOpen = uint64_t{1} << 32;

  const std::string name_;
  std::atomic<bool> gone_{false};
  std::atomic<uint64_t> holds_{1};
  std::array<std::atomic<idr::Idr*>, kMaxKind> tables_{};
  lock::CountedMutex sweep_mutex_{"netns_sweep"};
  std::atomic<uint64_t> max_actions_{0};
  lock::CountedMutex quota_mutex_{"netns_quota"};
  // Creates that are sure to fit before the actions must be counted again; deletes only make it an
  // understatement.
  int64_t headroom_ ABSL_GUARDED_BY(quota_mutex_) = 0;
};

// Names to namespaces. Lookups are by RCU: a shard's map is replaced by a changed copy, never
// changed in place.
class NetnsMap {
 public:
  explicit NetnsMap(uint32_t max_netns) : max_netns_(max_netns) {}
  // Gives its reference of each namespace back without looking whether it was the last. REQUIRES:
  // no other holder.
  ~NetnsMap();

  // With a reference for the caller; null if there is none.
  Netns* Find(absl::string_view name) const;
  // Finds or makes; with a reference for the caller. kTooManyNetns, kOk.
  Errc Open(absl::string_view name, Netns** netns);
  // Unlinks and marks as gone; the map's reference goes to the caller. Null if there is none.
  Netns* Remove(absl::string_view name);

  // Up to `limit` with names > after (all names when from_start), ascending, each with a reference
  // for the caller.
  std::vector<Netns*> List(bool from_start, absl::string_view after, size_t limit) const;
  uint64_t size() const;

 private:
  using Shard = absl::flat_hash_map<std::string, Netns*>;
  static constexpr size_t kShards = 256;

  static size_t ShardOf(absl::string_view name);
  Netns* FindInShard(absl::string_view name) const;
  template <typename Change>
  void ReplaceShard(absl::string_view name, Change change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint32_t max_netns_;
  std::array<std::atomic<const Shard*>, kShards> shards_{};
  mutable lock::CountedMutex mutex_{"netns_map"};
  absl::btree_map<std::string, Netns*> ordered_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tcact::act

#endif  // TCACT_SERVER_CORE_ACT_NETNS_H_
