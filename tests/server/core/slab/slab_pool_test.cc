#include "server/core/slab/slab_pool.h"

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/rcu/rcu.h"

namespace tcact::slab {
namespace {

CacheOptions Options(const char* name, size_t keep_empty) {
  CacheOptions options;
  options.name = name;
  options.object_size = 128;
  options.keep_empty_slabs = keep_empty;
  return options;
}

TEST(SlabLayoutTest, EverySizeAndAlignmentGivesASoundLayout) {
  for (size_t align : {8, 16, 32, 64}) {
    for (size_t size = 1; size <= 8192; size += size < 200 ? 1 : 61) {
      for (size_t red_zone : {0, 16}) {
        const Layout layout = LayoutFor(size, align, red_zone);
        SCOPED_TRACE(testing::Message() << size << " aligned " << align << " red " << red_zone);
        ASSERT_TRUE(std::has_single_bit(layout.slab_bytes));
        ASSERT_GE(layout.slab_bytes, 16 * 1024);
        ASSERT_LE(layout.slab_bytes, 64 * 1024);
        ASSERT_GE(layout.objects, 7);
        ASSERT_GE(layout.stride, size + red_zone);
        ASSERT_EQ(layout.stride % align, 0);
        ASSERT_EQ(layout.first_object % align, 0);
        ASSERT_GE(layout.map_words * 64, layout.objects);
        ASSERT_LE(layout.first_object + layout.objects * layout.stride, layout.slab_bytes);
      }
    }
  }
}

TEST(SlabLayoutTest, SmallObjectsWasteLittle) {
  for (size_t size : {16, 32, 64, 96, 128, 192, 256, 512}) {
    const Layout layout = LayoutFor(size, 8, 0);
    EXPECT_LT(static_cast<double>(layout.slab_bytes),
              1.03 * static_cast<double>(layout.objects * size))
        << size;
  }
}

TEST(SlabPoolTest, TakesFromPartialSlabsBeforeItTouchesEmptyOnes) {
  SlabPool pool(Options("test_pool_partial", 10));
  const size_t per_slab = pool.layout().objects;
  std::vector<void*> objects(3 * per_slab);
  ASSERT_EQ(pool.Take(absl::MakeSpan(objects)), objects.size());
  // One slab becomes empty, one partial.
  std::sort(objects.begin(), objects.end());
  pool.Give(absl::MakeConstSpan(objects).subspan(0, per_slab + 5));
  CacheStats stats;
  pool.FillStats(&stats);
  EXPECT_EQ(stats.empty_slabs, 1);
  std::vector<void*> again(5);
  ASSERT_EQ(pool.Take(absl::MakeSpan(again)), 5);
  EXPECT_EQ(std::set<void*>(again.begin(), again.end()),
            std::set<void*>(objects.begin() + static_cast<ptrdiff_t>(per_slab),
                            objects.begin() + static_cast<ptrdiff_t>(per_slab) + 5));
  pool.Give(again);
  pool.Give(absl::MakeConstSpan(objects).subspan(per_slab + 5));
  pool.ReleaseEmpty();
}

TEST(SlabPoolTest, KeepsNoMoreEmptySlabsThanToldAndCountsWhatItReleases) {
  SlabPool pool(Options("test_pool_keep", 2));
  std::vector<void*> objects(6 * pool.layout().objects);
  ASSERT_EQ(pool.Take(absl::MakeSpan(objects)), objects.size());
  EXPECT_EQ(pool.Give(objects), 4);
  CacheStats stats;
  EXPECT_EQ(pool.FillStats(&stats), 2 * pool.layout().objects);
  EXPECT_EQ(stats.slabs, 2);
  EXPECT_EQ(stats.empty_slabs, 2);
  EXPECT_EQ(stats.slabs_made, 6);
  EXPECT_EQ(stats.slabs_released, 4);
  EXPECT_EQ(pool.ReleaseEmpty(), 2);
  EXPECT_EQ(pool.FillStats(&stats), 0);
}

}  // namespace
}  // namespace tcact::slab
