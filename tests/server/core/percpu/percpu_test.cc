#include "server/core/percpu/percpu.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "absl/base/config.h"
#include "gtest/gtest.h"
#include "server/core/lock/counted_mutex.h"

namespace tcact::percpu {
namespace {

uint64_t AllocMutexAcquisitions() {
  for (const lock::LockStat& row : lock::LockStats()) {
    if (row.name == "pcpu_alloc_mutex") return row.acquired;
  }
  return 0;
}

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t AddressSpaceBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void Fill(const Allocator& allocator, Region region, size_t size, int value) {
  for (uint32_t cpu = 0; cpu < allocator.units(); ++cpu) std::memset(Ptr(region, cpu), value, size);
}

bool Holds(const Allocator& allocator, Region region, size_t size, int value) {
  for (uint32_t cpu = 0; cpu < allocator.units(); ++cpu) {
    const std::byte* const bytes = Ptr(region, cpu);
    if (!std::all_of(bytes, bytes + size, [&](std::byte b) { return b == std::byte(value); })) {
      return false;
    }
  }
  return true;
}

TEST(PercpuTest, UnitsAreTheUsableCpusUnlessToldOtherwise) {
  EXPECT_EQ(Allocator().units(), UsableCpus());
  EXPECT_EQ(Allocator(7).units(), 7);
}

TEST(PercpuTest, ARegionIsZeroInEveryUnitAlsoWhenItsPlaceWasUsedBefore) {
  Allocator allocator(3);
  for (int round = 0; round < 3; ++round) {
    const Region region = allocator.Alloc(100);
    ASSERT_NE(region, nullptr);
    EXPECT_TRUE(Holds(allocator, region, 100, 0)) << "round " << round;
    Fill(allocator, region, 100, 0xAB);
    allocator.Free(region, 100);
  }
}

TEST(PercpuTest, RegionsAreAlignedToTheNextPowerOfTwoOfTheirSizeUpTo64) {
  Allocator allocator(1);
  for (size_t size : {1, 2, 5, 8, 9, 24, 33, 64, 65, 100, 300, 700, 4096}) {
    std::vector<Region> regions(20);
    ASSERT_TRUE(allocator.AllocBatch(size, absl::MakeSpan(regions)));
    for (Region region : regions) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(region) % std::min<size_t>(std::bit_ceil(size), 64), 0)
          << size;
    }
    allocator.FreeBatch(size, regions);
  }
}

TEST(PercpuTest, RegionsOfAllSizesNeverOverlapAndLieInsideTheirUnits) {
  Allocator allocator(2);
  struct Held {
    Region region;
    size_t size;
    int value;
  };
  std::vector<Held> held;
  for (size_t size = 1; size <= kMaxRegionBytes; size += 97) {
    for (int i = 0; i < 5; ++i) {
      const int value = static_cast<int>(held.size() % 255 + 1);
      held.push_back({allocator.Alloc(size), size, value});
      ASSERT_NE(held.back().region, nullptr);
      const uintptr_t start = reinterpret_cast<uintptr_t>(held.back().region);
      EXPECT_EQ(start / kUnitBytes, (start + size - 1) / kUnitBytes);
      Fill(allocator, held.back().region, size, value);
    }
  }
  for (const Held& h : held) EXPECT_TRUE(Holds(allocator, h.region, h.size, h.value)) << h.size;
  for (const Held& h : held) allocator.Free(h.region, h.size);
  EXPECT_EQ(allocator.stats().regions, 0);
}

TEST(PercpuTest, ABatchTakesTheMutexOnceEvenWhenItNeedsNewChunks) {
  Allocator allocator(2);
  std::vector<Region> regions(5000);
  const uint64_t before = AllocMutexAcquisitions();
  ASSERT_TRUE(allocator.AllocBatch(64, absl::MakeSpan(regions)));
  EXPECT_EQ(AllocMutexAcquisitions() - before, 1);
  EXPECT_GT(allocator.stats().chunks, 1);
  const uint64_t between = AllocMutexAcquisitions();
  allocator.FreeBatch(64, regions);
  EXPECT_EQ(AllocMutexAcquisitions() - between, 1);
}

