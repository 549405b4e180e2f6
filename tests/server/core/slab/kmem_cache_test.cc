#include "server/core/slab/kmem_cache.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "server/core/lock/counted_mutex.h"
#include "server/core/percpu/percpu.h"
#include "server/core/rcu/rcu.h"

namespace tcact::slab {
namespace {

// Writes a mark into each object and counts; fails at an object when told so.
class CountingLife : public ObjectLife {
 public:
  static constexpr uint64_t kMark = 0x1234567812345678;

  size_t Construct(absl::Span<void* const> objects) override {
    for (size_t i = 0; i < objects.size(); ++i) {
      if (i == fail_at) return i;
      uint64_t* const words = static_cast<uint64_t*>(objects[i]);
      if (words[0] != 0) ++not_zero;
      words[0] = kMark;
      ++constructed;
    }
    return objects.size();
  }
  void Destruct(absl::Span<void* const> objects) override {
    for (size_t i = 0; i < objects.size(); ++i) {
      if (i > 0 && objects[i] > objects[i - 1]) ++not_reversed;
      uint64_t* const words = static_cast<uint64_t*>(objects[i]);
      if (words[0] != kMark) ++unmarked;
      words[0] = 0;
      ++destructed;
    }
  }

  size_t fail_at = SIZE_MAX;
  std::atomic<uint64_t> constructed{0};
  std::atomic<uint64_t> destructed{0};
  std::atomic<uint64_t> not_zero{0};
  std::atomic<uint64_t> unmarked{0};
  std::atomic<uint64_t> not_reversed{0};
};

CacheOptions Options(absl::string_view name, size_t size, ObjectLife* life = nullptr) {
  CacheOptions options;
  options.name = std::string(name);
  options.object_size = size;
  options.life = life;
  return options;
}

std::vector<void*> AllocMany(KmemCache* cache, size_t count) {
  std::vector<void*> objects(count);
  EXPECT_EQ(cache->AllocBatch(absl::MakeSpan(objects)), count);
  return objects;
}

uint64_t Acquisitions(absl::string_view lock_name) {
  for (const lock::LockStat& row : lock::LockStats()) {
    if (row.name == lock_name) return row.acquired;
  }
  ADD_FAILURE() << "no lock " << lock_name;
  return 0;
}

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(KmemCacheTest, ObjectsAreDistinctAlignedAndZeroWithoutAConstructor) {
  for (size_t align : {8, 16, 64}) {
    CacheOptions options = Options("test_plain", 100);
    options.align = align;
    KmemCache cache(options);
    std::set<void*> objects;
    for (int i = 0; i < 2000; ++i) {
      void* const object = cache.Alloc();
      ASSERT_NE(object, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(object) % align, 0);
      const auto* const bytes = static_cast<const std::byte*>(object);
      EXPECT_TRUE(std::all_of(bytes, bytes + 100, [](std::byte b) { return b == std::byte{0}; }));
      EXPECT_TRUE(objects.insert(object).second);
    }
    for (void* object : objects) std::memset(object, 0xFF, 100);
    for (void* object : objects) cache.Free(object);
  }
}

TEST(KmemCacheTest, ObjectsOfEverySizeFit) {
  for (size_t size : {1, 8, 63, 64, 104, 128, 1000, 4096, 8192}) {
    KmemCache cache(Options("test_sizes", size));
    std::vector<void*> objects = AllocMany(&cache, 300);
    for (size_t i = 0; i < objects.size(); ++i) {
      std::memset(objects[i], static_cast<int>(i % 251), size);
    }
    for (size_t i = 0; i < objects.size(); ++i) {
      const auto* const bytes = static_cast<const std::byte*>(objects[i]);
      EXPECT_EQ(bytes[0], static_cast<std::byte>(i % 251));
      EXPECT_EQ(bytes[size - 1], static_cast<std::byte>(i % 251));
    }
    cache.FreeBatch(objects);
    EXPECT_EQ(cache.stats().objects_in_use, 0);
  }
}

TEST(KmemCacheTest, AnObjectComesBackAsItsLastFreeLeftIt) {
  KmemCache cache(Options("test_state", 64));
  void* const object = cache.Alloc();
  std::memset(object, 0x5A, 64);
  cache.Free(object);
  // The object freed last is handed out first: it is the warmest.
  void* const again = cache.Alloc();
  ASSERT_EQ(again, object);
  const auto* const bytes = static_cast<const std::byte*>(again);
  EXPECT_TRUE(std::all_of(bytes, bytes + 64, [](std::byte b) { return b == std::byte{0x5A}; }));
  cache.Free(again);
}

TEST(KmemCacheTest, ConstructAndDestructRunOncePerObjectOfASlabHoweverOftenItIsUsed) {
  CountingLife life;
  {
    KmemCache cache(Options("test_life", 128, &life));
    for (int round = 0; round < 10; ++round) {
      std::vector<void*> objects = AllocMany(&cache, 1500);
      cache.FreeBatch(objects);
    }
    const CacheStats stats = cache.stats();
    EXPECT_EQ(life.constructed, stats.slabs_made * stats.objects_per_slab);
    EXPECT_EQ(life.constructed, stats.objects_total);
    EXPECT_EQ(life.destructed, 0);
  }
  EXPECT_EQ(life.destructed, life.constructed);
  EXPECT_EQ(life.not_zero, 0);
  EXPECT_EQ(life.unmarked, 0);
  EXPECT_EQ(life.not_reversed, 0);
}

TEST(KmemCacheTest, AConstructorThatFailsAnywhereInASlabLeavesNothingBehind) {
  CountingLife life;
  KmemCache cache(Options("test_ctor_fails", 1024, &life));
  const size_t per_slab = cache.stats().objects_per_slab;
  for (size_t at = 0; at < per_slab; ++at) {
    life.fail_at = at;
    EXPECT_EQ(cache.Alloc(), nullptr);
    const CacheStats stats = cache.stats();
    EXPECT_EQ(stats.ctor_failures, at + 1);
    EXPECT_EQ(stats.slabs, 0);
    EXPECT_EQ(stats.objects_total, 0);
    EXPECT_EQ(life.constructed, life.destructed);
  }
  EXPECT_EQ(life.unmarked, 0);
  EXPECT_EQ(life.not_reversed, 0);
  life.fail_at = SIZE_MAX;
  void* const object = cache.Alloc();
  EXPECT_NE(object, nullptr);
  EXPECT_EQ(life.not_zero, 0) << "a slab given back came again with old bytes";
  cache.Free(object);
}

TEST(KmemCacheTest, AllocFailsWhenNoSlabCanBeMadeAndWorksAgainAfterwards) {
  KmemCache cache(Options("test_no_slab", 128));
  const size_t per_slab = cache.stats().objects_per_slab;
  cache.FailSlabsAfter(2);
  std::vector<void*> objects;
  while (void* const object = cache.Alloc()) objects.push_back(object);
  EXPECT_EQ(objects.size(), 2 * per_slab);
  EXPECT_EQ(cache.stats().ctor_failures, 0);
  cache.Free(objects.back());
  objects.back() = cache.Alloc();
  EXPECT_NE(objects.back(), nullptr) << "a free object needs no slab";
  cache.FailSlabsAfter(-1);
  objects.push_back(cache.Alloc());
  EXPECT_NE(objects.back(), nullptr);
  cache.FreeBatch(objects);
}

// Runs out of memory by a limit on the address space; exits with 0 if all went as it should.
void OutliveMemory() {
  KmemCache cache(Options("test_no_memory", 1024));
  std::vector<void*> objects(100'000);
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages;
  const rlimit limit = {pages * 4096 + uint64_t{16} * 1024 * 1024, RLIM_INFINITY};
  const bool limited = setrlimit(RLIMIT_AS, &limit) == 0;
  const size_t had = cache.AllocBatch(absl::MakeSpan(objects));
  const bool counted = cache.stats().objects_in_use == had;
  const bool refused = cache.Alloc() == nullptr;
  cache.Free(objects[had - 1]);
  objects[had - 1] = cache.Alloc();
  const bool works = objects[had - 1] != nullptr;
  cache.FreeBatch(absl::MakeConstSpan(objects).subspan(0, had));
  std::exit(limited && counted && refused && works && had < objects.size() ? 0 : 1);
}

TEST(KmemCacheDeathTest, WhenTheSystemHasNoMemoryAllocReturnsNullAndTheCacheStaysSound) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
  GTEST_SKIP() << "sanitizers need address space without limit";
#endif
  // In a process of its own, for the limit's sake.
  EXPECT_EXIT(OutliveMemory(), testing::ExitedWithCode(0), "");
}

TEST(KmemCacheTest, ABatchReturnsWhatIsToBeHadWhenMemoryIsOut) {
  KmemCache cache(Options("test_batch_short", 128));
  const size_t per_slab = cache.stats().objects_per_slab;
  for (size_t slabs = 0; slabs < 4; ++slabs) {
    cache.FailSlabsAfter(static_cast<int64_t>(slabs));
    std::vector<void*> objects(5 * per_slab);
    const size_t had = cache.AllocBatch(absl::MakeSpan(objects));
    EXPECT_EQ(had, slabs * per_slab);
    objects.resize(had);
    EXPECT_EQ(std::set<void*>(objects.begin(), objects.end()).size(), had);
    EXPECT_EQ(cache.stats().objects_in_use, had);
    cache.FreeBatch(objects);
    cache.Shrink();
  }
}

TEST(KmemCacheTest, AnEmptyBatchIsFine) {
  KmemCache cache(Options("test_batch_empty", 128));
  EXPECT_EQ(cache.AllocBatch({}), 0);
  cache.FreeBatch({});
  EXPECT_EQ(cache.stats().slabs, 0);
}

TEST(KmemCacheTest, BatchesOfAllLengthsKeepTheCountsRight) {
  KmemCache cache(Options("test_batches", 128));
  std::vector<std::vector<void*>> batches;
  size_t in_use = 0;
  for (size_t length = 1; length < 300; length += 7) {
    batches.push_back(AllocMany(&cache, length));
    in_use += length;
    ASSERT_EQ(cache.stats().objects_in_use, in_use);
  }
  for (const auto& batch : batches) {
    cache.FreeBatch(batch);
    in_use -= batch.size();
    ASSERT_EQ(cache.stats().objects_in_use, in_use);
  }
}

TEST(KmemCacheTest, TotalIsInUsePlusInSheavesPlusFreeInSlabs) {
  CacheOptions options = Options("test_sum", 128);
  options.keep_empty_slabs = 100;
  KmemCache cache(options);
  std::vector<void*> objects = AllocMany(&cache, 3000);
  cache.FreeBatch(absl::MakeConstSpan(objects).subspan(1000));
  CacheStats stats = cache.stats();
  EXPECT_EQ(stats.objects_in_use, 1000);
  EXPECT_EQ(stats.objects_total, stats.slabs * stats.objects_per_slab);
  EXPECT_GT(stats.objects_in_sheaves, 0);
  EXPECT_LE(stats.objects_in_use + stats.objects_in_sheaves, stats.objects_total);
  cache.Shrink();
  stats = cache.stats();
  EXPECT_EQ(stats.objects_in_sheaves, 0);
  EXPECT_EQ(stats.objects_in_use, 1000);
  EXPECT_EQ(stats.empty_slabs, 0);
  EXPECT_EQ(stats.slabs, stats.slabs_made - stats.slabs_released);
  objects.resize(1000);
  cache.FreeBatch(objects);
}

TEST(KmemCacheTest, AtMostSoManyEmptySlabsAreKeptAndTheOthersReleasedAtOnce) {
  CacheOptions options = Options("test_keep", 128);
  options.keep_empty_slabs = 3;
  KmemCache cache(options);
  const size_t per_slab = cache.stats().objects_per_slab;
  std::vector<void*> objects = AllocMany(&cache, 40 * per_slab);
  EXPECT_EQ(cache.stats().slabs, 40);
  cache.FreeBatch(objects);
  const CacheStats stats = cache.stats();
  EXPECT_LE(stats.empty_slabs, 3);
  // Those that sheaves hold objects of are neither empty nor released.
  EXPECT_LE(stats.slabs, 3 + stats.objects_in_sheaves);
  EXPECT_GT(stats.slabs_released, 20);
}

TEST(KmemCacheTest, ShrinkReleasesEveryEmptySlabAlsoThoseInOtherCpusSheaves) {
  CountingLife life;
  KmemCache cache(Options("test_shrink", 128, &life));
  percpu::CurrentCpu();  // before a thread narrows its mask
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    std::thread([&] {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
      for (int i = 0; i < 10; ++i) {
        void* const object = cache.Alloc();
        cache.Free(object);
      }
    }).join();
  }
  EXPECT_GT(cache.stats().objects_in_sheaves, 0);
  const uint64_t slabs = cache.stats().slabs;
  const ShrinkResult result = cache.Shrink();
  EXPECT_EQ(result.slabs, slabs);
  EXPECT_EQ(result.bytes, slabs * cache.stats().slab_bytes);
  EXPECT_EQ(cache.stats().slabs, 0);
  EXPECT_EQ(cache.stats().objects_total, 0);
  EXPECT_EQ(life.destructed, life.constructed) << "Shrink waits for the destructors";
  EXPECT_EQ(cache.Shrink().slabs, 0);
}

TEST(KmemCacheTest, ShrinkKeepsSlabsWithLiveObjects) {
  KmemCache cache(Options("test_shrink_live", 128));
  const size_t per_slab = cache.stats().objects_per_slab;
  std::vector<void*> objects = AllocMany(&cache, 10 * per_slab);
  // One object of each slab stays.
  std::sort(objects.begin(), objects.end());
  std::vector<void*> kept;
  for (size_t i = 0; i < objects.size(); i += per_slab) kept.push_back(objects[i]);
  for (size_t i = 0; i < objects.size(); ++i) {
    if (i % per_slab != 0) cache.Free(objects[i]);
  }
  EXPECT_EQ(cache.Shrink().slabs, 0);
  for (void* object : kept) std::memset(object, 1, 128);
  EXPECT_EQ(cache.stats().objects_in_use, 10);
  cache.FreeBatch(kept);
  EXPECT_EQ(cache.Shrink().slabs, 10);
}

TEST(KmemCacheTest, AMillionObjectsFreedAndShrunkGiveTheirMemoryBack) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
  GTEST_SKIP() << "the sanitizer's shadow is resident memory too";
#endif
  constexpr size_t kObjects = 1'000'000;
  KmemCache cache(Options("test_million", 128));
  std::vector<void*> objects(kObjects);
  const uint64_t before = ResidentBytes();
  for (void*& object : objects) {
    object = cache.Alloc();
    ASSERT_NE(object, nullptr);
    std::memset(object, 1, 128);
  }
  EXPECT_GT(ResidentBytes() - before, 100 * kObjects);
  for (void* object : objects) cache.Free(object);
  cache.Shrink();
  EXPECT_EQ(cache.stats().slabs, 0);
  EXPECT_LT(ResidentBytes(), before + uint64_t{8} * 1024 * 1024);
}

