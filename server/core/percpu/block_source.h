// BlockSource: equal blocks of memory cut from large mappings, for what lays out memory itself
// (per-CPU chunks, slabs).
//
// Words: an *area* is one mapping, aligned to 2 MiB and (when blocks are smaller than that) 2 MiB
// long.
//
// Invariants
//   - A block handed out by Take is zero. Physical memory comes with the first touch: in a source's
//     first area page by page, so that small users stay small; later areas are advised to be huge
//     pages, so that large users need few TLB entries.
//   - Blocks are aligned to the largest power of two that divides their size, up to 2 MiB.
//   - A block given back has no physical memory any more; an area whose last block is given back is
//     unmapped.
//
// Thread safety: all methods but the destructor, from any thread. The mutex "page_area_mutex" is a
// leaf lock and is not held while memory is mapped for a new area, dropped or unmapped.
#ifndef TCACT_SERVER_CORE_PERCPU_BLOCK_SOURCE_H_
#define TCACT_SERVER_CORE_PERCPU_BLOCK_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "server/core/lock/counted_mutex.h"

namespace tcact::percpu {

class BlockSource {
 public:
  static constexpr size_t kAreaBytes = size_t{2} * 1024 * 1024;
  static constexpr size_t kMinBlockBytes = size_t{16} * 1024;

  // REQUIRES: block_bytes is a multiple of 4096 and at least kMinBlockBytes (checked).
  explicit BlockSource(size_t block_bytes);
  // REQUIRES: every block was given back (checked).
  ~BlockSource();
  BlockSource(const BlockSource&) = delete;
  BlockSource& operator=(const BlockSource&) = delete;

  // A zero block, from the lowest area that has one. Null when memory is out.
  std::byte* Take();

  // REQUIRES: from Take of this source, not given back since (checked).
  void Give(std::byte* block);

  // Address space that is mapped now.
  uint64_t MappedBytes() const;

 private:
  static constexpr size_t kMaxBlocks = kAreaBytes / kMinBlockBytes;
  struct Area {
    uint64_t taken[kMaxBlocks / 64] = {};
    size_t taken_count = 0;
  };
  using Areas = std::map<std::byte*, Area>;

  std::byte* TakeFrom(std::byte* base, Area* area) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Marks the block as free. Returns the base of an area that is now empty and no longer known, or
  // null.
  std::byte* Untake(std::byte* block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Areas::iterator AreaOf(std::byte* block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const size_t block_bytes_;
  const size_t area_bytes_;
  const size_t blocks_per_area_;
  mutable lock::CountedMutex mu_{"page_area_mutex"};
  Areas areas_ ABSL_GUARDED_BY(mu_);
  // Areas with a free block, by address.
  std::set<std::byte*> with_free_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tcact::percpu

#endif  // TCACT_SERVER_CORE_PERCPU_BLOCK_SOURCE_H_
