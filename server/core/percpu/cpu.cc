#include "server/core/percpu/cpu.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace tcact::percpu {
namespace {

// More CPUs than any kernel is built for.
constexpr int kMostCpus = 1 << 16;

// The CPUs of the process's affinity mask, ascending; empty if it cannot be read.
std::vector<uint32_t> AffineCpus() {
  for (int most = 1024; most <= kMostCpus; most *= 4) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<size_t>(most)), [](cpu_set_t* owned) { CPU_FREE(owned); });
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(most));
    if (set == nullptr || sched_getaffinity(0, bytes, set.get()) != 0) continue;
    std::vector<uint32_t> cpus;
    for (int cpu = 0; cpu < most; ++cpu) {
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set.get())) {
        cpus.push_back(static_cast<uint32_t>(cpu));
      }
    }
    return cpus;
  }
  return {};
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// ceil(quota / period) of two numbers as text; 0 if the quota is none ("max", -1) or either is no
// number.
uint32_t QuotaCpus(absl::string_view quota, absl::string_view period) {
  int64_t quota_us = 0;
  int64_t period_us = 0;
  if (!absl::SimpleAtoi(quota, &quota_us) || !absl::SimpleAtoi(period, &period_us)) return 0;
  if (quota_us <= 0 || period_us <= 0) return 0;
  return static_cast<uint32_t>(
      std::min<int64_t>((quota_us - 1) / period_us + 1, int64_t{kMostCpus}));
}

// The quota of one group's folder, by whichever version's files are there.
uint32_t FolderQuota(const std::string& folder) {
  const std::vector<std::string> words =
      absl::StrSplit(ReadFile(folder + "/cpu.max"), absl::ByAnyChar(" \n"));
  if (words.size() >= 2) return QuotaCpus(words[0], words[1]);
  return QuotaCpus(ReadFile(folder + "/cpu.cfs_quota_us"), ReadFile(folder + "/cpu.cfs_period_us"));
}

// The smallest quota of mount/path and the groups above it.
uint32_t SmallestQuota(const std::string& mount, std::string path) {
  uint32_t smallest = 0;
  for (;;) {
    const uint32_t quota = FolderQuota(mount + path);
    if (quota != 0 && (smallest == 0 || quota < smallest)) smallest = quota;
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return smallest;
    path.resize(slash);
  }
}

struct Cpus {
  uint32_t usable = 1;
  std::vector<uint32_t> affine;
};

const Cpus& TheCpus() {
  static const Cpus* const cpus = [] {
    auto* made = new Cpus;
    made->affine = AffineCpus();
    made->usable = std::max<uint32_t>(1, static_cast<uint32_t>(made->affine.size()));
    const uint32_t quota = internal::CgroupCpuQuota("/proc/self/cgroup", "/sys/fs/cgroup");
    if (quota != 0) made->usable = std::min(made->usable, quota);
    return made;
  }();
  return *cpus;
}

void FillUnitTable() {
  const Cpus& cpus = TheCpus();
  std::vector<uint32_t> unit(internal::kMappedCpus);
  for (uint32_t cpu = 0; cpu < internal::kMappedCpus; ++cpu) unit[cpu] = cpu % cpus.usable;
  for (uint32_t i = 0; i < cpus.affine.size(); ++i) {
    if (cpus.affine[i] < internal::kMappedCpus) unit[cpus.affine[i]] = i % cpus.usable;
  }
  for (uint32_t cpu = 0; cpu < internal::kMappedCpus; ++cpu) {
    internal::unit_of_cpu[cpu].store(static_cast<uint16_t>(unit[cpu] + 1),
                                     std::memory_order_relaxed);
  }
}

}  // namespace

namespace internal {

constinit std::atomic<uint16_t> unit_of_cpu[kMappedCpus] = {};

uint32_t CurrentCpuSlow() {
  [[maybe_unused]] static const bool filled = (FillUnitTable(), true);
  const int cpu = sched_getcpu();
  if (cpu < 0) return 0;
  const auto number = static_cast<uint32_t>(cpu);
  if (number >= kMappedCpus) return number % UsableCpus();
  return unit_of_cpu[number].load(std::memory_order_relaxed) - 1u;
}

uint32_t CgroupCpuQuota(const std::string& membership, const std::string& mount) {
  uint32_t smallest = 0;
  const auto consider = [&smallest](uint32_t quota) {
    if (quota != 0 && (smallest == 0 || quota < smallest)) smallest = quota;
  };
  for (const absl::string_view line : absl::StrSplit(ReadFile(membership), '\n')) {
    // number ":" controllers, separated by commas, none for version 2 ":" path
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::string path = parts[2] == "/" ? "" : parts[2];
    if (parts[1].empty()) {
      consider(SmallestQuota(mount, path));
      continue;
    }
    for (const absl::string_view controller : absl::StrSplit(parts[1], ',')) {
      if (controller == "cpu") consider(SmallestQuota(mount + "/cpu", path));
    }
  }
  return smallest;
}

}  // namespace internal

uint32_t UsableCpus() { return TheCpus().usable; }

}  // namespace tcact::percpu