TEST(KmemCacheTest, AnObjectOf128BytesTakesLessThan132) {
#ifndef NDEBUG
  GTEST_SKIP() << "red zones take room";
#endif
  KmemCache cache(Options("test_small_overhead", 128));
  const CacheStats stats = cache.stats();
  EXPECT_EQ(stats.object_size, 128);
  EXPECT_LT(static_cast<double>(stats.slab_bytes) / static_cast<double>(stats.objects_per_slab),
            132.0);
}

TEST(KmemCacheTest, ThePairOnOneCpuTakesNoMutex) {
  KmemCache cache(Options("test_fast", 128));
  cache.Free(cache.Alloc());
  uint64_t least = UINT64_MAX;
  // The thread may be moved in the middle; one undisturbed round shows the rule.
  for (int round = 0; round < 20; ++round) {
    const uint64_t before = Acquisitions("test_fast:depot") + Acquisitions("test_fast:slabs");
    for (int i = 0; i < 1000; ++i) cache.Free(cache.Alloc());
    least =
        std::min(least, Acquisitions("test_fast:depot") + Acquisitions("test_fast:slabs") - before);
  }
  EXPECT_EQ(least, 0);
}

TEST(KmemCacheTest, AllocatingManyTakesTheDepotOnceForASheaf) {
  CacheOptions options = Options("test_sheafwise", 128);
  options.sheaf_objects = 50;
  KmemCache cache(options);
  const uint64_t before = Acquisitions("test_sheafwise:depot");
  std::vector<void*> objects;
  objects.reserve(5000);
  for (int i = 0; i < 5000; ++i) objects.push_back(cache.Alloc());
  const uint64_t taken = Acquisitions("test_sheafwise:depot") - before;
  EXPECT_LE(taken, 200);
  EXPECT_GE(cache.stats().sheaf_refills, 5000 / 50 - 4);
  for (void* object : objects) cache.Free(object);
  EXPECT_GE(cache.stats().sheaf_flushes, 5000 / 50 - 4);
}

