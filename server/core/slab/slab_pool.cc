#include "server/core/slab/slab_pool.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>

#include "absl/base/internal/raw_logging.h"
#include "absl/base/optimization.h"
#include "server/core/rcu/rcu.h"

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace tcact::slab {

// The head of a slab's memory. The bitmap of free objects follows, and in checked builds the bitmap
// of the objects that are in use.
struct Slab {
  SlabPool* pool;
  Slab* previous;
  Slab* next;
  size_t free_count;

  uint64_t* free_map() { return reinterpret_cast<uint64_t*>(this + 1); }
};

namespace {

constexpr size_t kSmallestSlab = percpu::BlockSource::kMinBlockBytes;
constexpr size_t kLargestSlab = size_t{64} * 1024;
// Slabs are no larger than needed for this many: enough that what a constructor takes in one go is
// taken rarely.
constexpr size_t kEnoughObjects = 500;

constexpr size_t kRedZoneBytes = kChecked ? 16 : 0;
constexpr int kRedZoneByte = 0xBB;

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
constexpr bool kPoisons = true;
void Poison(void* start, size_t bytes) { ASAN_POISON_MEMORY_REGION(start, bytes); }
void Unpoison(void* start, size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(start, bytes); }
#else
constexpr bool kPoisons = false;
void Poison(void*, size_t) {}
void Unpoison(void*, size_t) {}
#endif

size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::atomic_ref<uint64_t> InUseWord(Slab* slab, size_t map_words, size_t index) {
  return std::atomic_ref<uint64_t>(slab->free_map()[map_words + index / 64]);
}

uint64_t BitOf(size_t index) { return uint64_t{1} << (index % 64); }

// Lays out a slab of the given size.
Layout LayoutIn(size_t slab_bytes, size_t object_bytes, size_t stride, size_t align) {
  const size_t maps = kChecked ? 2 : 1;
  Layout layout;
  layout.object_bytes = object_bytes;
  layout.stride = stride;
  layout.slab_bytes = slab_bytes;
  // Fewer objects need a smaller bitmap: two or three rounds meet.
  layout.objects = slab_bytes / stride;
  for (;;) {
    layout.map_words = (layout.objects + 63) / 64;
    layout.first_object = RoundUp(sizeof(Slab) + maps * layout.map_words * sizeof(uint64_t), align);
    if (layout.first_object + layout.objects * stride <= slab_bytes) return layout;
    --layout.objects;
  }
}

}  // namespace

Layout LayoutFor(size_t object_size, size_t align, size_t red_zone) {
  const size_t object_bytes = RoundUp(object_size, align);
  const size_t stride = RoundUp(object_size + red_zone, align);
  size_t slab_bytes = kSmallestSlab;
  while (slab_bytes < kLargestSlab && slab_bytes / stride < kEnoughObjects) slab_bytes *= 2;
  return LayoutIn(slab_bytes, object_bytes, stride, align);
}

void SlabPool::SlabList::Push(Slab* slab) {
  slab->previous = nullptr;
  slab->next = first;
  if (first != nullptr) first->previous = slab;
  first = slab;
}

void SlabPool::SlabList::Remove(Slab* slab) {
  (slab->previous != nullptr ? slab->previous->next : first) = slab->next;
  if (slab->next != nullptr) slab->next->previous = slab->previous;
}

SlabPool::SlabPool(const CacheOptions& options)
    : name_(options.name),
      layout_(LayoutFor(options.object_size, options.align, kRedZoneBytes)),
      object_size_(options.object_size),
      life_(options.life),
      poison_from_(options.poison_from),
      keep_empty_(options.keep_empty_slabs),
      source_(layout_.slab_bytes),
      mu_(options.name + ":slabs") {
  rcu::Prepare();
}

SlabPool::~SlabPool() {
  // Slabs whose grace period is still to pass refer to this pool.
  rcu::Barrier();
}

Slab* SlabPool::SlabOf(void* object) const {
  return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(object) & ~(layout_.slab_bytes - 1));
}

size_t SlabPool::IndexOf(Slab* slab, void* object) const {
  const auto offset =
      static_cast<uint32_t>(static_cast<std::byte*>(object) - reinterpret_cast<std::byte*>(slab) -
                            static_cast<ptrdiff_t>(layout_.first_object));
  return offset / static_cast<uint32_t>(layout_.stride);
}

void* SlabPool::ObjectAt(Slab* slab, size_t index) const {
  return reinterpret_cast<std::byte*>(slab) + layout_.first_object + index * layout_.stride;
}

