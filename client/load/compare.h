// The comparison of the three allocation modes: its figures, their arithmetic, its tables.
//
// The work is churn: actions are created and destroyed. Figures of several rounds are joined by
// their medians; ratios are of figures for one pair of create and destroy, so that a mode that did
// more pairs in the same time is not charged for them.
#ifndef TCACT_CLIENT_LOAD_COMPARE_H_
#define TCACT_CLIENT_LOAD_COMPARE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace tcact::load {

inline constexpr std::array<const char*, 3> kModeNames = {"per-object", "slab", "slab-merged"};
inline constexpr size_t kModes = kModeNames.size();
inline constexpr char kPcpuLock[] = "pcpu_alloc_mutex";

// One row of a lock table. Times in nanoseconds; min is 0 where nothing was contended.
struct LockFigures {
  std::string name;
  double acquired = 0;
  double contended = 0;
  double wait_total_ns = 0;
  double wait_max_ns = 0;
  double wait_min_ns = 0;

  double wait_avg_ns() const { return contended > 0 ? wait_total_ns / contended : 0; }
};

// What one mode did, in one round or (joined) in all.
struct ModeFigures {
  double pairs = 0;
  double wall_s = 0;
  double cpu_s = 0;
  std::vector<LockFigures> locks;  // descending by wait_total_ns, then by acquired, then by name

  double pairs_per_second() const { return wall_s > 0 ? pairs / wall_s : 0; }
  double cpu_us_per_pair() const { return pairs > 0 ? cpu_s * 1e6 / pairs : 0; }
};

// One measurement of all modes on the same work.
struct Case {
  std::string title;  // "core, 2 threads"
  std::array<ModeFigures, kModes> modes;
};

// The middle one, or the mean of the two middle ones; 0 of none.
double Median(std::vector<double> values);

// Field by field, and lock by lock: a lock that a round did not have counts there as zeros.
ModeFigures JoinRounds(const std::vector<ModeFigures>& rounds);

// Acquired, contended and waits added up, largest and smallest wait; name "sum of all locks".
LockFigures SumOf(const std::vector<LockFigures>& locks);

// after / before - 1, so -0.75 means three quarters less. Nothing where before is 0 and after is
// not; 0 where both are.
std::optional<double> Change(double before, double after);

// A figure of a mode against per-object, and the bar it should reach (changes are negative).
struct Verdict {
  std::string what;
  double before = 0;  // for one pair
  double after = 0;
  std::optional<double> change;
  double bar = 0;

  bool reached() const { return change.has_value() && *change <= bar; }
};

// The three figures that have bars: acquisitions of pcpu_alloc_mutex (-99.9 %), wait summed over
// all locks (-95 %), CPU (-75 %). `mode` is an index into kModeNames.
std::vector<Verdict> Verdicts(const Case& measured, size_t mode);

std::string CompareText(const Case& measured);
nlohmann::json CompareJson(const Case& measured);

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_COMPARE_H_
