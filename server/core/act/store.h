// Store: the actions of many network namespaces and the rules of their lives (the twin of
// net/sched/act_api.c).
//
// The life of an index
//   free --Prepare(create)--> reserved --Commit--> published --Commit(delete, last unbind)--> free
//                             reserved --Abort---> free
//
// Invariants
//   - 0 <= bindcnt <= refcnt for every published action, and refcnt >= 1.
//   - A transaction happens whole or not at all: Prepare may fail and then leaves nothing behind;
//     Commit cannot fail; what is prepared and not committed is not seen by readers, save that
//     binds are counted early (an extra reference can only keep an action alive) and are given back
//     by Abort.
//   - Between Prepare and Commit the transaction alone may replace or delete what it claimed.
//     Others get Errc::kBusy, after waiting a moment (under a millisecond) for a transaction that
//     is being committed right now.
//   - A published action's counters say what was counted in this life only, and a delete's snapshot
//     holds every update that was answered as counted.
//   - Records in use = published + reserved.
//
// Locks. No command takes a lock for the actions it touches; claims are one atomic word in each
// action. Order where locks are taken at all: netns_map or netns_sweep, then netns_quota, then
// idr_lock, then <cache>:slabs or <cache>:depot, then pcpu_alloc_mutex.
//
// Thread safety: all methods from any thread. None may be called inside an rcu::ReadGuard, except
// where it says so.
#ifndef TCACT_SERVER_CORE_ACT_STORE_H_
#define TCACT_SERVER_CORE_ACT_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/act/types.h"
#include "server/core/percpu/percpu.h"
#include "server/core/slab/kmem_cache.h"

namespace tcact::act {

class Netns;
class RecordPool;
struct Record;

// Keeps a namespace's memory while it is held, also when the namespace is deleted meanwhile. Copies
// cost an atomic.
class NetnsRef {
 public:
  NetnsRef() = default;
  NetnsRef(const NetnsRef& other);
  NetnsRef(NetnsRef&& other) noexcept : netns_(std::exchange(other.netns_, nullptr)) {}
  NetnsRef& operator=(NetnsRef other) noexcept {
    std::swap(netns_, other.netns_);
    return *this;
  }
  ~NetnsRef();

  explicit operator bool() const { return netns_ != nullptr; }
  Netns* get() const { return netns_; }

 private:
  friend class Store;
  explicit NetnsRef(Netns* netns) : netns_(netns) {}  // takes over one reference
  Netns* netns_ = nullptr;
};

// What a transaction did or will do to one action.
struct Step {
  OpType type = OpType::kCreate;
  bool created = false;     // the index did not exist before
  bool destroyed = false;   // known after Commit: the index exists no more
  bool owns_claim = false;  // lets the claim go at its end
  Kind kind = 0;
  uint32_t index = 0;  // resolved
  uint64_t generation = 0;
  Record* record = nullptr;
  std::byte* new_params =
      nullptr;             // replace by parameters too long for the record: the block to publish
  const Op* op = nullptr;  // null in a flush
};

using StepVector = absl::InlinedVector<Step, 1>;

// A prepared set of changes. Movable; one that is neither committed nor aborted is aborted by its
// destructor. The Ops given to Prepare (and what their `params` point to) must outlive it.
class Transaction {
 public:
  Transaction() = default;
  Transaction(Transaction&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)),
        netns_(other.netns_),
        steps_(std::move(other.steps_)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // Resolved: the indexes chosen and what is created. One for each Op, in order.
  absl::Span<const Step> steps() const { return steps_; }
  bool open() const { return store_ != nullptr; }

 private:
  friend class Store;
  class Store* store_ = nullptr;
  Netns* netns_ = nullptr;  // held by being open
  StepVector steps_;
};

struct StoreOptions {
  AllocMode alloc_mode = AllocMode::kSlabMerged;
  std::vector<KindSpec> kinds;
  // Namespaces that may exist, the default one included; beyond it Errc::kTooManyNetns.
  uint32_t max_netns = 65536;
  // CPUs to keep counters for; 0: percpu::UsableCpus().
  uint32_t cpus = 0;
};

struct NetnsInfo {
  std::string name;
  uint64_t actions = 0;
  uint64_t max_actions = 0;  // 0: no quota
};

struct DumpOptions {
  SnapshotParts parts = kAllParts;
  // Only actions whose last_used_ms is at least this; INT64_MIN: all.
  int64_t used_since_ms = INT64_MIN;
  // Marks offloadable actions' used_hw_stats as known before they are shown.
  bool poll_hw_stats = false;
  // Only actions with an update since their create; what is shown is marked as by SaveStats.
  // REQUIRES: as there.
  bool save_stats = false;
  // Ends after so many actions, shown or not. At least 1.
  size_t max_visits = SIZE_MAX;
};

// Parallel columns; empty ones count as zeros. REQUIRES: each is empty or as long as indexes.
struct StatsColumns {
  absl::Span<const uint32_t> indexes = {};
  absl::Span<const uint64_t> packets = {};
  absl::Span<const uint64_t> bytes = {};
  absl::Span<const uint64_t> drops = {};
  absl::Span<const uint32_t> overlimits = {};
  absl::Span<const uint32_t> requeues = {};
  absl::Span<const int32_t> qlen = {};
  absl::Span<const int32_t> backlog = {};
  bool hardware = false;
};

class Store {
 public:
  class Impl;  // internal

