#include "server/core/percpu/block_source.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tcact::percpu {
namespace {

constexpr size_t kBlock = size_t{64} * 1024;
constexpr size_t kBlocksPerArea = BlockSource::kAreaBytes / kBlock;

// Pages of the block that have physical memory behind them.
size_t ResidentPages(std::byte* block, size_t bytes) {
  std::vector<unsigned char> resident(bytes / 4096);
  EXPECT_EQ(mincore(block, bytes, resident.data()), 0);
  return static_cast<size_t>(std::count_if(resident.begin(), resident.end(),
                                           [](unsigned char page) { return (page & 1) != 0; }));
}

bool AllZero(const std::byte* bytes, size_t count) {
  return std::all_of(bytes, bytes + count, [](std::byte b) { return b == std::byte{0}; });
}

TEST(BlockSourceTest, BlocksAreZeroDistinctAndAlignedToTheirSize) {
  BlockSource source(kBlock);
  std::set<std::byte*> blocks;
  for (size_t i = 0; i < 2 * kBlocksPerArea + 1; ++i) {
    std::byte* const block = source.Take();
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kBlock, 0);
    EXPECT_TRUE(AllZero(block, kBlock));
    std::memset(block, 0xFF, kBlock);
    EXPECT_TRUE(blocks.insert(block).second);
  }
  EXPECT_EQ(source.MappedBytes(), 3 * BlockSource::kAreaBytes);
  for (std::byte* block : blocks) source.Give(block);
}

TEST(BlockSourceTest, BlocksOfOddSizeAreAlignedToTheirLargestPowerOfTwo) {
  BlockSource source(3 * kBlock);
  std::byte* const first = source.Take();
  std::byte* const second = source.Take();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % kBlock, 0);
  EXPECT_EQ(second - first, 3 * static_cast<ptrdiff_t>(kBlock));
  source.Give(first);
  source.Give(second);
}

TEST(BlockSourceTest, ABlockMayBeLargerThanAnArea) {
  const size_t bytes = BlockSource::kAreaBytes + kBlock;
  BlockSource source(bytes);
  std::byte* const block = source.Take();
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % BlockSource::kAreaBytes, 0);
  block[bytes - 1] = std::byte{1};
  source.Give(block);
  EXPECT_EQ(source.MappedBytes(), 0);
}

TEST(BlockSourceTest, AFreshBlockHasNoPhysicalMemory) {
  BlockSource source(kBlock);
  std::byte* const block = source.Take();
  EXPECT_EQ(ResidentPages(block, kBlock), 0);
  block[0] = std::byte{1};
  EXPECT_EQ(ResidentPages(block, kBlock), 1);
  source.Give(block);
}

TEST(BlockSourceTest, AGivenBlockLosesItsMemoryAndIsZeroWhenTakenAgain) {
  BlockSource source(kBlock);
  std::byte* const keeps_area = source.Take();
  std::byte* const block = source.Take();
  std::memset(block, 0xFF, kBlock);
  source.Give(block);
  EXPECT_EQ(ResidentPages(block, kBlock), 0);
  EXPECT_EQ(source.Take(), block);
  EXPECT_TRUE(AllZero(block, kBlock));
  source.Give(block);
  source.Give(keeps_area);
}

TEST(BlockSourceTest, AnAreaIsUnmappedWithItsLastBlock) {
  BlockSource source(kBlock);
  std::vector<std::byte*> blocks;
  for (size_t i = 0; i < kBlocksPerArea + 1; ++i) blocks.push_back(source.Take());
  EXPECT_EQ(source.MappedBytes(), 2 * BlockSource::kAreaBytes);
  source.Give(blocks.back());
  EXPECT_EQ(source.MappedBytes(), BlockSource::kAreaBytes);
  blocks.pop_back();
  for (std::byte* block : blocks) source.Give(block);
  EXPECT_EQ(source.MappedBytes(), 0);
}

TEST(BlockSourceTest, ThreadsMayTakeAndGiveTogether) {
  BlockSource source(kBlock);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 300; ++round) {
        std::vector<std::byte*> mine;
        mine.reserve(20);
        for (int i = 0; i < 20; ++i) mine.push_back(source.Take());
        for (std::byte* block : mine) {
          ASSERT_EQ(block[100], std::byte{0});
          block[100] = static_cast<std::byte>(t + 1);
        }
        for (std::byte* block : mine) {
          ASSERT_EQ(block[100], static_cast<std::byte>(t + 1));
          source.Give(block);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(source.MappedBytes(), 0);
}

TEST(BlockSourceDeathTest, BrokenRulesAbort) {
  BlockSource source(kBlock);
  std::byte* const block = source.Take();
  EXPECT_DEATH(source.Give(block + kBlock), "no block in use");
  EXPECT_DEATH(source.Give(block + 4096), "no block in use");
  EXPECT_DEATH(
      {
        BlockSource leaked(kBlock);
        leaked.Take();
      },
      "destroyed with blocks in use");
  EXPECT_DEATH(BlockSource(1000), "blocks of 1000 bytes");
  source.Give(block);
  EXPECT_DEATH(source.Give(block), "no block in use");
}

}  // namespace
}  // namespace tcact::percpu
