#include "server/core/percpu/percpu.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/base/config.h"
#include "absl/base/internal/raw_logging.h"
#include "absl/base/optimization.h"
#include "absl/container/flat_hash_map.h"
#include "server/core/lock/counted_mutex.h"
#include "server/core/percpu/block_source.h"

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace tcact::percpu {
namespace {

// From 64 bytes on multiples of 64, so that every region has its alignment by its place.
constexpr size_t kClassBytes[] = {8,   16,  32,  64,   128,  192,  256,  320,
                                  384, 512, 768, 1024, 1536, 2048, 3072, 4096};
constexpr size_t kClasses = std::size(kClassBytes);
constexpr size_t kMostRegions = kUnitBytes / kClassBytes[0];
static_assert(kClassBytes[kClasses - 1] == kMaxRegionBytes);

size_t ClassOf(size_t size) {
  if (size < 1 || size > kMaxRegionBytes) {
    ABSL_RAW_LOG(FATAL, "percpu: a region of %zu bytes, must be 1 to %zu", size, kMaxRegionBytes);
  }
  return static_cast<size_t>(
      std::lower_bound(std::begin(kClassBytes), std::end(kClassBytes), size) - kClassBytes);
}

// Which regions of a chunk are free: a bit each, and above them a bit for each word that has one.
class FreeMap {
 public:
  void FillFirst(size_t regions) {
    for (size_t i = 0; i < regions; ++i) Set(i);
  }
  bool IsFree(size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void Set(size_t i) {
    words_[i / 64] |= uint64_t{1} << (i % 64);
    summary_[i / 4096] |= uint64_t{1} << (i / 64 % 64);
  }
  // Takes the lowest. REQUIRES: one is free.
  size_t TakeLowest() {
    const size_t half = summary_[0] != 0 ? 0 : 1;
    const size_t word = half * 64 + static_cast<size_t>(std::countr_zero(summary_[half]));
    const size_t i = word * 64 + static_cast<size_t>(std::countr_zero(words_[word]));
    words_[word] &= words_[word] - 1;
    if (words_[word] == 0) summary_[half] &= summary_[half] - 1;
    return i;
  }

 private:
  uint64_t summary_[kMostRegions / 4096] = {};
  uint64_t words_[kMostRegions / 64] = {};
};
static_assert(kMostRegions == 8192);

struct Chunk {
  Chunk(std::byte* memory, size_t class_of_regions)
      : base(memory),
        size_class(class_of_regions),
        region_bytes(kClassBytes[class_of_regions]),
        regions(kUnitBytes / region_bytes),
        free_count(regions) {
    free.FillFirst(regions);
  }

  std::byte* const base;
  const size_t size_class;
  const size_t region_bytes;
  const size_t regions;
  size_t free_count;
  // Regions from this one on are zero, as the system gave them.
  size_t never_used_from = 0;
  FreeMap free;
  // The list of its class's chunks that have a free region.
  Chunk* previous = nullptr;
  Chunk* next = nullptr;
};

struct ChunkList {
  Chunk* first = nullptr;
  Chunk* last = nullptr;

  void PushFront(Chunk* chunk) {
    chunk->previous = nullptr;
    chunk->next = first;
    (first != nullptr ? first->previous : last) = chunk;
    first = chunk;
  }
  void PushBack(Chunk* chunk) {
    chunk->next = nullptr;
    chunk->previous = last;
    (last != nullptr ? last->next : first) = chunk;
    last = chunk;
  }
  void Remove(Chunk* chunk) {
    (chunk->previous != nullptr ? chunk->previous->next : first) = chunk->next;
    (chunk->next != nullptr ? chunk->next->previous : last) = chunk->previous;
  }
};

// Regions are at least 8-aligned. Between the mutex and the zeroing, this bit in a region's address
// says that it was used before.
constexpr uintptr_t kUsedBefore = 1;

std::byte* ChunkBase(std::byte* address) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(address) & ~(kUnitBytes - 1));
}

void PoisonEverywhere([[maybe_unused]] Region region, [[maybe_unused]] size_t bytes,
                      [[maybe_unused]] uint32_t units, [[maybe_unused]] bool poison) {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  for (uint32_t cpu = 0; cpu < units; ++cpu) {
    if (poison) {
      ASAN_POISON_MEMORY_REGION(Ptr(region, cpu), bytes);
    } else {
      ASAN_UNPOISON_MEMORY_REGION(Ptr(region, cpu), bytes);
    }
  }
#endif
}

}  // namespace

class Allocator::Impl {
 public:
  explicit Impl(uint32_t units) : units_(units), source_(size_t{units} * kUnitBytes) {}
  ~Impl();

  bool AllocBatch(size_t size, absl::Span<Region> regions);
  void FreeBatch(size_t size, absl::Span<const Region> regions);
  uint64_t Trim();
  Stats stats() const;
  void FailAfter(int64_t successes);

 private:
  // Chunks that left the lists and whose memory goes back once the mutex is free.
  using Leaving = std::vector<std::byte*>;