  explicit Store(StoreOptions options);
  // REQUIRES: no call running, no transaction open, no NetnsRef held. Destroys all actions.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // --- namespaces ---

  // 1 to 255 bytes without '/' and control characters, not "." or ".."; or empty, the default
  // namespace.
  static bool ValidNetnsName(absl::string_view name);

  // Null if there is none. Takes no lock.
  NetnsRef FindNetns(absl::string_view name);

  // Finds or makes. Errors: kBadName, kTooManyNetns.
  Error OpenNetns(absl::string_view name, NetnsRef* netns);

  // Unlinks the namespace and destroys its actions, bound or not; *actions is about their number. A
  // transaction that is open on it may still commit, to no effect that anyone sees. Waits for grace
  // periods (milliseconds). Errors: kNotFound.
  Error DeleteNetns(absl::string_view name, uint64_t* actions);

  // The two halves of DeleteNetns. Unlink: from then on nothing begins in it and it is not found;
  // null if there is none. Takes no long time, but about 20 ns for each 64 actions to count them.
  // Sweep destroys the actions and waits for grace periods.
  NetnsRef UnlinkNetns(absl::string_view name, uint64_t* actions);
  void SweepNetns(const NetnsRef& netns);

  static const std::string& NameOf(const NetnsRef& netns);
  static uint64_t QuotaOf(const NetnsRef& netns);

  // Up to `limit` namespaces with names > after (>= "" when `from_start`), ascending.
  std::vector<NetnsInfo> ListNetns(bool from_start, absl::string_view after, size_t limit);
  uint64_t NetnsCount() const;

  // 0 takes the quota away. Makes the namespace if there is none. Errors as OpenNetns.
  Error SetQuota(absl::string_view name, uint64_t max_actions);

  // --- changes ---

  // Checks and reserves. On error nothing is left behind and *txn is closed. `now_ms` (Unix time)
  // becomes the installed time of what is created. REQUIRES: txn closed; params of each Spec
  // shorter than 64 KiB.
  Error Prepare(const NetnsRef& netns, absl::Span<const Op> ops, int64_t now_ms, Transaction* txn);

  // Publishes. `on_result` (may be null) is called for each step in order with the action as it is
  // then, or was when it was destroyed; `parts` says what of it to fill.
  using ResultSink = absl::FunctionRef<void(const Step& step, Snapshot& snapshot)>;
  void Commit(Transaction* txn);
  void Commit(Transaction* txn, SnapshotParts parts, ResultSink on_result);

