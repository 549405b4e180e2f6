#include "proto/kinds/units.h"

#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace tcact::kinds {
namespace {

TEST(Rate, UnitsAreBitsOrBytesInThousandsOr1024s) {
  const struct {
    const char* word;
    uint64_t bytes;
  } cases[] = {{"8", 1},           {"1bit", 0},
               {"1mbit", 125000},  {"1Mbit", 125000},
               {"90kbit", 11250},  {"1kibit", 128},
               {"1KiBps", 1024},   {"1bps", 1},
               {"2MBps", 2000000}, {"1tbit", 125000000000},
               {"1.5kbit", 187},   {"1TiBps", 1ull << 40}};
  for (const auto& c : cases) {
    uint64_t rate = 0;
    EXPECT_TRUE(ParseRate(c.word, &rate)) << c.word;
    EXPECT_EQ(rate, c.bytes) << c.word;
  }
}

TEST(Rate, OtherWordsAreRefused) {
  uint64_t rate = 0;
  for (const char* bad :
       {"", "foo", "100T", "1xbit", "-1mbit", "1e30tbit", "nan", "inf", "1mbit "}) {
    EXPECT_FALSE(ParseRate(bad, &rate)) << bad;
  }
  uint32_t small = 0;
  EXPECT_TRUE(ParseRate32("34359738360", &small));
  EXPECT_EQ(small, 4294967295u);
  EXPECT_FALSE(ParseRate32("34359738368", &small));
}

TEST(Rate, PrintsTheLargestExactUnitUpToSixDigits) {
  EXPECT_EQ(FormatRate(0), "0bit");
  EXPECT_EQ(FormatRate(125, true), "1000bit");
  EXPECT_EQ(FormatRate(128, true), "1Kibit");
  EXPECT_EQ(FormatRate(125000, true), "1000000bit");
  EXPECT_EQ(FormatRate(131072, true), "1Mibit");
  EXPECT_EQ(FormatRate(125000), "1Mbit");
  EXPECT_EQ(FormatRate(11250), "90Kbit");
  EXPECT_EQ(FormatRate(125), "1Kbit");
  EXPECT_EQ(FormatRate(187), "1496bit");
  EXPECT_EQ(FormatRate(125000000000), "1Tbit");
  EXPECT_EQ(FormatRate(124999), "999992bit");
  // Seven digits, and then again a whole number.
  EXPECT_EQ(FormatRate(125001), "1Mbit");
}

TEST(Size, UnitsAre1024s) {
  const struct {
    const char* word;
    uint64_t bytes;
  } cases[] = {{"1500", 1500},  {"1500b", 1500},    {"10k", 10240},  {"2Kb", 2048},
               {"1m", 1 << 20}, {"4g", 4ull << 30}, {"8kbit", 1024}, {"1mbit", 131072},
               {"0", 0},        {"0.5k", 512}};
  for (const auto& c : cases) {
    uint64_t size = 0;
    EXPECT_TRUE(ParseSize(c.word, &size)) << c.word;
    EXPECT_EQ(size, c.bytes) << c.word;
  }
  uint64_t size = 0;
  for (const char* bad : {"", "k", "10x", "-1", "1e40", "10kib"}) {
    EXPECT_FALSE(ParseSize(bad, &size)) << bad;
  }
  uint32_t small = 0;
  EXPECT_TRUE(ParseSize32("4294967295", &small));
  EXPECT_FALSE(ParseSize32("4g", &small));
}

TEST(Size, ACellIsAPowerOfTwo) {
  uint64_t size = 0;
  int cell_log = -1;
  EXPECT_TRUE(ParseSizeAndCell("10k", &size, &cell_log));
  EXPECT_EQ(cell_log, -1);
  EXPECT_TRUE(ParseSizeAndCell("10k/8", &size, &cell_log));
  EXPECT_EQ(size, 10240u);
  EXPECT_EQ(cell_log, 3);
  for (const char* bad : {"10k/", "10k/7", "10k/0", "/8", "10k/8/8", "10k/2147483648"}) {
    EXPECT_FALSE(ParseSizeAndCell(bad, &size, &cell_log)) << bad;
  }
}

TEST(Size, PrintsAUnitThatIsNearlyExact) {
  EXPECT_EQ(FormatSize(0), "0b");
  EXPECT_EQ(FormatSize(1500), "1500b");
  EXPECT_EQ(FormatSize(10240), "10Kb");
  EXPECT_EQ(FormatSize(2047), "2Kb");
  EXPECT_EQ(FormatSize(2040), "2Kb");
  EXPECT_EQ(FormatSize(2032), "2032b");
  EXPECT_EQ(FormatSize(1 << 20), "1Mb");
  EXPECT_EQ(FormatSize(4294967295), "4Gb");
}

TEST(Ticks, AreOf64NanosecondsRoundedUp) {
  // 10,240 bytes at 125,000 a second take 81.92 ms.
  EXPECT_EQ(TicksOf(125000, 10240), 1280000u);
  EXPECT_EQ(AmountOf(125000, 1280000), 10240u);
  EXPECT_EQ(TicksOf(125000, 0), 0u);
  // One tick at 5 GB a second is 320 bytes.
  EXPECT_EQ(TicksOf(5000000000, 10000), 32u);
  EXPECT_EQ(AmountOf(5000000000, 32), 10240u);
}

TEST(Ticks, StopAtTheirLargestValue) {
  EXPECT_EQ(TicksOf(1, 275), kMaxTicks);
  EXPECT_LT(TicksOf(1, 274), kMaxTicks);
  EXPECT_EQ(TicksOf(1, std::numeric_limits<uint64_t>::max()), kMaxTicks);
  EXPECT_EQ(AmountOf(std::numeric_limits<uint64_t>::max(), kMaxTicks),
            std::numeric_limits<uint64_t>::max());
}

TEST(Ticks, WhatWasRoundedOnceStays) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t rate = 1000 + random();
    const uint64_t amount = 1 + random() % (rate * 100);
    const uint64_t rounded = AmountOf(rate, TicksOf(rate, amount));
    EXPECT_GE(rounded + 1, amount) << rate;
    const uint64_t again = AmountOf(rate, TicksOf(rate, rounded));
    EXPECT_LE(rounded > again ? rounded - again : again - rounded, 1 + rate / 15625000) << rate;
  }
}

}  // namespace
}  // namespace tcact::kinds
