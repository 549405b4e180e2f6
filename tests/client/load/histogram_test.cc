#include "client/load/histogram.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace tcact::load {
namespace {

TEST(HistogramTest, AnEmptyOneAnswersZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.Percentile(50), 0u);
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.mean(), 0);
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (uint64_t value = 0; value < 256; ++value) histogram.Record(value);
  for (uint64_t value = 0; value < 256; ++value) {
    EXPECT_EQ(histogram.Percentile(static_cast<double>(value + 1) / 256 * 100), value);
  }
}

TEST(HistogramTest, OneValueIsEveryPercentile) {
  for (uint64_t value : {uint64_t{1}, uint64_t{255}, uint64_t{256}, uint64_t{123456789},
                         UINT64_MAX - 1, UINT64_MAX}) {
    Histogram histogram;
    histogram.Record(value);
    for (double percent : {0.0, 50.0, 99.9, 100.0}) EXPECT_EQ(histogram.Percentile(percent), value);
  }
}

// The bucket's edges are where an off-by-one would show.
TEST(HistogramTest, EveryPowerOfTwoAndItsNeighboursAreWithinOnePercent) {
  for (int bit = 1; bit < 64; ++bit) {
    for (int64_t offset : {-1, 0, 1}) {
      const uint64_t value = (uint64_t{1} << bit) + static_cast<uint64_t>(offset);
      Histogram histogram;
      // Neighbours keep [min, max] from giving the exact answer.
      histogram.Record(0);
      histogram.Record(value);
      histogram.Record(UINT64_MAX);
      const double answer = static_cast<double>(histogram.Percentile(50));
      EXPECT_NEAR(answer / static_cast<double>(value), 1, 0.01) << value;
    }
  }
}

TEST(HistogramTest, PercentilesOfRandomValuesAreWithinOnePercentOfTheSortedOnes) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> spread(12, 2);
  Histogram histogram;
  std::vector<uint64_t> values(100000);
  for (uint64_t& value : values) {
    value = static_cast<uint64_t>(spread(random));
    histogram.Record(value);
  }
  std::sort(values.begin(), values.end());
  for (double percent : {1.0, 50.0, 90.0, 99.0, 99.9, 99.99}) {
    const auto rank = static_cast<size_t>(std::ceil(percent / 100 * 100000));
    const auto expected = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.Percentile(percent)), expected, expected * 0.01)
        << "p" << percent;
  }
  EXPECT_EQ(histogram.min(), values.front());
  EXPECT_EQ(histogram.max(), values.back());
}

TEST(HistogramTest, MergeIsTheSameAsRecordingInOne) {
  Histogram one;
  Histogram other;
  Histogram both;
  for (uint64_t i = 1; i <= 1000; ++i) {
    (i % 3 == 0 ? one : other).Record(i * 997);
    both.Record(i * 997);
  }
  one.Merge(other);
  EXPECT_EQ(one.count(), both.count());
  EXPECT_EQ(one.min(), both.min());
  EXPECT_EQ(one.max(), both.max());
  EXPECT_EQ(one.mean(), both.mean());
  for (double percent : {10.0, 50.0, 99.0}) {
    EXPECT_EQ(one.Percentile(percent), both.Percentile(percent));
  }
}

TEST(HistogramTest, RangesThatJoinCountEveryValueOnce) {
  Histogram histogram;
  for (uint64_t i = 0; i < 5000; ++i) histogram.Record(i * i);
  uint64_t sum = histogram.CountBetween(0, 1);
  for (uint64_t low = 1; low <= histogram.max(); low *= 2) {
    sum += histogram.CountBetween(low, low * 2);
  }
  EXPECT_EQ(sum, histogram.count());
}

}  // namespace
}  // namespace tcact::load
