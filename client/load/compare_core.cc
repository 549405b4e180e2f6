// Churn against the core in this process, where contention for the allocator shows undiluted.
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/load/action_slot.h"
#include "client/load/clock.h"
#include "client/load/compare_run.h"
#include "server/core/act/store.h"
#include "server/core/lock/counted_mutex.h"
#include "server/core/rcu/rcu.h"

namespace tcact::load {
namespace {

constexpr act::Kind kGact = v1::Action::kGactFieldNumber;
constexpr act::AllocMode kAllocModes[kModes] = {act::AllocMode::kPerObject, act::AllocMode::kSlab,
                                                act::AllocMode::kSlabMerged};

// Creates `batch` actions, destroys them, and so on until `pairs` are done. The first failure ends
// it.
void Churn(act::Store* store, const act::NetnsRef& netns, const std::string& params, int64_t pairs,
           int batch, std::atomic<int>* failure) {
  std::vector<uint32_t> indexes(static_cast<size_t>(batch));
  act::Op create{.type = act::OpType::kCreate, .spec = {}};
  create.spec.kind = kGact;
  create.spec.params = params;
  act::Op destroy{.type = act::OpType::kDelete, .spec = {}};
  destroy.spec.kind = kGact;
  constexpr int64_t kNowMs = 1;  // the clock is not what is measured
  act::Step step;
  for (int64_t done = 0; done < pairs;) {
    const auto count = static_cast<size_t>(std::min<int64_t>(batch, pairs - done));
    for (size_t i = 0; i < count; ++i) {
      const act::Error error = store->Execute(netns, create, kNowMs, &step);
      if (!error.ok()) return failure->store(static_cast<int>(error.code));
      indexes[i] = step.index;
    }
    for (size_t i = 0; i < count; ++i) {
      destroy.spec.index = indexes[i];
      const act::Error error = store->Execute(netns, destroy, kNowMs, &step);
      if (!error.ok()) return failure->store(static_cast<int>(error.code));
    }
    done += static_cast<int64_t>(count);
  }
}

std::vector<LockFigures> ReadLocks() {
  std::vector<LockFigures> locks;
  for (const lock::LockStat& stat : lock::LockStats()) {
    LockFigures lock;
    lock.name = stat.name;
    lock.acquired = static_cast<double>(stat.acquired);
    lock.contended = static_cast<double>(stat.contended);
    lock.wait_total_ns = static_cast<double>(stat.wait_total_ns);
    lock.wait_max_ns = static_cast<double>(stat.wait_max_ns);
    lock.wait_min_ns = static_cast<double>(stat.wait_min_ns);
    locks.push_back(std::move(lock));
  }
  return locks;
}

}  // namespace

absl::StatusOr<ModeFigures> ChurnCore(size_t mode, int threads, int64_t pairs, int batch) {
  const std::string params = SampleAction("gact").gact().SerializeAsString();
  act::StoreOptions options;
  options.alloc_mode = kAllocModes[mode];
  options.kinds.push_back({.kind = kGact, .name = "gact"});
  ModeFigures figures;
  std::atomic<int> failure{0};
  {
    act::Store store(options);
    act::NetnsRef netns;
    if (act::Error error = store.OpenNetns("", &netns); !error.ok()) {
      return absl::InternalError("the core opened no namespace");
    }
    std::atomic<bool> go{false};
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i) {
      const int64_t share = pairs / threads + (i < pairs % threads ? 1 : 0);
      workers.emplace_back([&, share] {
        while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
        Churn(&store, netns, params, share, batch, &failure);
      });
    }
    // From here on, the making of slabs included: it is what the modes differ in.
    lock::ResetLockStats();
    const double cpu = ProcessCpuSeconds();
    const int64_t start = NowNs();
    go.store(true, std::memory_order_release);
    for (std::thread& worker : workers) worker.join();
    figures.wall_s = static_cast<double>(NowNs() - start) / 1e9;
    // What was deferred is part of the work.
    rcu::Barrier();
    figures.cpu_s = ProcessCpuSeconds() - cpu;
    figures.locks = ReadLocks();
  }
  figures.pairs = static_cast<double>(pairs);
  if (failure != 0) {
    return absl::InternalError(absl::StrCat("the core refused a churn step: error ", failure.load(),
                                            " of act::Errc, mode ", kModeNames[mode]));
  }
  return figures;
}

}  // namespace tcact::load
