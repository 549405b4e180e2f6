// Arrivals: the moments at which an open loop's messages are due.
#ifndef TCACT_CLIENT_LOAD_ARRIVALS_H_
#define TCACT_CLIENT_LOAD_ARRIVALS_H_

#include <cstdint>
#include <random>

namespace tcact::load {

// A Poisson process: gaps are independent and exponentially distributed, so load comes in bursts as
// from many independent senders. What is due does not depend on what was answered: a sender that is
// late goes on from next_ns, and latencies count from there.
class Arrivals {
 public:
  // `per_second` > 0.
  Arrivals(double per_second, uint64_t seed, int64_t start_ns)
      : random_(seed), gap_ns_(per_second / 1e9), next_ns_(static_cast<double>(start_ns)) {
    Advance();
  }

  int64_t next_ns() const { return static_cast<int64_t>(next_ns_); }
  void Advance() { next_ns_ += gap_ns_(random_); }

 private:
  std::mt19937_64 random_;
  std::exponential_distribution<double> gap_ns_;
  double next_ns_;
};

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_ARRIVALS_H_
