#include "server/core/slab/kmem_cache.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <utility>

#include "absl/base/internal/raw_logging.h"
#include "absl/base/optimization.h"
#include "server/core/percpu/cpu.h"
#include "server/core/rcu/rcu.h"
#include "server/core/slab/sheaf.h"
#include "server/core/slab/slab_pool.h"

namespace tcact::slab {
namespace {

constexpr size_t kMaxNameBytes = 40;
constexpr size_t kMaxObjectBytes = 8192;
constexpr size_t kSheafBytes = size_t{16} * 1024;

// Stands for "no sheaf": both empty and full, so the fast paths need not ask. Shared by all, never
// written.
constexpr Sheaf kNoSheaf;

Sheaf* NoSheaf() { return const_cast<Sheaf*>(&kNoSheaf); }

// One CPU's two sheaves. The second one keeps a CPU that allocates and frees at the edge of a sheaf
// from going to the depot each time. Guarded by a try-lock, whose holder does some twenty
// instructions and never blocks.
struct alignas(128) CpuSheaves {
  std::atomic<bool> held{false};
  Sheaf* main = NoSheaf();
  Sheaf* spare = nullptr;

  bool TryHold() { return !held.exchange(true, std::memory_order_acquire); }
  // For what is rare and must reach every CPU.
  void Hold() {
    while (!TryHold()) sched_yield();
  }
  void LetGo() { held.store(false, std::memory_order_release); }

  void SwapSheaves() { std::swap(main, spare); }
  bool SpareHasObjects() const { return spare != nullptr && !spare->empty(); }
  bool SpareHasRoom() const { return spare != nullptr && !spare->full(); }
};

CacheOptions Checked(CacheOptions options) {
  const char* const name = options.name.c_str();
  if (options.name.empty() || options.name.size() > kMaxNameBytes) {
    ABSL_RAW_LOG(FATAL, "slab %s: a name of %zu bytes, must be 1 to %zu", name, options.name.size(),
                 kMaxNameBytes);
  }
  if (options.object_size < 1 || options.object_size > kMaxObjectBytes) {
    ABSL_RAW_LOG(FATAL, "slab %s: objects of %zu bytes, must be 1 to %zu", name,
                 options.object_size, kMaxObjectBytes);
  }
  if (!std::has_single_bit(options.align) || options.align < 8 || options.align > 64) {
    ABSL_RAW_LOG(FATAL, "slab %s: an alignment of %zu, must be a power of two from 8 to 64", name,
                 options.align);
  }
  if (options.sheaf_objects > UINT32_MAX) {
    ABSL_RAW_LOG(FATAL, "slab %s: sheaves of %zu objects", name, options.sheaf_objects);
  }
  if (options.sheaf_objects == 0) {
    options.sheaf_objects = std::clamp<size_t>(kSheafBytes / options.object_size, 8, 64);
  }
  return options;
}

}  // namespace

class KmemCache::Impl {
 public:
  explicit Impl(CacheOptions options)
      : options_(Checked(std::move(options))),
        cpu_count_(percpu::UsableCpus()),
        cpus_(new CpuSheaves[cpu_count_]),
        depot_(options_.name, 2 * size_t{cpu_count_} + 8),
        pool_(options_) {}
  ~Impl();

  void* Alloc();
  void Free(void* object);
  size_t AllocBatch(absl::Span<void*> objects);
  void FreeBatch(absl::Span<void* const> objects);
  ShrinkResult Shrink();
  CacheStats stats() const;
  const std::string& name() const { return options_.name; }
  void FailSlabsAfter(int64_t successes) { pool_.FailSlabsAfter(successes); }

 private:
  CpuSheaves* ThisCpu() const { return &cpus_[percpu::CurrentCpu()]; }

  void* AllocSlow(CpuSheaves* cpu);
  void* AllocFromSlabs();
  void FreeSlow(CpuSheaves* cpu, void* object);
  Sheaf* Refilled(Sheaf* empty);
  Sheaf* Emptied(Sheaf* full);
  void Install(Sheaf* sheaf);
  void PutAway(Sheaf* sheaf);
  uint64_t Drain();
  uint64_t DrainSheaf(Sheaf* sheaf);

