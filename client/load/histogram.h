// Histogram: counts of latencies in buckets whose width grows with the value.
//
// Invariants
//   - Values 0 to 255 have a bucket each. Above, each power of two is cut into 128 equal buckets,
//     so a bucket is at most 1/128 of its values wide, and a percentile, which answers with the
//     bucket's middle, is within 0.4 % of the true one.
//   - count, sum, min and max are exact (sum as long as it stays below 2^64).
//   - All 64-bit values fit; the size is fixed: 59 KiB.
//
// Thread safety: none; give each thread its own and Merge.
#ifndef TCACT_CLIENT_LOAD_HISTOGRAM_H_
#define TCACT_CLIENT_LOAD_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tcact::load {

class Histogram {
 public:
  Histogram();

  void Record(uint64_t value);
  void Merge(const Histogram& other);

  uint64_t count() const { return count_; }
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double mean() const;

  // The value that `percent` (0 to 100; clamped) of the recorded ones do not exceed: of n values
  // the one of rank ceil(n * percent / 100), at least the first. Never outside [min, max]. 0 if
  // empty.
  uint64_t Percentile(double percent) const;

  // How many recorded values are in buckets that begin at `low` or above and below `high`.
  uint64_t CountBetween(uint64_t low, uint64_t high) const;

 private:
  static size_t BucketOf(uint64_t value);
  static uint64_t LowestOf(size_t bucket);

  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t min_ = UINT64_MAX;
  uint64_t max_ = 0;
};

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_HISTOGRAM_H_
