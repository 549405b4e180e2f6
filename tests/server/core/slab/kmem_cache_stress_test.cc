// Threads that allocate, free, hand over and shrink together. Runs for a bounded time; meant for
// the thread and address sanitizers as much as for itself.
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "server/core/percpu/percpu.h"
#include "server/core/rcu/rcu.h"
#include "server/core/slab/kmem_cache.h"

namespace tcact::slab {
namespace {

constexpr auto kDuration = std::chrono::milliseconds(1200);

// What the store's records look like from here: something that readers check, an owner's mark, and
// a region that the constructor takes and the destructor gives back.
struct Object {
  std::atomic<uint32_t> holder;
  std::atomic<percpu::Region> region;
  uint64_t payload[12];
};

class RegionLife : public ObjectLife {
 public:
  explicit RegionLife(percpu::Allocator* allocator) : allocator_(allocator) {}
  size_t Construct(absl::Span<void* const> objects) override {
    std::vector<percpu::Region> regions(objects.size());
    if (!allocator_->AllocBatch(64, absl::MakeSpan(regions))) return 0;
    for (size_t i = 0; i < objects.size(); ++i) {
      static_cast<Object*>(objects[i])->region.store(regions[i], std::memory_order_relaxed);
    }
    return objects.size();
  }
  void Destruct(absl::Span<void* const> objects) override {
    std::vector<percpu::Region> regions;
    for (void* object : objects) regions.push_back(static_cast<Object*>(object)->region);
    allocator_->FreeBatch(64, regions);
  }

 private:
  percpu::Allocator* allocator_;
};

class StressTest : public testing::Test {
 protected:
  StressTest() {
    CacheOptions options;
    options.name = "test_stress";
    options.object_size = sizeof(Object);
    options.life = &life_;
    options.keep_empty_slabs = 1;
    cache_ = std::make_unique<KmemCache>(options);
    RecordProperty("seed", static_cast<int>(seed_));
  }
  ~StressTest() override {
    EXPECT_EQ(cache_->stats().objects_in_use, 0) << "seed " << seed_;
    cache_.reset();
    EXPECT_EQ(allocator_.stats().regions, 0) << "seed " << seed_;
  }

  static bool Running(std::chrono::steady_clock::time_point end) {
    return std::chrono::steady_clock::now() < end;
  }

  static void Claim(void* memory, uint32_t holder) {
    auto* const object = static_cast<Object*>(memory);
    ASSERT_EQ(object->holder.exchange(holder), 0) << "handed out twice";
    for (uint64_t& word : object->payload) word = holder;
    percpu::Ptr(object->region, 0)[0] = std::byte{1};
  }
  static void Yield(void* memory, uint32_t holder) {
    auto* const object = static_cast<Object*>(memory);
    for (const uint64_t word : object->payload) ASSERT_EQ(word, holder);
    ASSERT_EQ(object->holder.exchange(0), holder);
  }

  // Allocates and frees at random, single and in batches.
  void Churn(uint32_t me, std::chrono::steady_clock::time_point end) {
    std::mt19937 random(seed_ + me);
    std::vector<void*> held;
    while (Running(end)) {
      const size_t count = 1 + random() % (random() % 8 == 0 ? 700 : 5);
      if (held.size() < 2000 && random() % 2 == 0) {
        std::vector<void*> batch(count);
        if (count == 1) {
          batch[0] = cache_->Alloc();
        } else {
          ASSERT_EQ(cache_->AllocBatch(absl::MakeSpan(batch)), count);
        }
        for (void* object : batch) Claim(object, me);
        held.insert(held.end(), batch.begin(), batch.end());
      } else {
        const size_t freed = std::min(count, held.size());
        const auto from = held.end() - static_cast<ptrdiff_t>(freed);
        for (auto it = from; it != held.end(); ++it) Yield(*it, me);
        if (freed == 1) {
          cache_->Free(*from);
        } else {
          cache_->FreeBatch(absl::MakeConstSpan(held).subspan(held.size() - freed));
        }
        held.erase(from, held.end());
      }
    }
    for (void* object : held) Yield(object, me);
    cache_->FreeBatch(held);
  }

  const uint32_t seed_ = std::random_device()();
  percpu::Allocator allocator_;
  RegionLife life_{&allocator_};
  std::unique_ptr<KmemCache> cache_;
};

TEST_F(StressTest, NoObjectIsEverHandedOutTwiceWhileSlabsComeAndGo) {
  const auto end = std::chrono::steady_clock::now() + kDuration;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (uint32_t me = 1; me <= 4; ++me) threads.emplace_back([=, this] { Churn(me, end); });
  threads.emplace_back([=, this] {
    while (Running(end)) {
      cache_->Shrink();
      const CacheStats stats = cache_->stats();
      EXPECT_LE(stats.objects_in_use, stats.objects_total);
    }
  });
  for (auto& thread : threads) thread.join();
}

TEST_F(StressTest, ObjectsFreedByOtherThreadsThanTheirAllocatorsComeBack) {
  const auto end = std::chrono::steady_clock::now() + kDuration;
  absl::Mutex mu;
  std::vector<void*> handed_over;
  std::thread producer([&] {
    while (Running(end)) {
      void* const object = cache_->Alloc();
      Claim(object, 1);
      absl::MutexLock lock(&mu);
      handed_over.push_back(object);
    }
  });
  std::thread consumer([&] {
    while (Running(end)) {
      std::vector<void*> taken;
      {
        absl::MutexLock lock(&mu);
        taken.swap(handed_over);
      }
      for (void* object : taken) {
        Yield(object, 1);
        cache_->Free(object);
      }
    }
  });
  producer.join();
  consumer.join();
  for (void* object : handed_over) Yield(object, 1);
  cache_->FreeBatch(handed_over);
}

// A reader keeps hold of an object that its owner frees, and looks at it and its region although
// the slab may be on its way out.
TEST_F(StressTest, ReadersUnderRcuMayTouchFreedObjectsAndTheirRegions) {
  const auto end = std::chrono::steady_clock::now() + kDuration;
  std::atomic<Object*> published{nullptr};
  std::atomic<uint64_t> seen{0};
  std::thread reader([&] {
    while (Running(end)) {
      rcu::ReadGuard guard;
      Object* const object = published.load(std::memory_order_acquire);
      if (object == nullptr) continue;
      const uint32_t holder = object->holder.load();
      ASSERT_LE(holder, 2u);
      const percpu::Region region = object->region.load(std::memory_order_relaxed);
      auto* const count = reinterpret_cast<std::atomic<uint64_t>*>(percpu::Ptr(region, 0) + 8);
      count->fetch_add(1, std::memory_order_relaxed);
      ++seen;
    }
  });
  std::thread writer([&] {
    while (Running(end)) {
      std::vector<void*> batch(600);
      ASSERT_EQ(cache_->AllocBatch(absl::MakeSpan(batch)), batch.size());
      for (void* memory : batch) {
        static_cast<Object*>(memory)->holder = 1;
        published.store(static_cast<Object*>(memory), std::memory_order_release);
      }
      for (void* memory : batch) static_cast<Object*>(memory)->holder = 0;
      published.store(nullptr, std::memory_order_release);
      cache_->FreeBatch(batch);
      if (seen % 5 == 0) cache_->Shrink();
    }
  });
  reader.join();
  writer.join();
}

}  // namespace
}  // namespace tcact::slab
