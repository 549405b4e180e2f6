// Which CPUs the process may use, and on which one the caller runs.
#ifndef TCACT_SERVER_CORE_PERCPU_CPU_H_
#define TCACT_SERVER_CORE_PERCPU_CPU_H_

#include <sys/rseq.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/optimization.h"

namespace tcact::percpu {

namespace internal {

inline constexpr uint32_t kMappedCpus = 1024;

// Unit + 1 of each CPU; 0 until the first call filled the table, and for CPUs beyond it.
extern constinit std::atomic<uint16_t> unit_of_cpu[kMappedCpus];

uint32_t CurrentCpuSlow();

// CPUs that the cgroup's quota allows, rounded up; 0: no quota. Looks at the CPU controller's files
// (version 2 or 1) of the group that `membership` (as /proc/self/cgroup) names and of all groups
// above it, under `mount`.
uint32_t CgroupCpuQuota(const std::string& membership, const std::string& mount);

}  // namespace internal

// CPUs that the process may run on: the affinity mask at first call, at least 1 (the cgroup's CPU
// quota, if any, rounded up, caps it).
uint32_t UsableCpus();

// The unit of the CPU that the caller runs on: 0 to UsableCpus() - 1. CPUs beyond the quota, or
// outside the process's affinity mask at start, share units with the others (modulo). Cheap:
// glibc's rseq area where registered, else getcpu. A hint only: the thread may move on at once, so
// a unit's data needs its own guard.
inline uint32_t CurrentCpu() {
  // The kernel writes this thread's CPU here whenever it moves. Where registration failed, glibc
  // leaves a number beyond all CPUs.
  const auto* area = reinterpret_cast<const volatile struct rseq*>(
      static_cast<const char*>(__builtin_thread_pointer()) + __rseq_offset);
  const uint32_t cpu = area->cpu_id;
  if (ABSL_PREDICT_TRUE(cpu < internal::kMappedCpus)) {
    const uint32_t unit = internal::unit_of_cpu[cpu].load(std::memory_order_relaxed);
    if (ABSL_PREDICT_TRUE(unit != 0)) return unit - 1;
  }
  return internal::CurrentCpuSlow();
}

}  // namespace tcact::percpu

#endif  // TCACT_SERVER_CORE_PERCPU_CPU_H_
