#include "client/load/compare.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace tcact::load {
namespace {

LockFigures Lock(const std::string& name, double acquired, double contended, double total,
                 double max, double min) {
  LockFigures lock;
  lock.name = name;
  lock.acquired = acquired;
  lock.contended = contended;
  lock.wait_total_ns = total;
  lock.wait_max_ns = max;
  lock.wait_min_ns = min;
  return lock;
}

ModeFigures Figures(double pairs, double wall_s, double cpu_s, std::vector<LockFigures> locks) {
  ModeFigures figures;
  figures.pairs = pairs;
  figures.wall_s = wall_s;
  figures.cpu_s = cpu_s;
  figures.locks = std::move(locks);
  return figures;
}

TEST(MedianTest, IsTheMiddleOrTheMeanOfTheTwoMiddles) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({5}), 5);
  EXPECT_EQ(Median({9, 1, 5}), 5);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
}

TEST(ChangeTest, IsRelativeToBefore) {
  EXPECT_EQ(Change(100, 25), -0.75);
  EXPECT_EQ(Change(100, 150), 0.5);
  EXPECT_EQ(Change(0, 0), 0);
  EXPECT_FALSE(Change(0, 1).has_value());
}

TEST(JoinRoundsTest, TakesTheMedianOfEachFieldAndOfEachLockByName) {
  const ModeFigures joined = JoinRounds({
      Figures(100, 1, 2, {Lock("a", 10, 1, 100, 100, 100)}),
      Figures(100, 3, 6, {Lock("b", 7, 0, 0, 0, 0), Lock("a", 30, 3, 300, 200, 50)}),
      Figures(100, 2, 4, {Lock("a", 20, 2, 200, 150, 60)}),
  });
  EXPECT_EQ(joined.wall_s, 2);
  EXPECT_EQ(joined.cpu_s, 4);
  ASSERT_EQ(joined.locks.size(), 2u);
  EXPECT_EQ(joined.locks[0].name, "a");
  EXPECT_EQ(joined.locks[0].acquired, 20);
  EXPECT_EQ(joined.locks[0].wait_max_ns, 150);
  EXPECT_EQ(joined.locks[1].name, "b");
  EXPECT_EQ(joined.locks[1].acquired, 0) << "two rounds of three had no such lock";
}

TEST(SumTest, AddsCountsAndKeepsTheExtremes) {
  const LockFigures sum = SumOf(
      {Lock("a", 10, 2, 300, 200, 100), Lock("b", 5, 0, 0, 0, 0), Lock("c", 1, 1, 50, 50, 50)});
  EXPECT_EQ(sum.acquired, 16);
  EXPECT_EQ(sum.contended, 3);
  EXPECT_EQ(sum.wait_total_ns, 350);
  EXPECT_EQ(sum.wait_max_ns, 200);
  EXPECT_EQ(sum.wait_min_ns, 50) << "a lock that nobody waited for has no smallest wait";
}

TEST(LockFiguresTest, AverageIsOverContendedAcquisitions) {
  EXPECT_EQ(Lock("a", 100, 4, 200, 0, 0).wait_avg_ns(), 50);
  EXPECT_EQ(Lock("a", 100, 0, 0, 0, 0).wait_avg_ns(), 0);
}

// slab-merged did twice the pairs; the ratios do not hold that against it.
Case Sample() {
  Case sample;
  sample.title = "a case";
  sample.modes[0] = Figures(1000, 1, 0.010,
                            {Lock("pcpu_alloc_mutex", 6000, 100, 900000, 9000, 900),
                             Lock("idr_lock", 2000, 10, 100000, 9000, 900)});
  sample.modes[1] = Figures(1000, 1, 0.008, {Lock("pcpu_alloc_mutex", 3000, 0, 0, 0, 0)});
  sample.modes[2] = Figures(
      2000, 1, 0.004,
      {Lock("idr_lock", 4000, 10, 100000, 9000, 900), Lock("pcpu_alloc_mutex", 12, 0, 0, 0, 0)});
  return sample;
}

TEST(VerdictsTest, AreForOnePairAndJudgeByTheBar) {
  const std::vector<Verdict> verdicts = Verdicts(Sample(), 2);
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts[0].before, 6);
  EXPECT_EQ(verdicts[0].after, 0.006);
  EXPECT_NEAR(*verdicts[0].change, -0.999, 1e-9);
  EXPECT_EQ(verdicts[1].before, 1000);
  EXPECT_EQ(verdicts[1].after, 50);
  EXPECT_NEAR(*verdicts[1].change, -0.95, 1e-9);
  EXPECT_NEAR(*verdicts[2].change, -0.8, 1e-9);
  EXPECT_TRUE(verdicts[2].reached());
}

TEST(VerdictsTest, ABarThatIsMissedIsNotReached) {
  Case sample = Sample();
  sample.modes[2].cpu_s = 0.006;  // 3 us of 10: -70 %
  EXPECT_FALSE(Verdicts(sample, 2)[2].reached());
  sample.modes[0].locks.clear();
  EXPECT_FALSE(Verdicts(sample, 2)[0].reached()) << "from nothing to something is no reduction";
}

TEST(CompareTextTest, ShowsEveryLockOfEveryModeInTheRfcsColumns) {
  const std::string text = CompareText(Sample());
  EXPECT_TRUE(absl::StrContains(text, "Name"));
  for (const char* column :
       {"acquired", "contended", "avg wait", "total wait", "max wait", "min wait"}) {
    EXPECT_TRUE(absl::StrContains(text, column)) << column;
  }
  for (const char* mode : kModeNames) EXPECT_TRUE(absl::StrContains(text, mode));
  EXPECT_TRUE(absl::StrContains(text, "idr_lock"));
  EXPECT_TRUE(absl::StrContains(text, "sum of all locks"));
  EXPECT_TRUE(absl::StrContains(text, "bar -75.0 %: reached"));
}

TEST(CompareJsonTest, HoldsWhatTheTextShows) {
  const nlohmann::json json = CompareJson(Sample());
  EXPECT_EQ(json["modes"]["per-object"]["locks"].size(), 2u);
  EXPECT_EQ(json["modes"]["per-object"]["locks"][0]["avg_wait_ns"], 9000);
  EXPECT_EQ(json["modes"]["slab-merged"]["against_per_object"].size(), 3u);
  EXPECT_EQ(json["modes"]["slab-merged"]["against_per_object"][2]["reached"], true);
  EXPECT_EQ(json["modes"]["slab"]["cpu_us_per_pair"], 8);
}

}  // namespace
}  // namespace tcact::load
