// SlabPool: the lower half of a KmemCache. Makes slabs, hands out their objects in bulk, takes them
// back, releases slabs.
//
// A slab is a block of 16 to 64 KiB, aligned to its size, so an object finds its slab by masking
// its address: a header, a bitmap of the free objects, the objects. Free objects stay constructed
// (readers under RCU may look at them), so nothing of the pool's own is ever written into one.
//
// Invariants
//   - A slab is in exactly one of: the list `partial_` (some objects free), the list `empty_` (all
//     free), no list (none free), or on its way back to the system.
//   - An object's free bit is set while the pool has it, clear while somebody has taken it.
//   - Construct and Destruct run with no lock of the pool held. Destruct runs after an RCU grace
//     period has passed since the slab left the pool, so what the objects own may be read as long
//     as the objects themselves.
//
// Thread safety: all methods but the destructor, from any thread. The mutex is "<name>:slabs", a
// leaf lock.
#ifndef TCACT_SERVER_CORE_SLAB_SLAB_POOL_H_
#define TCACT_SERVER_CORE_SLAB_SLAB_POOL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "server/core/lock/counted_mutex.h"
#include "server/core/percpu/block_source.h"
#include "server/core/slab/kmem_cache.h"

namespace tcact::slab {

// Whether this build checks the rules of Alloc and Free.
#if !defined(NDEBUG) || defined(ABSL_HAVE_ADDRESS_SANITIZER)
inline constexpr bool kChecked = true;
#else
inline constexpr bool kChecked = false;
#endif

// Where things lie in a slab. Bytes.
struct Layout {
  size_t object_bytes = 0;  // with its alignment, without the red zone
  size_t stride = 0;        // from one object to the next
  size_t slab_bytes = 0;
  size_t first_object = 0;  // from the slab's start
  size_t objects = 0;
  size_t map_words = 0;  // of a bitmap of the objects
};

// REQUIRES: size and align as CacheOptions says. `red_zone` bytes follow each object.
Layout LayoutFor(size_t object_size, size_t align, size_t red_zone);

struct Slab;

class SlabPool {
 public:
  // Only name, object_size, align, life, poison_from and keep_empty_slabs of `options` are used.
  explicit SlabPool(const CacheOptions& options);
  // REQUIRES: ReleaseEmpty(0) ran and all objects were given back.
  ~SlabPool();
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;

  // Takes as many objects as objects.size(); returns how many were had, fewer only when memory is
  // out or a constructor failed.
  size_t Take(absl::Span<void*> objects);

  // Takes objects back. Slabs that become empty beyond keep_empty_slabs are released; returns how
  // many.
  uint64_t Give(absl::Span<void* const> objects);

  // Releases all empty slabs; returns how many. Their memory is back with the system once
  // rcu::Barrier returned.
  uint64_t ReleaseEmpty();

  // Calls at the moment when a caller of the cache gets or frees an object. No-ops unless kChecked.
  void OnAlloc(void* object) {
    if constexpr (kChecked) CheckAlloc(object);
  }
  void OnFree(void* object) {
    if constexpr (kChecked) CheckFree(object);
  }

  // Fills in what the pool knows: slab counts and sizes, objects_total, ctor_failures. Returns the
  // number of objects that are free in slabs.
  uint64_t FillStats(CacheStats* stats) const;

  void FailSlabsAfter(int64_t successes);

  const Layout& layout() const { return layout_; }

 private:
  struct SlabList {
    Slab* first = nullptr;
    void Push(Slab* slab);
    void Remove(Slab* slab);
  };

  Slab* SlabOf(void* object) const;
  size_t IndexOf(Slab* slab, void* object) const;
  void* ObjectAt(Slab* slab, size_t index) const;

  Slab* MakeSlab();
  bool ConstructAll(Slab* slab);
  void DestructFirst(Slab* slab, size_t count);
  void ReleaseLater(absl::Span<Slab* const> slabs);
  void Release(Slab* slab);
  size_t TakeFree(absl::Span<void*> objects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  size_t TakeFromSlab(Slab* slab, absl::Span<void*> objects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns a slab that is to be released because of it, or null.
  Slab* GiveOne(void* object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void PrepareChecks(Slab* slab);
  void EndChecks(Slab* slab);
  void CheckAlloc(void* object);
  void CheckFree(void* object);
  void PoisonObject(void* object, bool poison);

  const std::string name_;
  const Layout layout_;
  const size_t object_size_;
  ObjectLife* const life_;
  const size_t poison_from_;
  const size_t keep_empty_;
  percpu::BlockSource source_;

  mutable lock::CountedMutex mu_;
  SlabList partial_ ABSL_GUARDED_BY(mu_);
  SlabList empty_ ABSL_GUARDED_BY(mu_);
  uint64_t slabs_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t empty_slabs_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t free_objects_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t slabs_made_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t slabs_released_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t ctor_failures_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t fail_after_ ABSL_GUARDED_BY(mu_) = -1;

  // Checked builds only: the slabs that exist, so that a foreign pointer is known without reading
  // where it points. Not a lock of the product, so it is not counted.
  mutable absl::Mutex known_mu_;
  absl::flat_hash_set<const Slab*> known_ ABSL_GUARDED_BY(known_mu_);
};

}  // namespace tcact::slab

#endif  // TCACT_SERVER_CORE_SLAB_SLAB_POOL_H_
