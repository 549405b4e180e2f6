#include "client/load/options.h"

#include <cmath>

#include "absl/strings/match.h"
#include "client/load/action_slot.h"
#include "gtest/gtest.h"

namespace tcact::load {
namespace {

// The refusal of `options` names the flag with its value, and the range.
void ExpectRefused(const RunOptions& options, const std::string& flag, const std::string& range) {
  const absl::Status status = CheckRunOptions(options);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), flag)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), range)) << status;
}

TEST(OptionsTest, TheDefaultsAreSound) { EXPECT_TRUE(CheckRunOptions(RunOptions()).ok()); }

TEST(OptionsTest, ValuesOutsideTheirRangeAreNamedWithIt) {
  RunOptions o;
  o.ops_per_message = 4097;
  ExpectRefused(o, "--ops-per-message=4097", "1 to 4096");
  o = {};
  o.ops_per_message = 0;
  ExpectRefused(o, "--ops-per-message=0", "1 to 4096");
  o = {};
  o.connections = 0;
  ExpectRefused(o, "--connections=0", "1 to 10000");
  o = {};
  o.in_flight = -1;
  ExpectRefused(o, "--in-flight=-1", "0 to 10000");
  o = {};
  o.duration = absl::Milliseconds(99);
  ExpectRefused(o, "--duration=99ms", "100ms to 24h");
  o = {};
  o.warmup = absl::Seconds(-1);
  ExpectRefused(o, "--warmup=-1s", "0 to 1h");
  o = {};
  o.rate = -1;
  ExpectRefused(o, "--rate=-1", "0 (closed loop)");
  o = {};
  o.rate = std::nan("");
  ExpectRefused(o, "--rate=nan", "0 (closed loop)");
  o = {};
  o.kind = "mirred";
  ExpectRefused(o, "--kind=mirred", "gact, police");
  o = {};
  o.server = "nowhere";
  ExpectRefused(o, "--server", "host:port or unix:/path");
}

TEST(OptionsTest, OnlyUnaryStatisticsTakeMoreThanABatch) {
  RunOptions o;
  o.scenario = Scenario::kStats;
  o.mode = Mode::kUnary;
  o.ops_per_message = 1000000;
  EXPECT_TRUE(CheckRunOptions(o).ok());
  o.mode = Mode::kApply;
  ExpectRefused(o, "--ops-per-message=1000000", "1 to 4096");
}

TEST(OptionsTest, EachThreadNeedsAConnection) {
  RunOptions o;
  o.threads = 3;
  o.connections = 2;
  ExpectRefused(o, "--threads=3", "1 to --connections (2)");
}

TEST(OptionsTest, ADumpIsNoBatch) {
  RunOptions o;
  o.scenario = Scenario::kDump;
  ExpectRefused(o, "--mode=apply", "dump");
}

TEST(OptionsTest, WordsAreReadAndPrintedAlike) {
  for (const char* word : {"churn", "bind", "stats", "mixed", "dump"}) {
    Scenario scenario{};
    ASSERT_TRUE(ParseScenario(word, &scenario));
    EXPECT_EQ(ScenarioName(scenario), word);
  }
  Scenario scenario = Scenario::kStats;
  EXPECT_FALSE(ParseScenario("chur", &scenario));
  EXPECT_EQ(scenario, Scenario::kStats);
}

TEST(OptionsTest, BindsHaveASharePerSlot) {
  RunOptions o;
  o.scenario = Scenario::kBind;
  o.actions = 10;
  o.connections = 2;
  o.in_flight = 3;
  o.ops_per_message = 5;
  EXPECT_EQ(ResidentActions(o), 30);
  o.actions = 1000;
  EXPECT_EQ(ResidentActions(o), 1000);
  o.scenario = Scenario::kChurn;
  EXPECT_EQ(ResidentActions(o), 0);
}

}  // namespace
}  // namespace tcact::load
