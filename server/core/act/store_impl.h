// What Store is made of. Internal to this folder.
#ifndef TCACT_SERVER_CORE_ACT_STORE_IMPL_H_
#define TCACT_SERVER_CORE_ACT_STORE_IMPL_H_

#include <array>
#include <memory>

#include "server/core/act/counters.h"
#include "server/core/act/netns.h"
#include "server/core/act/record_pool.h"
#include "server/core/act/store.h"

namespace tcact::act {

class Store::Impl {
 public:
  explicit Impl(const StoreOptions& options);
  ~Impl();

  // Null if the kind is unknown.
  RecordPool* pool(Kind kind) { return kind < kMaxKind ? pools_[kind].get() : nullptr; }
  template <typename Visit>
  void ForEachPool(Visit visit) {
    for (auto& pool : pools_) {
      if (pool != nullptr) visit(pool.get());
    }
  }

  // The unit of the CPU that runs this, for counters.
  uint32_t CurrentUnit() const {
    const uint32_t cpu = percpu::CurrentCpu();
    return cpu < percpu_.units() ? cpu : cpu % percpu_.units();
  }

  // --- the life of one action (life.cc). All REQUIRE a ReadGuard that is open since the record was
  // found. ---

  // The live record of that index, or null.
  static Record* FindLive(const Netns& netns, Kind kind, uint32_t index);

  // Fills *step; kBusy if another transaction holds the action.
  Errc PrepareStep(Netns* netns, const Op& op, int64_t now_ms, Step* step);
  // A second bind of a transaction that holds the claim of the action through `earlier`.
  Errc PrepareBindAgain(const Op& op, Step* earlier, Step* step);
  void AbortStep(Netns* netns, Step* step);
  // `snapshot` may be null.
  void CommitStep(Netns* netns, Step* step, SnapshotParts parts, Snapshot* snapshot);

  // Claims the action for its deletion: kOk, kBound, kBusy, kNotFound.
  Errc PrepareDelete(Netns* netns, Kind kind, uint32_t index, Step* step);

  // Takes a dead record (state 0) out of its table and gives it back.
  void Destroy(Kind kind, Record* record, SnapshotParts parts, Snapshot* snapshot);

  // Sets Snapshot::stats_saved. REQUIRES: nobody else writes the body.
  static void MarkStatsSaved(Record* record);

  // A snapshot with the asked parts; the namespace it belongs to.
  Netns* Read(Kind kind, const Record& record, SnapshotParts parts, Snapshot* snapshot);

  // Destroys all actions of a namespace that nobody else can reach any more. Waits for a grace
  // period. Returns their number. REQUIRES: gone, no open transaction; no ReadGuard.
  uint64_t Sweep(Netns* netns);
  // Waits for a grace period if too much waits for one. REQUIRES: no ReadGuard.
  void SettleIfNeeded();
  // Claims unbound actions with index >= first for deletion, at most `limit`; returns the index to
  // go on from, 0 at the end. The first one that cannot be claimed ends it with *error. REQUIRES:
  // ReadGuard.
  uint32_t ClaimSlice(Netns* netns, Kind kind, uint32_t first, size_t limit, StepVector* steps,
                      Error* error);
  // Gives one reference back, and what follows if it was the last. No ReadGuard needed.
  static void Release(Netns* netns);
  // The same at the end of a transaction.
  void EndTransaction(Netns* netns);

  const AllocMode mode_;
  percpu::Allocator percpu_;
  slab::KmemCache shared_stats_;  // counters of no_percpu actions in mode kPerObject
  std::array<std::unique_ptr<RecordPool>, kMaxKind> pools_;
  NetnsMap netns_;

 private:
  Errc PrepareCreate(Netns* netns, const Op& op, uint64_t state_word, int64_t now_ms, Step* step);
  Errc PrepareReplace(Netns* netns, const Op& op, int64_t now_ms, Step* step);
  Errc PrepareBind(Netns* netns, const Op& op, int64_t now_ms, Step* step);
  Errc PrepareUnbind(Netns* netns, const Op& op, Step* step);
  Errc PrepareReset(Netns* netns, const Op& op, Step* step);

  void CommitCreate(Netns* netns, Step* step, SnapshotParts parts, Snapshot* snapshot);
  void CommitReplace(Step* step, SnapshotParts parts, Snapshot* snapshot);
  void CommitDelete(Step* step, SnapshotParts parts, Snapshot* snapshot);
  void CommitBind(Step* step, SnapshotParts parts, Snapshot* snapshot);
  void CommitUnbind(Step* step, SnapshotParts parts, Snapshot* snapshot);
  void CommitReset(Netns* netns, Step* step, SnapshotParts parts, Snapshot* snapshot);

  // Lets a claim go; destroys the action if it has lost its last reference meanwhile.
  void Unclaim(Kind kind, Record* record);
  // Gives a pending bind back; true if that ended the action.
  bool ReleaseBind(Kind kind, Record* record, SnapshotParts parts, Snapshot* snapshot);
};

}  // namespace tcact::act

#endif  // TCACT_SERVER_CORE_ACT_STORE_IMPL_H_