  bool MayAllocate(size_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Chunk* ChunkWithFree(size_t size_class) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Region TakeRegion(Chunk* chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FreeRegion(size_t size_class, Region region, Leaving* leaving)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Chunk* ChunkAt(std::byte* base) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Chunk* CheckedChunkOf(size_t size_class, Region region) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RetireChunk(Chunk* chunk, Leaving* leaving) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveBack(const Leaving& leaving);

  const uint32_t units_;
  BlockSource source_;
  mutable lock::CountedMutex mu_{"pcpu_alloc_mutex"};
  ChunkList with_free_[kClasses] ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::byte*, std::unique_ptr<Chunk>> chunks_ ABSL_GUARDED_BY(mu_);
  // Where the last region was freed: most are freed beside their neighbours. Null or in chunks_.
  Chunk* last_freed_in_ ABSL_GUARDED_BY(mu_) = nullptr;
  // Each class's one empty chunk (also last in its list), kept so that a chunk at the edge is not
  // made and released time and again.
  Chunk* spare_[kClasses] ABSL_GUARDED_BY(mu_) = {};
  uint64_t chunks_made_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t chunks_released_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t regions_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t region_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t fail_after_ ABSL_GUARDED_BY(mu_) = -1;
};

Allocator::Impl::~Impl() {
  Trim();
  lock::CountedLock lock(&mu_);
  if (regions_ != 0) {
    ABSL_RAW_LOG(FATAL, "percpu: allocator destroyed with %llu regions in use",
                 static_cast<unsigned long long>(regions_));
  }
}

bool Allocator::Impl::MayAllocate(size_t count) {
  if (fail_after_ < 0) return true;
  const auto wanted = static_cast<int64_t>(count);
  const bool may = wanted <= fail_after_;
  fail_after_ = may ? fail_after_ - wanted : 0;
  return may;
}

Chunk* Allocator::Impl::ChunkWithFree(size_t size_class) {
  ChunkList& list = with_free_[size_class];
  if (ABSL_PREDICT_TRUE(list.first != nullptr)) return list.first;
  std::byte* const memory = source_.Take();
  if (memory == nullptr) return nullptr;
  ++chunks_made_;
  PoisonEverywhere(memory, kUnitBytes, units_, true);
  auto owned = std::make_unique<Chunk>(memory, size_class);
  Chunk* const chunk = owned.get();
  chunks_.emplace(memory, std::move(owned));
  list.PushBack(chunk);
  return chunk;
}

Region Allocator::Impl::TakeRegion(Chunk* chunk) {
  if (ABSL_PREDICT_FALSE(spare_[chunk->size_class] == chunk)) spare_[chunk->size_class] = nullptr;
  const size_t i = chunk->free.TakeLowest();
  if (--chunk->free_count == 0) with_free_[chunk->size_class].Remove(chunk);
  ++regions_;
  region_bytes_ += chunk->region_bytes;
  std::byte* const region = chunk->base + i * chunk->region_bytes;
  if (i >= chunk->never_used_from) {
    chunk->never_used_from = i + 1;
    return region;
  }
  return reinterpret_cast<Region>(reinterpret_cast<uintptr_t>(region) | kUsedBefore);
}

bool Allocator::Impl::AllocBatch(size_t size, absl::Span<Region> regions) {
  const size_t size_class = ClassOf(size);
  Leaving leaving;
  bool complete = true;
  {
    lock::CountedLock lock(&mu_);
    if (ABSL_PREDICT_FALSE(!MayAllocate(regions.size()))) return false;
    for (size_t i = 0; i < regions.size(); ++i) {
      Chunk* const chunk = ChunkWithFree(size_class);
      if (ABSL_PREDICT_FALSE(chunk == nullptr)) {
        complete = false;
        for (size_t back = 0; back < i; ++back) {
          const uintptr_t address = reinterpret_cast<uintptr_t>(regions[back]) & ~kUsedBefore;
          FreeRegion(size_class, reinterpret_cast<Region>(address), &leaving);
        }
        break;
      }
      regions[i] = TakeRegion(chunk);
    }
  }
  if (ABSL_PREDICT_FALSE(!complete)) {
    GiveBack(leaving);
    return false;
  }
  const size_t bytes = kClassBytes[size_class];
  for (Region& region : regions) {
    const auto address = reinterpret_cast<uintptr_t>(region);
    region = reinterpret_cast<Region>(address & ~kUsedBefore);
    PoisonEverywhere(region, bytes, units_, false);
    if ((address & kUsedBefore) == 0) continue;
    for (uint32_t cpu = 0; cpu < units_; ++cpu) std::memset(Ptr(region, cpu), 0, bytes);
  }
  return true;
}

Chunk* Allocator::Impl::ChunkAt(std::byte* base) {
  if (last_freed_in_ != nullptr && last_freed_in_->base == base) return last_freed_in_;
  const auto it = chunks_.find(base);
  if (it == chunks_.end()) return nullptr;
  return last_freed_in_ = it->second.get();
}

Chunk* Allocator::Impl::CheckedChunkOf(size_t size_class, Region region) {
  Chunk* const chunk = ChunkAt(ChunkBase(region));
  if (chunk == nullptr) {
    ABSL_RAW_LOG(FATAL, "percpu: Free of %p, which is no region of this allocator", region);
  }
  if (chunk->size_class != size_class) {
    ABSL_RAW_LOG(FATAL, "percpu: Free of %p as up to %zu bytes, but it was allocated as up to %zu",
                 region, kClassBytes[size_class], chunk->region_bytes);
  }
  const auto offset = static_cast<size_t>(region - chunk->base);
  if (offset % chunk->region_bytes != 0 || offset / chunk->region_bytes >= chunk->regions) {
    ABSL_RAW_LOG(FATAL, "percpu: Free of %p, which is not the start of a region", region);
  }
  if (chunk->free.IsFree(offset / chunk->region_bytes)) {
    ABSL_RAW_LOG(FATAL, "percpu: double free of region %p", region);
  }
  return chunk;
}

void Allocator::Impl::FreeRegion(size_t size_class, Region region, Leaving* leaving) {
  Chunk* const chunk = CheckedChunkOf(size_class, region);
  PoisonEverywhere(region, chunk->region_bytes, units_, true);
  chunk->free.Set(static_cast<size_t>(region - chunk->base) / chunk->region_bytes);
  --regions_;
  region_bytes_ -= chunk->region_bytes;
  // To the front: a chunk that was just full is the one to fill up again, so that others can become
  // empty.
  if (++chunk->free_count == 1) with_free_[size_class].PushFront(chunk);
  if (ABSL_PREDICT_TRUE(chunk->free_count < chunk->regions)) return;
  if (spare_[size_class] != nullptr) {
    RetireChunk(chunk, leaving);
    return;
  }
  spare_[size_class] = chunk;
  with_free_[size_class].Remove(chunk);
  with_free_[size_class].PushBack(chunk);
}

void Allocator::Impl::RetireChunk(Chunk* chunk, Leaving* leaving) {
  with_free_[chunk->size_class].Remove(chunk);
  std::byte* const memory = chunk->base;
  if (last_freed_in_ == chunk) last_freed_in_ = nullptr;
  chunks_.erase(memory);
  ++chunks_released_;
  leaving->push_back(memory);
}

void Allocator::Impl::GiveBack(const Leaving& leaving) {
  for (std::byte* memory : leaving) {
    PoisonEverywhere(memory, kUnitBytes, units_, false);
    source_.Give(memory);
  }
}

void Allocator::Impl::FreeBatch(size_t size, absl::Span<const Region> regions) {
  const size_t size_class = ClassOf(size);
  Leaving leaving;
  {
    lock::CountedLock lock(&mu_);
    for (Region region : regions) FreeRegion(size_class, region, &leaving);
  }
  GiveBack(leaving);
}

uint64_t Allocator::Impl::Trim() {
  Leaving leaving;
  {
    lock::CountedLock lock(&mu_);
    for (Chunk*& spare : spare_) {
      if (spare != nullptr) RetireChunk(spare, &leaving);
      spare = nullptr;
    }
  }
  GiveBack(leaving);
  return leaving.size() * units_ * kUnitBytes;
}

Stats Allocator::Impl::stats() const {
  lock::CountedLock lock(&mu_);
  Stats stats;
  stats.units = units_;
  stats.unit_bytes = kUnitBytes;
  stats.chunks = chunks_.size();
  stats.chunks_made = chunks_made_;
  stats.chunks_released = chunks_released_;
  stats.regions = regions_;
  stats.region_bytes = region_bytes_;
  return stats;
}

void Allocator::Impl::FailAfter(int64_t successes) {
  lock::CountedLock lock(&mu_);
  fail_after_ = successes < 0 ? -1 : successes;
}

Allocator::Allocator(uint32_t units)
    : units_(units != 0 ? units : UsableCpus()), impl_(std::make_unique<Impl>(units_)) {}

Allocator::~Allocator() = default;

Region Allocator::Alloc(size_t size) {
  Region region = nullptr;
  return impl_->AllocBatch(size, absl::MakeSpan(&region, 1)) ? region : nullptr;
}

bool Allocator::AllocBatch(size_t size, absl::Span<Region> regions) {
  return impl_->AllocBatch(size, regions);
}

void Allocator::Free(Region region, size_t size) {
  impl_->FreeBatch(size, absl::MakeConstSpan(&region, 1));
}

void Allocator::FreeBatch(size_t size, absl::Span<const Region> regions) {
  impl_->FreeBatch(size, regions);
}

uint64_t Allocator::Trim() { return impl_->Trim(); }

Stats Allocator::stats() const { return impl_->stats(); }

void Allocator::FailAfter(int64_t successes) { impl_->FailAfter(successes); }

}  // namespace tcact::percpu