TEST(PercpuTest, ChunksGoBackWhenEmptyButOneOfEachClassIsSpareUntilTrim) {
  Allocator allocator(2);
  std::vector<Region> small(3000);
  std::vector<Region> large(40);
  ASSERT_TRUE(allocator.AllocBatch(64, absl::MakeSpan(small)));
  ASSERT_TRUE(allocator.AllocBatch(4096, absl::MakeSpan(large)));
  EXPECT_EQ(allocator.stats().chunks, 3 + 3);
  allocator.FreeBatch(64, small);
  allocator.FreeBatch(4096, large);
  EXPECT_EQ(allocator.stats().chunks, 2);
  EXPECT_EQ(allocator.stats().chunks_made, 6);
  EXPECT_EQ(allocator.stats().chunks_released, 4);
  EXPECT_EQ(allocator.Trim(), 4 * kUnitBytes);
  EXPECT_EQ(allocator.stats().chunks, 0);
  EXPECT_EQ(allocator.Trim(), 0);
}

TEST(PercpuTest, AllocatingAndFreeingAtTheEdgeOfAChunkMakesNoNewChunkEachTime) {
  Allocator allocator(1);
  for (int i = 0; i < 100; ++i) {
    const Region a = allocator.Alloc(24);
    const Region b = allocator.Alloc(16);
    allocator.Free(a, 24);
    allocator.Free(b, 16);
  }
  EXPECT_EQ(allocator.stats().chunks_made, 2);
}

TEST(PercpuTest, StatsCountRegionsAndTheirBytes) {
  Allocator allocator(2);
  const Region a = allocator.Alloc(24);
  const Region b = allocator.Alloc(64);
  const Stats stats = allocator.stats();
  EXPECT_EQ(stats.units, 2);
  EXPECT_EQ(stats.unit_bytes, kUnitBytes);
  EXPECT_EQ(stats.regions, 2);
  EXPECT_EQ(stats.region_bytes, 32 + 64);
  allocator.Free(a, 24);
  allocator.Free(b, 64);
  EXPECT_EQ(allocator.stats().region_bytes, 0);
}

TEST(PercpuTest, RegionsThatNobodyTouchedTakeNoPhysicalMemoryAndReleasedOnesGiveItBack) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
  GTEST_SKIP() << "the sanitizer's shadow is resident memory too";
#endif
  constexpr size_t kBytes = size_t{64} * 1024 * 1024;
  Allocator allocator(2);
  std::vector<Region> regions(kBytes / 2 / 64);
  const uint64_t before = ResidentBytes();
  ASSERT_TRUE(allocator.AllocBatch(64, absl::MakeSpan(regions)));
  EXPECT_LT(ResidentBytes() - before, kBytes / 8);
  for (Region region : regions) Fill(allocator, region, 64, 1);
  EXPECT_GT(ResidentBytes() - before, kBytes * 3 / 4);
  allocator.FreeBatch(64, regions);
  allocator.Trim();
  EXPECT_LT(ResidentBytes() - before, kBytes / 8);
}

TEST(PercpuTest, FailAfterFailsEveryAllocationBeyondTheSuccesses) {
  Allocator allocator(1);
  allocator.FailAfter(2);
  const Region a = allocator.Alloc(8);
  const Region b = allocator.Alloc(8);
  EXPECT_NE(a, nullptr);
  EXPECT_NE(b, nullptr);
  EXPECT_EQ(allocator.Alloc(8), nullptr);
  EXPECT_EQ(allocator.Alloc(8), nullptr);
  allocator.FailAfter(-1);
  const Region c = allocator.Alloc(8);
  EXPECT_NE(c, nullptr);
  for (Region region : {a, b, c}) allocator.Free(region, 8);
}

TEST(PercpuTest, AFailedBatchLeavesNothingBehindWhereverItFails) {
  Allocator allocator(1);
  std::vector<Region> regions(10);
  for (int64_t successes = 0; successes < 10; ++successes) {
    allocator.FailAfter(successes);
    EXPECT_FALSE(allocator.AllocBatch(64, absl::MakeSpan(regions))) << successes;
    EXPECT_EQ(allocator.stats().regions, 0);
  }
  allocator.FailAfter(10);
  ASSERT_TRUE(allocator.AllocBatch(64, absl::MakeSpan(regions)));
  allocator.FreeBatch(64, regions);
}