// Makes and constructs a slab that is in no list yet, with all objects free.
Slab* SlabPool::MakeSlab() {
  {
    lock::CountedLock lock(&mu_);
    if (fail_after_ == 0) return nullptr;
    if (fail_after_ > 0) --fail_after_;
  }
  std::byte* const memory = source_.Take();
  if (memory == nullptr) return nullptr;
  Slab* const slab = new (memory) Slab{this, nullptr, nullptr, layout_.objects};
  for (size_t left = layout_.objects, word = 0; left > 0; ++word) {
    const size_t bits = std::min<size_t>(left, 64);
    slab->free_map()[word] = ~uint64_t{0} >> (64 - bits);
    left -= bits;
  }
  if (!ConstructAll(slab)) {
    // Nobody has seen the slab, so no grace period is due.
    source_.Give(memory);
    return nullptr;
  }
  if constexpr (kChecked) PrepareChecks(slab);
  return slab;
}

bool SlabPool::ConstructAll(Slab* slab) {
  if (life_ == nullptr) return true;
  std::vector<void*> objects(layout_.objects);
  for (size_t i = 0; i < objects.size(); ++i) objects[i] = ObjectAt(slab, i);
  const size_t constructed = life_->Construct(objects);
  if (ABSL_PREDICT_TRUE(constructed == objects.size())) return true;
  if (constructed > objects.size()) {
    ABSL_RAW_LOG(FATAL, "slab %s: Construct says %zu of %zu objects", name_.c_str(), constructed,
                 objects.size());
  }
  DestructFirst(slab, constructed);
  lock::CountedLock lock(&mu_);
  ++ctor_failures_;
  return false;
}

// Destructs the objects below `count`, last first.
void SlabPool::DestructFirst(Slab* slab, size_t count) {
  if (life_ == nullptr || count == 0) return;
  std::vector<void*> objects(count);
  for (size_t i = 0; i < count; ++i) objects[i] = ObjectAt(slab, count - 1 - i);
  life_->Destruct(objects);
}

void SlabPool::ReleaseLater(absl::Span<Slab* const> slabs) {
  for (Slab* slab : slabs) {
    rcu::Defer(
        [](void* arg) {
          auto* const released = static_cast<Slab*>(arg);
          released->pool->Release(released);
        },
        slab);
  }
}

void SlabPool::Release(Slab* slab) {
  if constexpr (kChecked) EndChecks(slab);
  DestructFirst(slab, layout_.objects);
  source_.Give(reinterpret_cast<std::byte*>(slab));
}

size_t SlabPool::TakeFromSlab(Slab* slab, absl::Span<void*> objects) {
  size_t taken = 0;
  uint64_t* const map = slab->free_map();
  for (size_t word = 0; word < layout_.map_words && taken < objects.size(); ++word) {
    uint64_t bits = map[word];
    while (bits != 0 && taken < objects.size()) {
      objects[taken++] = ObjectAt(slab, word * 64 + static_cast<size_t>(std::countr_zero(bits)));
      bits &= bits - 1;
    }
    map[word] = bits;
  }
  slab->free_count -= taken;
  free_objects_ -= taken;
  return taken;
}

size_t SlabPool::TakeFree(absl::Span<void*> objects) {
  size_t taken = 0;
  while (taken < objects.size()) {
    Slab* slab = partial_.first;
    if (slab == nullptr) {
      slab = empty_.first;
      if (slab == nullptr) break;
      empty_.Remove(slab);
      --empty_slabs_;
      partial_.Push(slab);
    }
    taken += TakeFromSlab(slab, objects.subspan(taken));
    if (slab->free_count == 0) partial_.Remove(slab);
  }
  return taken;
}

size_t SlabPool::Take(absl::Span<void*> objects) {
  size_t taken = 0;
  {
    lock::CountedLock lock(&mu_);
    taken = TakeFree(objects);
  }
  // Without the lock: a constructor may take long, and two threads that both need a slab had better
  // make two than wait.
  while (ABSL_PREDICT_FALSE(taken < objects.size())) {
    Slab* const slab = MakeSlab();
    if (slab == nullptr) break;
    lock::CountedLock lock(&mu_);
    ++slabs_;
    ++slabs_made_;
    free_objects_ += layout_.objects;
    ++empty_slabs_;
    empty_.Push(slab);
    taken += TakeFree(objects.subspan(taken));
  }
  return taken;
}

Slab* SlabPool::GiveOne(void* object) {
  Slab* const slab = SlabOf(object);
  const size_t index = IndexOf(slab, object);
  slab->free_map()[index / 64] |= BitOf(index);
  ++free_objects_;
  if (++slab->free_count == 1) partial_.Push(slab);
  if (ABSL_PREDICT_TRUE(slab->free_count < layout_.objects)) return nullptr;
  partial_.Remove(slab);
  if (empty_slabs_ < keep_empty_) {
    ++empty_slabs_;
    empty_.Push(slab);
    return nullptr;
  }
  --slabs_;
  ++slabs_released_;
  free_objects_ -= layout_.objects;
  return slab;
}

