#include "client/load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tcact::load {
namespace {

constexpr int kBits = 7;  // 128 buckets for each power of two
constexpr uint64_t kHalf = uint64_t{1} << kBits;
constexpr uint64_t kExact = 2 * kHalf;
constexpr size_t kBuckets = ((64 - kBits - 1) << kBits) + kExact;

}  // namespace

Histogram::Histogram() : buckets_(kBuckets, 0) {}

// The value's upper 8 bits choose the bucket inside its power of two; the number of bits dropped,
// the power. The two join without a gap: shift 0 covers 0 to 255, shift 1 goes on with 256.
size_t Histogram::BucketOf(uint64_t value) {
  if (value < kExact) return value;
  const int shift = static_cast<int>(std::bit_width(value)) - kBits - 1;
  return (static_cast<size_t>(shift) << kBits) + (value >> shift);
}

uint64_t Histogram::LowestOf(size_t bucket) {
  if (bucket < kExact) return bucket;
  const int shift = static_cast<int>(bucket >> kBits) - 1;
  return (kHalf + (bucket & (kHalf - 1))) << shift;
}

void Histogram::Record(uint64_t value) {
  ++buckets_[BucketOf(value)];
  ++count_;
  sum_ += value;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

uint64_t Histogram::Percentile(double percent) const {
  if (count_ == 0) return 0;
  const double share = std::clamp(percent, 0.0, 100.0) / 100;
  const auto rank = static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_)));
  const uint64_t wanted = std::clamp<uint64_t>(rank, 1, count_);
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen < wanted) continue;
    const uint64_t low = LowestOf(i);
    const uint64_t width = i + 1 < kBuckets ? LowestOf(i + 1) - low : low / kHalf;
    return std::clamp(low + (width - 1) / 2, min_, max_);
  }
  return max_;
}

uint64_t Histogram::CountBetween(uint64_t low, uint64_t high) const {
  uint64_t sum = 0;
  for (size_t i = BucketOf(low); i < kBuckets && LowestOf(i) < high; ++i) {
    if (LowestOf(i) >= low) sum += buckets_[i];
  }
  return sum;
}

}  // namespace tcact::load
