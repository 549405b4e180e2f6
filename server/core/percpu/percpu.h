// Per-CPU memory: one allocation is a region in each CPU's unit (the twin of mm/percpu.c).
//
// Words: a *unit* is one CPU's part of a *chunk*; a chunk is one mapping of Units() units of
// kUnitBytes; a region has the same place in every unit of its chunk. A region is named by its
// address in unit 0 (`Region`), and its copy for a CPU is one multiply-add away (Ptr).
//
// Invariants
//   - Region + cpu * kUnitBytes is inside the region's chunk for every cpu < Units().
//   - A region handed out by Alloc or AllocBatch is zero in every unit.
//   - Regions of one size class fill chunks of their own; a chunk whose last region is freed goes
//     back to the system, except one spare chunk of each class.
//   - All free lists are guarded by the one mutex named "pcpu_alloc_mutex"; AllocBatch and
//     FreeBatch take it once. Under it only "page_area_mutex" is taken, and only when a chunk is
//     made: to others it is a leaf lock. Zeroing and the return of chunks to the system happen
//     outside it.
//   - Physical memory is behind what was used: making a chunk and allocating a region never used
//     before touch none.
//   - With address sanitizer, free regions are poisoned in every unit.
//
// Thread safety: all methods, from any thread.
#ifndef TCACT_SERVER_CORE_PERCPU_PERCPU_H_
#define TCACT_SERVER_CORE_PERCPU_PERCPU_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "server/core/percpu/cpu.h"

namespace tcact::percpu {

// Bytes of one CPU's part of a chunk.
inline constexpr size_t kUnitBytes = size_t{64} * 1024;
// Largest region.
inline constexpr size_t kMaxRegionBytes = 4096;

// Address of a region's copy in unit 0; null is "none".
using Region = std::byte*;

inline std::byte* Ptr(Region region, uint32_t cpu) { return region + size_t{cpu} * kUnitBytes; }

struct Stats {
  uint32_t units = 0;
  uint64_t unit_bytes = 0;
  uint64_t chunks = 0;  // spare ones included
  uint64_t chunks_made = 0;
  uint64_t chunks_released = 0;
  uint64_t regions = 0;
  // Of the regions handed out, in one unit, rounding up to their size class included.
  uint64_t region_bytes = 0;
};

class Allocator {
 public:
  // `units` 0 means UsableCpus().
  explicit Allocator(uint32_t units = 0);
  // REQUIRES: all regions freed (checked).
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  uint32_t units() const { return units_; }

  // One zeroed region of `size` bytes, aligned to the next power of two of size up to 64. Null when
  // memory is out. REQUIRES: 1 <= size <= kMaxRegionBytes.
  Region Alloc(size_t size);

  // As many as regions.size(), in one acquisition of the mutex; all or none: false when memory is
  // out.
  bool AllocBatch(size_t size, absl::Span<Region> regions);

  // `size` as at Alloc. REQUIRES: allocated and not yet freed (checked; a broken rule aborts with
  // its name).
  void Free(Region region, size_t size);
  void FreeBatch(size_t size, absl::Span<const Region> regions);

  // Gives the spare chunks back. Returns bytes given back.
  uint64_t Trim();

  Stats stats() const;

  // For tests: after `successes` further region allocations every one fails; negative: never. A
  // batch that fails uses up the successes that were left.
  void FailAfter(int64_t successes);

 private:
  class Impl;
  const uint32_t units_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tcact::percpu

#endif  // TCACT_SERVER_CORE_PERCPU_PERCPU_H_
