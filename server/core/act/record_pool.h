// RecordPool: makes and unmakes records of one kind in one of the three allocation modes.
//
// Invariants
//   - A record from Make has its own counters: regions or a line that no other live record uses.
//   - kSlab and kSlabMerged take regions only in the slab constructor and give them back only in
//     the destructor, so Make and Unmake do not touch the per-CPU allocator.
//   - kPerObject takes three regions in Make (one shared block for no_percpu), and gives them back
//     after a grace period, since a late updater may still look at their stamp: records wait in
//     batches, and a thread that finds too many batches waiting waits for the grace period itself,
//     so what waits is bounded.
//   - A block of parameters is freed after a grace period.
//
// Thread safety: all methods, from any thread.
#ifndef TCACT_SERVER_CORE_ACT_RECORD_POOL_H_
#define TCACT_SERVER_CORE_ACT_RECORD_POOL_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "server/core/act/record.h"
#include "server/core/act/types.h"
#include "server/core/percpu/percpu.h"
#include "server/core/slab/kmem_cache.h"

namespace tcact::act {

// A fresh generation: never 0, never the same twice in this process.
uint64_t NewGeneration();
// From now on only generations greater than `above` are made, save some 4096 that each thread that
// made one before may still have in hand.
void RaiseGenerations(uint64_t above);
// All generations made so far are less than this.
uint64_t GenerationBound();

// A heap block for parameters that do not fit a record; null when memory is out.
std::byte* NewParamsBlock(absl::string_view params);
void FreeParamsBlockNow(std::byte* block);
void FreeParamsBlockLater(std::byte* block);

class RecordPool {
 public:
  RecordPool(const KindSpec& spec, AllocMode mode, percpu::Allocator* percpu,
             slab::KmemCache* shared_stats);
  // REQUIRES: every record unmade.
  ~RecordPool();
  RecordPool(const RecordPool&) = delete;
  RecordPool& operator=(const RecordPool&) = delete;

  // A record that lives a new generation of (netns, index) as `spec` says, in state `state_word`,
  // to be published by the caller. Null when memory is out. A `generation` that is not 0 is one of
  // an earlier run.
  Record* Make(const Spec& spec, Netns* netns, uint32_t index, uint64_t state_word, int64_t now_ms,
               uint64_t generation = 0);

  // Gives a dead record back. REQUIRES: state 0, not published.
  void Unmake(Record* record);

  // Whether parameters of that size lie in the record itself.
  bool FitsInline(size_t params_size) const { return params_size <= inline_params_; }

  // The record's block of parameters, null if they are inline. REQUIRES: the caller alone may write
  // the body.
  std::byte* ParamsBlock(const Record& record) const;

  // Fills *snapshot with one consistent moment of the record, whatever life it lives then; counters
  // are left alone. Returns the namespace that the life belongs to. REQUIRES: ReadGuard since the
  // record was found.
  Netns* Read(const Record& record, bool with_params, Snapshot* snapshot) const;

  // True when the caller should call Settle, outside of any ReadGuard, before it goes on.
  bool TooManyWaiting() const;

  // Waits for what waits, so that it can be used or released. REQUIRES: not inside a ReadGuard.
  void Settle();

  slab::KmemCache* cache() { return &cache_; }
  const slab::KmemCache& cache() const { return cache_; }

 private:
  // Constructor and destructor of the cache's objects.
  class Life : public slab::ObjectLife {
   public:
    Life(AllocMode mode, percpu::Allocator* percpu) : mode_(mode), percpu_(percpu) {}
    size_t Construct(absl::Span<void* const> objects) override;
    void Destruct(absl::Span<void* const> objects) override;

   private:
    size_t ConstructMerged(absl::Span<void* const> objects);
    size_t ConstructSeparate(absl::Span<void* const> objects);
    const AllocMode mode_;
    percpu::Allocator* const percpu_;
  };

  // Records of mode kPerObject whose regions wait for a grace period.
  struct alignas(64) Retired {
    absl::Mutex mu;
    std::vector<Record*> records ABSL_GUARDED_BY(mu);
  };
  struct RetiredBatch;

  bool TakeRegions(Record* record, bool no_percpu);
  void GiveRegions(Record* record);
  void Retire(Record* record);
  void Release(const std::vector<Record*>& records);
  void ReleaseAfterGrace(std::vector<Record*> records);

  const Kind kind_;
  const AllocMode mode_;
  const uint32_t inline_params_;
  percpu::Allocator* const percpu_;
  slab::KmemCache* const shared_stats_;
  Life life_;
  slab::KmemCache cache_;
  std::unique_ptr<Retired[]> retired_;  // one for each CPU; mode kPerObject only
  std::atomic<int> batches_waiting_{0};
};

}  // namespace tcact::act

#endif  // TCACT_SERVER_CORE_ACT_RECORD_POOL_H_
