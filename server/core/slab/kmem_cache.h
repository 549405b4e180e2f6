// KmemCache: objects of one size that stay constructed while they are free (the twin of mm/slub.c
// with sheaves).
//
// States of an object and what moves it
//   (no slab) --ctor--> free in slab <--> in a depot sheaf <--> in a CPU's sheaf
//   in a CPU's sheaf --Alloc--> in use --Free--> in a CPU's sheaf
//   free in slab --dtor--> (no slab)        only when the whole slab is released
//
// Invariants
//   - ObjectLife::Construct ran exactly once for every object of every slab and Destruct has not;
//     Alloc and Free run neither. Construct may fail: then Destruct runs for the objects of that
//     slab built so far, in reverse order, the slab is given back, and Alloc returns null.
//   - objects_total = in use + in sheaves + free in slabs.
//   - The fast path of Alloc and Free takes no lock that another CPU takes: a CPU's sheaf has a
//     try-lock of its own, which is contended only when its holder was moved or preempted; then the
//     object comes from or goes to its slab. A whole sheaf moves at a time between a CPU and the
//     depot, under the mutex "<name>:depot". The lists of slabs are guarded by "<name>:slabs".
//     Construct, Destruct and the mapping of memory run with no lock of the cache held. Depot and
//     slabs are never held together, nor with a CPU's try-lock.
//   - Objects are type-stable: a slab is destructed and its memory goes back to the system only
//     after an RCU grace period (server/core/rcu), so a reader that found an object inside a
//     ReadGuard may touch it, and what its constructor made for it, even after its Free. It may
//     then be another life of the object, or another object of the same cache: the reader checks.
//   - Free may not be told of an object twice, nor of one from elsewhere. Builds with assertions or
//     with address sanitizer check that (in-use bitmap per slab), abort with the cache's name, and
//     keep a red zone after each object that is checked at Free; with address sanitizer, free
//     objects are poisoned from their `poison_from` byte on.
//
// Cost: Alloc and Free are one atomic exchange on this CPU's line and an array access each.
//
// Thread safety: all methods from any thread, but destruction.
#ifndef TCACT_SERVER_CORE_SLAB_KMEM_CACHE_H_
#define TCACT_SERVER_CORE_SLAB_KMEM_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tcact::slab {

// The constructor and destructor of a cache's objects. Called without locks of the cache: Construct
// by the thread that is inside Alloc or AllocBatch, Destruct mostly by liburcu's worker thread.
// Several calls may run at once, for different slabs. They must take leaf locks only, must not call
// the cache, and must not wait for a grace period.
class ObjectLife {
 public:
  virtual ~ObjectLife() = default;
  // Constructs all objects of a new slab, whose memory is zero. Returns how many were constructed:
  // fewer than objects.size() means failure, and the cache destructs those (the first ones) and
  // gives the slab back. One call for a slab, so that what the objects own can be taken from its
  // allocator at once.
  virtual size_t Construct(absl::Span<void* const> objects) = 0;
  // Undoes Construct for all objects of a slab, or the constructed part of one, in the order given:
  // last constructed first. Never fails.
  virtual void Destruct(absl::Span<void* const> objects) = 0;
};

struct CacheOptions {
  std::string name;        // such as "act_gact"; at most 40 bytes
  size_t object_size = 0;  // 1 to 8192
  size_t align = 64;       // power of two, 8 to 64
  // Not owned, outlives the cache. May be null: then objects are zero when their slab is made.
  ObjectLife* life = nullptr;
  // With address sanitizer, bytes of a free object from here on are poisoned; readers by RCU may
  // touch those before. A multiple of 8 (else rounded up). Default: poison nothing.
  size_t poison_from = SIZE_MAX;
  // Empty slabs that Alloc keeps for later; more are released when they appear.
  size_t keep_empty_slabs = 8;
  // Objects of one sheaf. 0: chosen from the size (about 16 KiB, 8 to 64 objects).
  size_t sheaf_objects = 0;
};

struct CacheStats {
  std::string name;
  uint64_t objects_in_use = 0;
  uint64_t objects_total = 0;
  uint64_t object_size = 0;  // alignment included, red zone not
  uint64_t objects_per_slab = 0;
  uint64_t slab_bytes = 0;
  uint64_t slabs = 0;
  uint64_t empty_slabs = 0;
  uint64_t objects_in_sheaves = 0;
  uint64_t slabs_made = 0;
  uint64_t slabs_released = 0;
  uint64_t sheaf_refills = 0;  // empty sheaves exchanged for filled ones
  uint64_t sheaf_flushes = 0;  // full sheaves exchanged for empty ones
  uint64_t ctor_failures = 0;
};

struct ShrinkResult {
  uint64_t slabs = 0;
  uint64_t bytes = 0;
};

class KmemCache {
 public:
  explicit KmemCache(CacheOptions options);
  // REQUIRES: every object is free (checked: a cache destroyed with live objects aborts with its
  // name and their number). Waits for a grace period.
  ~KmemCache();
  KmemCache(const KmemCache&) = delete;
  KmemCache& operator=(const KmemCache&) = delete;

  // An object as its last Free left it (or its constructor). Null when memory is out or a
  // constructor failed.
  void* Alloc();

  // REQUIRES: from this cache's Alloc, not freed since.
  void Free(void* object);

  // As many as objects.size(); returns how many were had, in the first places (fewer only when
  // memory is out or a constructor failed). At most one acquisition of a lock for each sheafful.
  size_t AllocBatch(absl::Span<void*> objects);
  void FreeBatch(absl::Span<void* const> objects);

  // Flushes all sheaves and releases every empty slab. Its memory is back with the system after a
  // grace period, for which Shrink waits. REQUIRES: not inside an RCU read section, nor in deferred
  // work.
  ShrinkResult Shrink();

  // Counts are exact when nothing runs meanwhile.
  CacheStats stats() const;

  const std::string& name() const;

  // For tests: after `successes` further slabs, making one fails as if memory were out; negative:
  // never.
  void FailSlabsAfter(int64_t successes);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tcact::slab

#endif  // TCACT_SERVER_CORE_SLAB_KMEM_CACHE_H_