  const CacheOptions options_;
  const uint32_t cpu_count_;
  const std::unique_ptr<CpuSheaves[]> cpus_;
  Depot depot_;
  SlabPool pool_;
  // Once in a sheafful.
  std::atomic<uint64_t> refills_{0};
  std::atomic<uint64_t> flushes_{0};
};

KmemCache::Impl::~Impl() {
  Drain();
  pool_.ReleaseEmpty();
  const uint64_t in_use = stats().objects_in_use;
  if (in_use != 0) {
    ABSL_RAW_LOG(FATAL, "slab %s: cache destroyed with %llu live objects", options_.name.c_str(),
                 static_cast<unsigned long long>(in_use));
  }
}

void* KmemCache::Impl::Alloc() {
  CpuSheaves* const cpu = ThisCpu();
  if (ABSL_PREDICT_FALSE(!cpu->TryHold())) return AllocFromSlabs();
  Sheaf* const main = cpu->main;
  if (ABSL_PREDICT_FALSE(main->empty())) return AllocSlow(cpu);
  void* const object = main->Pop();
  cpu->LetGo();
  pool_.OnAlloc(object);
  return object;
}

void KmemCache::Impl::Free(void* object) {
  pool_.OnFree(object);
  CpuSheaves* const cpu = ThisCpu();
  if (ABSL_PREDICT_FALSE(!cpu->TryHold())) {
    pool_.Give(absl::MakeConstSpan(&object, 1));
    return;
  }
  Sheaf* const main = cpu->main;
  if (ABSL_PREDICT_FALSE(main->full())) {
    FreeSlow(cpu, object);
    return;
  }
  main->Push(object);
  cpu->LetGo();
}

// With `cpu` held and its main sheaf empty; lets go of it.
void* KmemCache::Impl::AllocSlow(CpuSheaves* cpu) {
  if (cpu->SpareHasObjects()) {
    cpu->SwapSheaves();
    void* const object = cpu->main->Pop();
    cpu->LetGo();
    pool_.OnAlloc(object);
    return object;
  }
  // The rest may wait for a mutex or make a slab: not while this CPU is held.
  Sheaf* const empty = std::exchange(cpu->spare, nullptr);
  cpu->LetGo();
  Sheaf* const filled = Refilled(empty);
  if (ABSL_PREDICT_FALSE(filled == nullptr)) return nullptr;
  void* const object = filled->Pop();
  Install(filled);
  pool_.OnAlloc(object);
  return object;
}

// When the sheaf of this CPU is held by a thread that was moved or preempted.
void* KmemCache::Impl::AllocFromSlabs() {
  void* object = nullptr;
  if (pool_.Take(absl::MakeSpan(&object, 1)) == 0) return nullptr;
  pool_.OnAlloc(object);
  return object;
}

// With `cpu` held and its main sheaf full; lets go of it.
void KmemCache::Impl::FreeSlow(CpuSheaves* cpu, void* object) {
  if (cpu->SpareHasRoom()) {
    cpu->SwapSheaves();
    cpu->main->Push(object);
    cpu->LetGo();
    return;
  }
  Sheaf* const full = std::exchange(cpu->spare, nullptr);
  cpu->LetGo();
  Sheaf* const sheaf = Emptied(full);
  if (ABSL_PREDICT_FALSE(sheaf == nullptr)) {
    pool_.Give(absl::MakeConstSpan(&object, 1));
    return;
  }
  sheaf->Push(object);
  Install(sheaf);
}

// A sheaf with objects in return for an empty one (may be null). Null when memory is out.
Sheaf* KmemCache::Impl::Refilled(Sheaf* empty) {
  refills_.fetch_add(1, std::memory_order_relaxed);
  if (Sheaf* const filled = depot_.TakeFilled(empty)) return filled;
  Sheaf* const sheaf = empty != nullptr ? empty : Sheaf::New(options_.sheaf_objects);
  if (sheaf == nullptr) return nullptr;
  sheaf->count = static_cast<uint32_t>(pool_.Take({sheaf->slots(), sheaf->capacity}));
  if (!sheaf->empty()) return sheaf;
  PutAway(sheaf);
  return nullptr;
}

// An empty sheaf in return for a full one (may be null). Null when memory is out.
Sheaf* KmemCache::Impl::Emptied(Sheaf* full) {
  if (full != nullptr) flushes_.fetch_add(1, std::memory_order_relaxed);
  Sheaf* const sheaf = depot_.TakeEmpty(full);
  if (sheaf == nullptr) return Sheaf::New(options_.sheaf_objects);
  if (sheaf == full) {
    pool_.Give(full->objects());
    full->count = 0;
  }
  return sheaf;
}

// Gives a sheaf to the CPU that runs this, or else to the depot.
void KmemCache::Impl::Install(Sheaf* sheaf) {
  CpuSheaves* const cpu = ThisCpu();
  if (cpu->TryHold()) {
    if (cpu->main == NoSheaf()) {
      cpu->main = std::exchange(sheaf, nullptr);
    } else if (cpu->spare == nullptr) {
      cpu->spare = std::exchange(sheaf, nullptr);
    } else if (cpu->spare->empty()) {
      std::swap(cpu->spare, sheaf);
    } else if (cpu->main->empty()) {
      std::swap(cpu->main, sheaf);
    }
    cpu->LetGo();
  }
  if (sheaf != nullptr) PutAway(sheaf);
}

void KmemCache::Impl::PutAway(Sheaf* sheaf) {
  if (depot_.Put(sheaf)) return;
  DrainSheaf(sheaf);
}

// Gives what is in the sheaf to the slabs, and deletes it. Returns slabs released.
uint64_t KmemCache::Impl::DrainSheaf(Sheaf* sheaf) {
  const uint64_t released = sheaf->empty() ? 0 : pool_.Give(sheaf->objects());
  Sheaf::Delete(sheaf);
  return released;
}

size_t KmemCache::Impl::AllocBatch(absl::Span<void*> objects) {
  size_t had = 0;
  CpuSheaves* const cpu = ThisCpu();
  if (cpu->TryHold()) {
    had = cpu->main->PopMany(objects);
    if (had < objects.size() && cpu->SpareHasObjects()) {
      cpu->SwapSheaves();
      had += cpu->main->PopMany(objects.subspan(had));
    }
    cpu->LetGo();
  }
  Sheaf* sheaf = nullptr;
  while (had < objects.size()) {
    if (objects.size() - had < options_.sheaf_objects) {
      sheaf = Refilled(sheaf);
      if (sheaf == nullptr) break;
    } else if (Sheaf* const filled = depot_.TakeFilled(sheaf)) {
      refills_.fetch_add(1, std::memory_order_relaxed);
      sheaf = filled;
    } else {
      // A sheafful and more: no need to pass it through a sheaf.
      had += pool_.Take(objects.subspan(had));
      break;
    }
    had += sheaf->PopMany(objects.subspan(had));
  }
  if (sheaf != nullptr) Install(sheaf);
  for (size_t i = 0; kChecked && i < had; ++i) pool_.OnAlloc(objects[i]);
  return had;
}

void KmemCache::Impl::FreeBatch(absl::Span<void* const> objects) {
  for (size_t i = 0; kChecked && i < objects.size(); ++i) pool_.OnFree(objects[i]);
  size_t done = 0;
  CpuSheaves* const cpu = ThisCpu();
  if (cpu->TryHold()) {
    done = cpu->main->PushMany(objects);
    if (done < objects.size() && cpu->SpareHasRoom()) {
      cpu->SwapSheaves();
      done += cpu->main->PushMany(objects.subspan(done));
    }
    cpu->LetGo();
  }
  Sheaf* sheaf = nullptr;
  while (done < objects.size()) {
    sheaf = Emptied(sheaf);
    if (sheaf == nullptr) {
      pool_.Give(objects.subspan(done));
      break;
    }
    done += sheaf->PushMany(objects.subspan(done));
  }
  if (sheaf != nullptr) Install(sheaf);
}

// Moves every object that is in a sheaf to its slab. Returns slabs released.
uint64_t KmemCache::Impl::Drain() {
  uint64_t released = 0;
  for (uint32_t i = 0; i < cpu_count_; ++i) {
    cpus_[i].Hold();
    Sheaf* const main = std::exchange(cpus_[i].main, NoSheaf());
    Sheaf* const spare = std::exchange(cpus_[i].spare, nullptr);
    cpus_[i].LetGo();
    if (main != NoSheaf()) released += DrainSheaf(main);
    if (spare != nullptr) released += DrainSheaf(spare);
  }
  for (Sheaf* sheaf = depot_.TakeAll(); sheaf != nullptr;) {
    Sheaf* const next = sheaf->next;
    released += DrainSheaf(sheaf);
    sheaf = next;
  }
  return released;
}

ShrinkResult KmemCache::Impl::Shrink() {
  uint64_t slabs = Drain();
  slabs += pool_.ReleaseEmpty();
  rcu::Barrier();
  return {slabs, slabs * pool_.layout().slab_bytes};
}

CacheStats KmemCache::Impl::stats() const {
  CacheStats stats;
  stats.name = options_.name;
  for (uint32_t i = 0; i < cpu_count_; ++i) {
    CpuSheaves& cpu = cpus_[i];
    cpu.Hold();
    stats.objects_in_sheaves += cpu.main->count + (cpu.spare != nullptr ? cpu.spare->count : 0);
    cpu.LetGo();
  }
  stats.objects_in_sheaves += depot_.Objects();
  stats.sheaf_refills = refills_.load(std::memory_order_relaxed);
  stats.sheaf_flushes = flushes_.load(std::memory_order_relaxed);
  const uint64_t free = pool_.FillStats(&stats) + stats.objects_in_sheaves;
  // Objects on their way between sheaves and slabs may be counted twice.
  stats.objects_in_use = stats.objects_total - std::min(free, stats.objects_total);
  return stats;
}

KmemCache::KmemCache(CacheOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

KmemCache::~KmemCache() = default;

void* KmemCache::Alloc() { return impl_->Alloc(); }

void KmemCache::Free(void* object) { impl_->Free(object); }

size_t KmemCache::AllocBatch(absl::Span<void*> objects) { return impl_->AllocBatch(objects); }

void KmemCache::FreeBatch(absl::Span<void* const> objects) { impl_->FreeBatch(objects); }

ShrinkResult KmemCache::Shrink() { return impl_->Shrink(); }

CacheStats KmemCache::stats() const { return impl_->stats(); }

const std::string& KmemCache::name() const { return impl_->name(); }

void KmemCache::FailSlabsAfter(int64_t successes) { impl_->FailSlabsAfter(successes); }

}  // namespace tcact::slab