// Runs out of memory by a limit on the address space; exits with 0 if all went as it should.
void OutliveMemory() {
  Allocator allocator(2);
  const Region held = allocator.Alloc(4096);
  std::vector<Region> regions(10'000);
  const rlimit limit = {AddressSpaceBytes() + uint64_t{16} * 1024 * 1024, RLIM_INFINITY};
  const bool limited = setrlimit(RLIMIT_AS, &limit) == 0;
  const bool refused = !allocator.AllocBatch(4096, absl::MakeSpan(regions));
  const bool nothing_left = allocator.stats().regions == 1;
  const Region more = allocator.Alloc(4096);
  std::exit(limited && refused && nothing_left && held != nullptr && more != nullptr ? 0 : 1);
}

TEST(PercpuDeathTest, WhenTheSystemHasNoMemoryABatchFailsWholeAndLeavesNothingBehind) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
  GTEST_SKIP() << "sanitizers need address space without limit";
#endif
  // In a process of its own, for the limit's sake.
  EXPECT_EXIT(OutliveMemory(), testing::ExitedWithCode(0), "");
}

TEST(PercpuTest, AnEmptyBatchIsFine) {
  Allocator allocator(1);
  EXPECT_TRUE(allocator.AllocBatch(64, {}));
  allocator.FreeBatch(64, {});
}

// Random allocations and frees by several threads; every region carries its holder's mark while
// held.
TEST(PercpuTest, ThreadsNeverShareARegion) {
  const auto seed = static_cast<uint32_t>(std::random_device()());
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Allocator allocator(2);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (uint32_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(seed + t);
      struct Held {
        std::vector<Region> regions;
        size_t size;
      };
      std::vector<Held> held;
      while (std::chrono::steady_clock::now() < end || !held.empty()) {
        const bool filling = std::chrono::steady_clock::now() < end && held.size() < 200;
        if (filling && random() % 2 == 0) {
          held.push_back({std::vector<Region>(1 + random() % 40), 1 + random() % 300});
          ASSERT_TRUE(allocator.AllocBatch(held.back().size, absl::MakeSpan(held.back().regions)));
          for (Region region : held.back().regions) {
            ASSERT_TRUE(Holds(allocator, region, held.back().size, 0));
            Fill(allocator, region, held.back().size, static_cast<int>(t));
          }
        } else if (!held.empty()) {
          std::swap(held[random() % held.size()], held.back());
          for (Region region : held.back().regions) {
            ASSERT_TRUE(Holds(allocator, region, held.back().size, static_cast<int>(t)));
          }
          allocator.FreeBatch(held.back().size, held.back().regions);
          held.pop_back();
        }
        if (random() % 100 == 0) allocator.Trim();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(allocator.stats().regions, 0);
}

TEST(PercpuDeathTest, BrokenRulesAbortWithTheirNames) {
  Allocator allocator(2);
  const Region a = allocator.Alloc(64);
  const Region b = allocator.Alloc(64);
  allocator.Free(b, 64);
  EXPECT_DEATH(allocator.Free(b, 64), "double free");
  EXPECT_DEATH(allocator.Free(a + 8, 64), "not the start of a region");
  EXPECT_DEATH(allocator.Free(a, 24), "as up to 32 bytes, but it was allocated as up to 64");
  EXPECT_DEATH(allocator.Free(Ptr(a, 1), 64), "no region of this allocator");
  std::byte local[64];
  EXPECT_DEATH(allocator.Free(local, 64), "no region of this allocator");
  EXPECT_DEATH(allocator.Free(nullptr, 64), "no region of this allocator");
  EXPECT_DEATH(allocator.Alloc(0), "a region of 0 bytes, must be 1 to 4096");
  EXPECT_DEATH(allocator.Alloc(4097), "a region of 4097 bytes, must be 1 to 4096");
  EXPECT_DEATH(
      {
        Allocator leaking(1);
        leaking.Alloc(64);
      },
      "destroyed with 1 regions in use");
  allocator.Free(a, 64);
}

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
TEST(PercpuDeathTest, TouchingAFreeRegionIsCaught) {
  Allocator allocator(2);
  const Region region = allocator.Alloc(64);
  allocator.Free(region, 64);
  volatile std::byte* const byte = Ptr(region, 1);
  EXPECT_DEATH(*byte = std::byte{1}, "use-after-poison");
}
#endif

}  // namespace
}  // namespace tcact::percpu
