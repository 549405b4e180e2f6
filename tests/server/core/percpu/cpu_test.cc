#include "server/core/percpu/cpu.h"

#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace tcact::percpu {
namespace {

cpu_set_t Affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  return set;
}

TEST(CpuTest, AtLeastOneCpuAndNoMoreThanTheAffinityMaskHas) {
  EXPECT_GE(UsableCpus(), 1);
  const cpu_set_t set = Affinity();
  EXPECT_LE(UsableCpus(), static_cast<uint32_t>(CPU_COUNT(&set)));
}

TEST(CpuTest, TheCurrentCpuIsAlwaysAUnit) {
  for (int i = 0; i < 100'000; ++i) ASSERT_LT(CurrentCpu(), UsableCpus());
}

TEST(CpuTest, APinnedThreadSeesItsCpusPlaceAmongTheUsable) {
  CurrentCpu();  // the process's mask is read before a thread narrows its own
  const cpu_set_t all = Affinity();
  uint32_t place = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    uint32_t fast = UINT32_MAX;
    uint32_t slow = UINT32_MAX;
    std::thread([&] {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
      fast = CurrentCpu();
      slow = internal::CurrentCpuSlow();
    }).join();
    EXPECT_EQ(fast, place % UsableCpus()) << "cpu " << cpu;
    EXPECT_EQ(slow, fast) << "cpu " << cpu;
    ++place;
  }
}

// Files of a made-up machine's control groups.
class CgroupTest : public testing::Test {
 protected:
  CgroupTest() : root_(std::filesystem::path(testing::TempDir()) / "cgroup_test") {
    std::filesystem::remove_all(root_);
  }
  ~CgroupTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path full = root_ / path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  uint32_t Quota() {
    return internal::CgroupCpuQuota(root_ / "membership", (root_ / "mount").string());
  }

 private:
  std::filesystem::path root_;
};

TEST_F(CgroupTest, NoFilesMeanNoQuota) { EXPECT_EQ(Quota(), 0); }

TEST_F(CgroupTest, VersionTwoQuotaIsRoundedUp) {
  Write("membership", "0::/a/b\n");
  Write("mount/a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(Quota(), 2);
}

TEST_F(CgroupTest, VersionTwoMaxMeansNoQuota) {
  Write("membership", "0::/a\n");
  Write("mount/a/cpu.max", "max 100000\n");
  EXPECT_EQ(Quota(), 0);
}

TEST_F(CgroupTest, TheSmallestQuotaOnTheWayUpCounts) {
  Write("membership", "0::/a/b\n");
  Write("mount/a/b/cpu.max", "800000 100000\n");
  Write("mount/a/cpu.max", "300000 100000\n");
  Write("mount/cpu.max", "max 100000\n");
  EXPECT_EQ(Quota(), 3);
}

TEST_F(CgroupTest, TheRootGroupOfANamespaceIsTheMountItself) {
  Write("membership", "0::/\n");
  Write("mount/cpu.max", "50000 100000\n");
  EXPECT_EQ(Quota(), 1);
}

TEST_F(CgroupTest, VersionOneQuotaIsFoundUnderTheCpuController) {
  Write("membership", "3:cpuset:/x\n2:cpu,cpuacct:/a\n0::/\n");
  Write("mount/cpu/a/cpu.cfs_quota_us", "400000\n");
  Write("mount/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), 4);
}

TEST_F(CgroupTest, VersionOneMinusOneMeansNoQuota) {
  Write("membership", "2:cpu:/\n");
  Write("mount/cpu/cpu.cfs_quota_us", "-1\n");
  Write("mount/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), 0);
}

TEST_F(CgroupTest, GarbageMeansNoQuota) {
  Write("membership", "nonsense\n0::/a\n");
  Write("mount/a/cpu.max", "many few\n");
  EXPECT_EQ(Quota(), 0);
}

}  // namespace
}  // namespace tcact::percpu