TEST(KmemCacheTest, AReaderMayTouchAFreeObjectOfAReleasedSlabUntilItsGuardEnds) {
  CountingLife life;
  KmemCache cache(Options("test_rcu", 128, &life));
  auto* const object = static_cast<std::atomic<uint64_t>*>(cache.Alloc());
  std::thread shrinker;
  {
    rcu::ReadGuard guard;
    cache.Free(object);
    shrinker = std::thread([&] { cache.Shrink(); });
    while (cache.stats().slabs != 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    EXPECT_EQ(object->load(), CountingLife::kMark);
    EXPECT_EQ(life.destructed, 0);
  }
  shrinker.join();
  EXPECT_EQ(life.destructed, life.constructed);
}

TEST(KmemCacheTest, StatsNameTheCacheAndItsSizes) {
  CacheOptions options = Options("test_stats", 100);
  options.align = 16;
  KmemCache cache(options);
  const CacheStats stats = cache.stats();
  EXPECT_EQ(cache.name(), "test_stats");
  EXPECT_EQ(stats.name, "test_stats");
  EXPECT_EQ(stats.object_size, 112);
  EXPECT_GT(stats.objects_per_slab, 0);
  EXPECT_LE(stats.objects_per_slab * stats.object_size, stats.slab_bytes);
}

TEST(KmemCacheDeathTest, OptionsOutOfRangeAbortWithTheFieldAndItsRange) {
  EXPECT_DEATH(KmemCache(Options("", 8)), "a name of 0 bytes, must be 1 to 40");
  EXPECT_DEATH(KmemCache(Options(std::string(41, 'x'), 8)), "a name of 41 bytes");
  EXPECT_DEATH(KmemCache(Options("test", 0)), "objects of 0 bytes, must be 1 to 8192");
  EXPECT_DEATH(KmemCache(Options("test", 8193)), "objects of 8193 bytes");
  CacheOptions options = Options("test", 8);
  options.align = 24;
  EXPECT_DEATH(KmemCache{options}, "an alignment of 24, must be a power of two from 8 to 64");
}

TEST(KmemCacheDeathTest, ACacheDestroyedWithLiveObjectsAbortsWithItsNameAndTheirNumber) {
  EXPECT_DEATH(
      {
        KmemCache cache(Options("test_live", 128));
        AllocMany(&cache, 3);
      },
      "test_live: cache destroyed with 3 live objects");
}

#if !defined(NDEBUG) || defined(ABSL_HAVE_ADDRESS_SANITIZER)

TEST(KmemCacheDeathTest, DoubleFreeAborts) {
  KmemCache cache(Options("test_double", 128));
  void* const object = cache.Alloc();
  cache.Free(object);
  EXPECT_DEATH(cache.Free(object), "test_double: double free");
  void* const twice[] = {object, object};
  EXPECT_DEATH(cache.FreeBatch(twice), "test_double: double free");
}

TEST(KmemCacheDeathTest, FreeOfAForeignPointerAborts) {
  KmemCache cache(Options("test_foreign", 128));
  KmemCache other(Options("test_other", 128));
  void* const object = cache.Alloc();
  void* const others = other.Alloc();
  std::byte local[128];
  EXPECT_DEATH(cache.Free(others), "test_foreign: Free of .*, which is no object of this cache");
  EXPECT_DEATH(cache.Free(local), "no object of this cache");
  EXPECT_DEATH(cache.Free(nullptr), "no object of this cache");
  EXPECT_DEATH(cache.Free(static_cast<std::byte*>(object) + 8), "not the start of an object");
  cache.Free(object);
  other.Free(others);
}

TEST(KmemCacheDeathTest, AWritePastTheEndIsCaught) {
  KmemCache cache(Options("test_past_end", 100));
  auto* const bytes = static_cast<volatile std::byte*>(cache.Alloc());
  // Address sanitizer sees the write itself, other checked builds the damage at Free.
  EXPECT_DEATH(
      {
        bytes[100] = std::byte{0};
        cache.Free(const_cast<std::byte*>(bytes));
      },
      "use-after-poison|was written past its end, at byte 100");
  cache.Free(const_cast<std::byte*>(bytes));
}

#endif

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
TEST(KmemCacheDeathTest, AFreeObjectIsPoisonedFromPoisonFromOn) {
  CacheOptions options = Options("test_poison", 128);
  options.poison_from = 64;
  KmemCache cache(options);
  auto* const bytes = static_cast<volatile std::byte*>(cache.Alloc());
  bytes[64] = std::byte{1};
  cache.Free(const_cast<std::byte*>(bytes));
  EXPECT_TRUE(bytes[63] == std::byte{0}) << "what readers under RCU look at stays readable";
  EXPECT_DEATH(bytes[64] = std::byte{2}, "use-after-poison");
}
#endif

}  // namespace
}  // namespace tcact::slab
