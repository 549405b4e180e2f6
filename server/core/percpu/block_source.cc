#include "server/core/percpu/block_source.h"

#include <sys/mman.h>

#include <bit>

#include "absl/base/config.h"
#include "absl/base/internal/raw_logging.h"

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace tcact::percpu {
namespace {

size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// A mapping of `bytes`, aligned to kAreaBytes, or null.
std::byte* MapArea(size_t bytes, bool huge) {
  const size_t asked = bytes + BlockSource::kAreaBytes;
  void* const raw = mmap(nullptr, asked, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* const start = static_cast<std::byte*>(raw);
  auto* const base = reinterpret_cast<std::byte*>(
      RoundUp(reinterpret_cast<uintptr_t>(start), BlockSource::kAreaBytes));
  const auto before = static_cast<size_t>(base - start);
  if (before > 0) munmap(start, before);
  munmap(base + bytes, asked - before - bytes);
  // Advice only: a kernel without huge pages refuses it, and all works as well.
  if (huge) madvise(base, bytes, MADV_HUGEPAGE);
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  // What lies here may own memory of the heap: the leak check must see it.
  __lsan_register_root_region(base, bytes);
#endif
  return base;
}

void UnmapArea(std::byte* base, size_t bytes) {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  __lsan_unregister_root_region(base, bytes);
#endif
  munmap(base, bytes);
}

}  // namespace

BlockSource::BlockSource(size_t block_bytes)
    : block_bytes_(block_bytes),
      area_bytes_(RoundUp(block_bytes, kAreaBytes)),
      blocks_per_area_(block_bytes == 0 ? 0 : area_bytes_ / block_bytes) {
  if (block_bytes < kMinBlockBytes || block_bytes % 4096 != 0) {
    ABSL_RAW_LOG(FATAL, "BlockSource: blocks of %zu bytes, must be a multiple of 4096 from %zu on",
                 block_bytes, kMinBlockBytes);
  }
}

BlockSource::~BlockSource() {
  lock::CountedLock lock(&mu_);
  if (!areas_.empty()) ABSL_RAW_LOG(FATAL, "BlockSource: destroyed with blocks in use");
}

std::byte* BlockSource::TakeFrom(std::byte* base, Area* area) {
  for (size_t word = 0;; ++word) {
    if (~area->taken[word] == 0) continue;
    const size_t bit = static_cast<size_t>(std::countr_one(area->taken[word]));
    area->taken[word] |= uint64_t{1} << bit;
    if (++area->taken_count == blocks_per_area_) with_free_.erase(base);
    return base + (word * 64 + bit) * block_bytes_;
  }
}

std::byte* BlockSource::Take() {
  bool huge;
  {
    lock::CountedLock lock(&mu_);
    if (!with_free_.empty()) {
      std::byte* const base = *with_free_.begin();
      return TakeFrom(base, &areas_.find(base)->second);
    }
    huge = !areas_.empty();
  }
  std::byte* const base = MapArea(area_bytes_, huge);
  if (base == nullptr) return nullptr;
  lock::CountedLock lock(&mu_);
  Area& area = areas_[base];
  with_free_.insert(base);
  return TakeFrom(base, &area);
}

BlockSource::Areas::iterator BlockSource::AreaOf(std::byte* block) {
  auto it = areas_.upper_bound(block);
  bool in_use = false;
  if (it != areas_.begin()) {
    --it;
    const auto offset = static_cast<size_t>(block - it->first);
    const size_t index = offset / block_bytes_;
    in_use = offset % block_bytes_ == 0 && index < blocks_per_area_ &&
             (it->second.taken[index / 64] >> (index % 64) & 1) != 0;
  }
  if (!in_use) ABSL_RAW_LOG(FATAL, "BlockSource: Give of %p, which is no block in use", block);
  return it;
}

std::byte* BlockSource::Untake(std::byte* block) {
  const auto it = AreaOf(block);
  const size_t index = static_cast<size_t>(block - it->first) / block_bytes_;
  it->second.taken[index / 64] &= ~(uint64_t{1} << (index % 64));
  if (--it->second.taken_count > 0) {
    with_free_.insert(it->first);
    return nullptr;
  }
  std::byte* const base = it->first;
  with_free_.erase(base);
  areas_.erase(it);
  return base;
}

void BlockSource::Give(std::byte* block) {
  {
    lock::CountedLock lock(&mu_);
    AreaOf(block);  // checks, before anything is dropped
  }
  // Before the block can be taken again, which must find it zero.
  if (madvise(block, block_bytes_, MADV_DONTNEED) != 0) {
    ABSL_RAW_LOG(FATAL, "BlockSource: the system refused to take back %zu bytes", block_bytes_);
  }
  std::byte* empty;
  {
    lock::CountedLock lock(&mu_);
    empty = Untake(block);
  }
  if (empty != nullptr) UnmapArea(empty, area_bytes_);
}

uint64_t BlockSource::MappedBytes() const {
  lock::CountedLock lock(&mu_);
  return areas_.size() * area_bytes_;
}

}  // namespace tcact::percpu
