#include "client/load/arrivals.h"

#include <cmath>

#include "gtest/gtest.h"

namespace tcact::load {
namespace {

TEST(ArrivalsTest, TheMeanGapIsOneOverTheRateAndItsSpreadThatOfAPoissonProcess) {
  constexpr int kCount = 200000;
  Arrivals arrivals(10000, /*seed=*/7, /*start_ns=*/0);
  double last = 0;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const auto gap = static_cast<double>(arrivals.next_ns()) - last;
    last += gap;
    sum += gap;
    squares += gap * gap;
    arrivals.Advance();
  }
  const double mean = sum / kCount;
  const double deviation = std::sqrt(squares / kCount - mean * mean);
  EXPECT_NEAR(mean, 100000, 2000);
  EXPECT_NEAR(deviation / mean, 1, 0.02) << "gaps are exponential";
}

TEST(ArrivalsTest, OneSeedGivesOneSequence) {
  Arrivals one(1000, 1, 5);
  Arrivals same(1000, 1, 5);
  Arrivals other(1000, 2, 5);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(one.next_ns(), same.next_ns());
    differs = differs || one.next_ns() != other.next_ns();
    one.Advance();
    same.Advance();
    other.Advance();
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace tcact::load
