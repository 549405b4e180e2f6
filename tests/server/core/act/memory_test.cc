// Memory goes back to the system: resident memory of the process, as the kernel counts it.
#include <unistd.h>

#include <fstream>

#include "gtest/gtest.h"
#include "server/core/act/store.h"
#include "tests/server/core/act/store_fixture.h"

namespace tcact::act {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Shadow memory and quarantines keep what is freed.
constexpr bool kResidentMeansOurs = false;
#else
constexpr bool kResidentMeansOurs = true;
#endif

uint64_t ResidentBytes() {
  uint64_t size = 0;
  uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

class MemoryTest : public ::testing::TestWithParam<AllocMode> {};

INSTANTIATE_TEST_SUITE_P(Modes, MemoryTest,
                         ::testing::Values(AllocMode::kPerObject, AllocMode::kSlab,
                                           AllocMode::kSlabMerged));

TEST_P(MemoryTest, AMillionActionsComeAndGoAndLeaveNothingResident) {
  constexpr int kActions = 1000000;
  constexpr uint64_t kNear = 16 << 20;
  TestStore s(GetParam());
  s->Shrink();
  const uint64_t before = ResidentBytes();
  Step step;
  const Op create = MakeOp(OpType::kCreate, 0);
  for (int i = 0; i < kActions; ++i) {
    ASSERT_TRUE(s->Execute(s.netns(), create, 1000, &step).ok());
  }
  const uint64_t full = ResidentBytes();
  EXPECT_GT(full, before + 100 * uint64_t{kActions});
  Op destroy = MakeOp(OpType::kDelete, 0);
  for (uint32_t i = 1; i <= kActions; ++i) {
    destroy.spec.index = i;
    ASSERT_TRUE(s->Execute(s.netns(), destroy, 1000, &step).ok());
  }
  s->Shrink();
  if (kResidentMeansOurs) {
    EXPECT_LT(ResidentBytes(), before + kNear);
  }
  EXPECT_EQ(s.RecordsInUse(), 0u);
  EXPECT_EQ(s->PercpuStats().regions, 0u);
}

}  // namespace
}  // namespace tcact::act