uint64_t SlabPool::Give(absl::Span<void* const> objects) {
  std::vector<Slab*> leaving;
  {
    lock::CountedLock lock(&mu_);
    for (void* object : objects) {
      Slab* const slab = GiveOne(object);
      if (ABSL_PREDICT_FALSE(slab != nullptr)) leaving.push_back(slab);
    }
  }
  ReleaseLater(leaving);
  return leaving.size();
}

uint64_t SlabPool::ReleaseEmpty() {
  std::vector<Slab*> leaving;
  {
    lock::CountedLock lock(&mu_);
    for (Slab* slab = empty_.first; slab != nullptr; slab = slab->next) leaving.push_back(slab);
    empty_.first = nullptr;
    empty_slabs_ = 0;
    slabs_ -= leaving.size();
    slabs_released_ += leaving.size();
    free_objects_ -= leaving.size() * layout_.objects;
  }
  ReleaseLater(leaving);
  return leaving.size();
}

uint64_t SlabPool::FillStats(CacheStats* stats) const {
  stats->object_size = layout_.object_bytes;
  stats->objects_per_slab = layout_.objects;
  stats->slab_bytes = layout_.slab_bytes;
  lock::CountedLock lock(&mu_);
  stats->objects_total = slabs_ * layout_.objects;
  stats->slabs = slabs_;
  stats->empty_slabs = empty_slabs_;
  stats->slabs_made = slabs_made_;
  stats->slabs_released = slabs_released_;
  stats->ctor_failures = ctor_failures_;
  return free_objects_;
}

void SlabPool::FailSlabsAfter(int64_t successes) {
  lock::CountedLock lock(&mu_);
  fail_after_ = successes < 0 ? -1 : successes;
}

void SlabPool::PoisonObject(void* object, bool poison) {
  if (!kPoisons || poison_from_ >= object_size_) return;
  void* const start = static_cast<std::byte*>(object) + poison_from_;
  const size_t bytes = object_size_ - poison_from_;
  if (poison) {
    Poison(start, bytes);
  } else {
    Unpoison(start, bytes);
  }
}

void SlabPool::PrepareChecks(Slab* slab) {
  for (size_t i = 0; i < layout_.objects; ++i) {
    std::byte* const object = static_cast<std::byte*>(ObjectAt(slab, i));
    const size_t red_zone = layout_.stride - object_size_;
    std::memset(object + object_size_, kRedZoneByte, red_zone);
    Poison(object + object_size_, red_zone);
    PoisonObject(object, true);
  }
  absl::MutexLock lock(&known_mu_);
  known_.insert(slab);
}

void SlabPool::EndChecks(Slab* slab) {
  Unpoison(slab, layout_.slab_bytes);
  absl::MutexLock lock(&known_mu_);
  known_.erase(slab);
}

void SlabPool::CheckAlloc(void* object) {
  Slab* const slab = SlabOf(object);
  const size_t index = IndexOf(slab, object);
  const uint64_t before = InUseWord(slab, layout_.map_words, index).fetch_or(BitOf(index));
  if ((before & BitOf(index)) != 0) {
    ABSL_RAW_LOG(FATAL, "slab %s: object %p is handed out while in use", name_.c_str(), object);
  }
  PoisonObject(object, false);
}

void SlabPool::CheckFree(void* object) {
  Slab* const slab = SlabOf(object);
  {
    absl::ReaderMutexLock lock(&known_mu_);
    if (!known_.contains(slab)) {
      ABSL_RAW_LOG(FATAL, "slab %s: Free of %p, which is no object of this cache", name_.c_str(),
                   object);
    }
  }
  const size_t index = IndexOf(slab, object);
  if (index >= layout_.objects || ObjectAt(slab, index) != object) {
    ABSL_RAW_LOG(FATAL, "slab %s: Free of %p, which is not the start of an object", name_.c_str(),
                 object);
  }
  const uint64_t before = InUseWord(slab, layout_.map_words, index).fetch_and(~BitOf(index));
  if ((before & BitOf(index)) == 0) {
    ABSL_RAW_LOG(FATAL, "slab %s: double free of %p", name_.c_str(), object);
  }
  if constexpr (!kPoisons) {
    const auto* const end = static_cast<std::byte*>(object) + object_size_;
    for (size_t i = 0; i < layout_.stride - object_size_; ++i) {
      if (end[i] != std::byte{kRedZoneByte}) {
        ABSL_RAW_LOG(FATAL, "slab %s: object %p was written past its end, at byte %zu",
                     name_.c_str(), object, object_size_ + i);
      }
    }
  }
  PoisonObject(object, true);
}

}  // namespace tcact::slab
