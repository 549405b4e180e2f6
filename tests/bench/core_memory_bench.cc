// What the core's memory layer and locks cost, each beside what it is compared with. Run with
// --config=release.
#include <atomic>
#include <cstdlib>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "benchmark/benchmark.h"
#include "server/core/lock/counted_mutex.h"
#include "server/core/percpu/percpu.h"
#include "server/core/rcu/rcu.h"
#include "server/core/slab/kmem_cache.h"

// The library's own idiom `for (auto _ : state)` never reads `_`.
// NOLINTBEGIN(clang-analyzer-deadcode.DeadStores)

namespace tcact {
namespace {

constexpr size_t kObjectBytes = 128;
constexpr size_t kLineBytes = 64;

slab::KmemCache* SharedCache() {
  static auto* const cache = [] {
    slab::CacheOptions options;
    options.name = "bench";
    options.object_size = kObjectBytes;
    options.keep_empty_slabs = 100;  // no slab comes or goes while time is taken
    return new slab::KmemCache(options);
  }();
  return cache;
}

percpu::Allocator* SharedAllocator() {
  static auto* const allocator = new percpu::Allocator;
  return allocator;
}

void BM_CurrentCpu(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(percpu::CurrentCpu());
}
BENCHMARK(BM_CurrentCpu);

void BM_ReadGuard(benchmark::State& state) {
  for (auto _ : state) {
    rcu::ReadGuard guard;
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_ReadGuard)->Threads(1)->Threads(2);

// One uncontended exchange and a release store: the floor under the slab pair, which does this
// twice.
void BM_TryLockFloor(benchmark::State& state) {
  std::atomic<bool> held{false};
  for (auto _ : state) {
    benchmark::DoNotOptimize(held.exchange(true, std::memory_order_acquire));
    held.store(false, std::memory_order_release);
  }
}
BENCHMARK(BM_TryLockFloor);

void BM_SlabPair(benchmark::State& state) {
  slab::KmemCache* const cache = SharedCache();
  for (auto _ : state) {
    void* const object = cache->Alloc();
    benchmark::DoNotOptimize(object);
    cache->Free(object);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_SlabPair)->Threads(1)->Threads(2);

void BM_MallocPair(benchmark::State& state) {
  for (auto _ : state) {
    void* const object = std::aligned_alloc(64, kObjectBytes);
    benchmark::DoNotOptimize(object);
    std::free(object);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_MallocPair)->Threads(1)->Threads(2);

// Many allocated, then all freed, one by one: whole sheaves go to the depot and to the slabs and
// back. Time per object.
void BM_SlabRun(benchmark::State& state) {
  slab::KmemCache* const cache = SharedCache();
  std::vector<void*> objects(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    for (void*& object : objects) object = cache->Alloc();
    for (void* object : objects) cache->Free(object);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_SlabRun)->Arg(32)->Arg(1000)->Arg(10'000)->Threads(1)->Threads(2);

void BM_SlabBatch(benchmark::State& state) {
  slab::KmemCache* const cache = SharedCache();
  std::vector<void*> objects(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(cache->AllocBatch(absl::MakeSpan(objects)));
    cache->FreeBatch(objects);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_SlabBatch)->Arg(8)->Arg(64)->Arg(512)->Threads(1)->Threads(2);

void BM_PercpuPair(benchmark::State& state) {
  percpu::Allocator* const allocator = SharedAllocator();
  for (auto _ : state) {
    const percpu::Region region = allocator->Alloc(kLineBytes);
    benchmark::DoNotOptimize(region);
    allocator->Free(region, kLineBytes);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_PercpuPair)->Threads(1)->Threads(2);

void BM_PercpuBatch(benchmark::State& state) {
  percpu::Allocator* const allocator = SharedAllocator();
  std::vector<percpu::Region> regions(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(allocator->AllocBatch(kLineBytes, absl::MakeSpan(regions)));
    allocator->FreeBatch(kLineBytes, regions);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_PercpuBatch)->Arg(64)->Arg(511)->Threads(1)->Threads(2);

void BM_AbslMutex(benchmark::State& state) {
  static absl::Mutex mu;
  for (auto _ : state) absl::MutexLock lock(&mu);
}
BENCHMARK(BM_AbslMutex)->Threads(1)->Threads(2);

void BM_CountedMutex(benchmark::State& state) {
  static lock::CountedMutex mu("bench_mutex");
  for (auto _ : state) lock::CountedLock lock(&mu);
}
BENCHMARK(BM_CountedMutex)->Threads(1)->Threads(2);

}  // namespace
}  // namespace tcact

// NOLINTEND(clang-analyzer-deadcode.DeadStores)

BENCHMARK_MAIN();
