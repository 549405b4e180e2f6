// The fuzz targets in the ordinary build: the seeds, and seeds with a few bytes changed at random.
// (`tests/run.sh --full` lets libFuzzer look for more.)
#include <iostream>
#include <random>

#include "gtest/gtest.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/targets.h"

namespace tcact::fuzz {
namespace {

void Feed(const Seed& seed) {
  const auto* data = reinterpret_cast<const uint8_t*>(seed.bytes.data());
  (seed.target == "grammar" ? Grammar : Action)(data, seed.bytes.size());
}

TEST(FuzzTargets, TakeTheSeeds) {
  const std::vector<Seed> seeds = Seeds();
  EXPECT_GT(seeds.size(), 100u);
  for (const Seed& seed : seeds) Feed(seed);
}

TEST(FuzzTargets, TakeChangedSeeds) {
  const uint64_t number = std::random_device()();
  std::cout << "seed " << number << "\n";
  std::mt19937_64 random(number);
  for (const Seed& seed : Seeds()) {
    for (int round = 0; round < 200; ++round) {
      Seed changed = seed;
      for (int i = 0; i <= round % 4 && !changed.bytes.empty(); ++i) {
        changed.bytes[random() % changed.bytes.size()] = static_cast<char>(random());
      }
      Feed(changed);
    }
  }
}

}  // namespace
}  // namespace tcact::fuzz