  // Undoes Prepare.
  void Abort(Transaction* txn);

  // Prepare and Commit of one Op, without a Transaction: the fast path where nothing happens
  // between the two. *step and (by `parts`, if not null) *snapshot tell what was done.
  Error Execute(const NetnsRef& netns, const Op& op, int64_t now_ms, Step* step,
                SnapshotParts parts = kNoParts, Snapshot* snapshot = nullptr);

  // Prepares the deletion of every unbound action of a kind. A bound one: with `stop_at_bound` the
  // transaction ends before it, *stopped_at is its index, and if it was the first action the error
  // is kBound; without, kBound. Actions created meanwhile may or may not be included.
  Error PrepareFlush(const NetnsRef& netns, Kind kind, bool stop_at_bound, Transaction* txn,
                     uint32_t* stopped_at);

  // --- reads ---

  // Errors: kNotFound, kUnknownKind.
  Error Get(const NetnsRef& netns, Kind kind, uint32_t index, SnapshotParts parts,
            Snapshot* snapshot);

  // Visits actions with index >= first, ascending, until `visit` returns false. Returns the index
  // to go on from, or 0 at the end. The snapshot is reused between calls. `visit` runs inside an
  // rcu::ReadGuard: keep it short and end it (by returning false) after some thousands.
  uint32_t Dump(const NetnsRef& netns, Kind kind, uint32_t first, const DumpOptions& options,
                absl::FunctionRef<bool(Snapshot& snapshot)> visit);

  uint64_t Count(const NetnsRef& netns, Kind kind);
  uint64_t TotalActions();

  // --- statistics ---

  // False if there is no such action. An update that returned true is in every later snapshot of
  // that life.
  bool UpdateStats(const NetnsRef& netns, Kind kind, uint32_t index, const StatsDelta& delta,
                   int64_t now_ms);

  // Returns how many entries were counted; positions of the others are appended to *missing.
  uint64_t UpdateStatsBatch(const NetnsRef& netns, Kind kind, const StatsColumns& columns,
                            int64_t now_ms, std::vector<uint32_t>* missing);

  // --- what a record store needs. No transaction may be open and no change run meanwhile. ---

  // Puts an action back as it was, whatever the quota; its counters are 0. Errors: kExists,
  // kNoMemory, kUnknownKind. REQUIRES: as SavedAction says.
  Error Restore(const NetnsRef& netns, const SavedAction& saved);
  // Adds saved counters to an action whose counters are 0, and marks them as saved. False if there
  // is none, or not of that generation.
  bool RestoreStats(const NetnsRef& netns, Kind kind, uint32_t index, const SavedStats& saved);
  // Destroys an action, bound or not, if there is one.
  void Remove(const NetnsRef& netns, Kind kind, uint32_t index);
  // As Get with counters; Snapshot::stats_saved is true in this life from then on.
  Error SaveStats(const NetnsRef& netns, Kind kind, uint32_t index, Snapshot* snapshot);

  // From now on only generations greater than `above` are made.
  static void RaiseGenerations(uint64_t above);
  // All generations made so far in this process are less than this.
  static uint64_t GenerationBound();

  // --- memory ---

  slab::ShrinkResult Shrink();
  std::vector<slab::CacheStats> SlabStats() const;
  percpu::Stats PercpuStats() const;
  // Bytes of index tables.
  uint64_t IndexBytes();

  const StoreOptions& options() const { return options_; }
  // Null if the kind is unknown.
  const KindSpec* FindKind(Kind kind) const;

  // For fault injection in tests.
  percpu::Allocator* percpu_for_test();
  slab::KmemCache* cache_for_test(Kind kind);

 private:
  friend class Transaction;
  friend class NetnsRef;

  void CommitSteps(Transaction* txn, SnapshotParts parts, Snapshot* snapshot, ResultSink on_result);

  StoreOptions options_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tcact::act

#endif  // TCACT_SERVER_CORE_ACT_STORE_H_
