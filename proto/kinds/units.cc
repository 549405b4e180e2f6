#include "proto/kinds/units.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/kinds/words.h"

namespace tcact::kinds {
namespace {

struct Unit {
  absl::string_view name;
  double scale;
};

constexpr double kKi = 1024;

// In bits a second.
constexpr Unit kRateUnits[] = {
    {"bit", 1},
    {"kbit", 1e3},
    {"mbit", 1e6},
    {"gbit", 1e9},
    {"tbit", 1e12},
    {"kibit", kKi},
    {"mibit", kKi* kKi},
    {"gibit", kKi* kKi* kKi},
    {"tibit", kKi* kKi* kKi* kKi},
    {"bps", 8},
    {"kbps", 8e3},
    {"mbps", 8e6},
    {"gbps", 8e9},
    {"tbps", 8e12},
    {"kibps", 8 * kKi},
    {"mibps", 8 * kKi* kKi},
    {"gibps", 8 * kKi* kKi* kKi},
    {"tibps", 8 * kKi* kKi* kKi* kKi},
};

// In bytes.
constexpr Unit kSizeUnits[] = {
    {"b", 1},
    {"k", kKi},
    {"kb", kKi},
    {"m", kKi* kKi},
    {"mb", kKi* kKi},
    {"g", kKi* kKi* kKi},
    {"gb", kKi* kKi* kKi},
    {"kbit", kKi / 8},
    {"mbit", kKi* kKi / 8},
    {"gbit", kKi* kKi* kKi / 8},
};

// In nanoseconds.
constexpr Unit kTimeUnits[] = {
    {"s", 1e9},  {"sec", 1e9},  {"secs", 1e9},  {"ms", 1e6}, {"msec", 1e6}, {"msecs", 1e6},
    {"us", 1e3}, {"usec", 1e3}, {"usecs", 1e3}, {"ns", 1},   {"nsec", 1},   {"nsecs", 1},
};

// Ticks in a second: 64 ns each.
constexpr double kTicksPerSecond = 1e9 / 64;

// A number and one of `units` (or none) to number * scale. False if it is no such thing or not
// finite.
template <size_t N>
bool ParseWithUnit(absl::string_view word, const Unit (&units)[N], double* out) {
  const std::string text(word);
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return false;
  const absl::string_view suffix = absl::string_view(text).substr(end - text.c_str());
  if (!suffix.empty()) {
    const Unit* found = nullptr;
    for (const Unit& unit : units) {
      if (absl::EqualsIgnoreCase(unit.name, suffix)) found = &unit;
    }
    if (found == nullptr) return false;
    value *= found->scale;
  }
  if (!std::isfinite(value)) return false;
  *out = value;
  return true;
}

// Cuts the fraction. False outside the type.
template <typename T>
bool ToUnsigned(double value, T* out) {
  // 2^N is exact in a double where 2^N - 1 may not be.
  const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (!(value >= 0) || value >= limit) return false;
  *out = static_cast<T>(value);
  return true;
}

}  // namespace

bool ParseRate(absl::string_view word, uint64_t* bytes_per_second) {
  double bits = 0;
  return ParseWithUnit(word, kRateUnits, &bits) && ToUnsigned(bits / 8, bytes_per_second);
}

bool ParseRate32(absl::string_view word, uint32_t* bytes_per_second) {
  double bits = 0;
  return ParseWithUnit(word, kRateUnits, &bits) && ToUnsigned(bits / 8, bytes_per_second);
}

bool ParseSize(absl::string_view word, uint64_t* bytes) {
  double value = 0;
  return ParseWithUnit(word, kSizeUnits, &value) && ToUnsigned(value, bytes);
}

bool ParseSize32(absl::string_view word, uint32_t* bytes) {
  double value = 0;
  return ParseWithUnit(word, kSizeUnits, &value) && ToUnsigned(value, bytes);
}

bool ParseTime(absl::string_view word, int64_t* ns) {
  double value = 0;
  if (!ParseWithUnit(word, kTimeUnits, &value)) return false;
  const double limit = std::ldexp(1.0, std::numeric_limits<int64_t>::digits);
  if (value < -limit || value >= limit) return false;
  *ns = static_cast<int64_t>(value);
  return true;
}

bool ParseSizeAndCell(absl::string_view word, uint64_t* bytes, int* cell_log) {
  const size_t slash = word.find('/');
  if (!ParseSize(word.substr(0, slash), bytes)) return false;
  if (slash == absl::string_view::npos) return true;
  int cell = 0;
  if (!ParseInt(word.substr(slash + 1), 0, &cell)) return false;
  for (int log = 0; log <= 30; ++log) {
    if (cell == 1 << log) {
      *cell_log = log;
      return true;
    }
  }
  return false;
}

std::string FormatRate(uint64_t bytes_per_second, bool iec) {
  constexpr absl::string_view kPrefixes[] = {"", "K", "M", "G", "T"};
  // As tc, which would lose the top three bits of a rate that nobody has.
  uint64_t rate = bytes_per_second << 3;
  const uint64_t kilo = iec ? 1024 : 1000;
  size_t prefix = 0;
  // A unit larger if that is exact, or if the number would be a thousand of it and more.
  while (prefix + 1 < std::size(kPrefixes) && rate >= kilo &&
         (rate % kilo == 0 || rate >= 1000 * kilo)) {
    rate /= kilo;
    ++prefix;
  }
  return absl::StrCat(rate, kPrefixes[prefix], iec && prefix > 0 ? "i" : "", "bit");
}

std::string FormatTime(int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (value >= 1e9) return absl::StrFormat("%.3gs", value / 1e9);
  if (value >= 1e6) return absl::StrFormat("%.3gms", value / 1e6);
  if (value >= 1e3) return absl::StrFormat("%.3gus", value / 1e3);
  return absl::StrCat(ns, "ns");
}

std::string FormatSize(uint64_t bytes) {
  // A unit is taken if the size is a whole number of it, but for so many bytes.
  struct Step {
    double unit;
    double slack;
    absl::string_view name;
  };
  constexpr Step kSteps[] = {
      {kKi * kKi * kKi, 1024, "Gb"}, {kKi * kKi, 1024, "Mb"}, {kKi, 16, "Kb"}};
  const auto size = static_cast<double>(bytes);
  for (const Step& step : kSteps) {
    const double whole = std::rint(size / step.unit);
    if (size >= step.unit && std::fabs(step.unit * whole - size) < step.slack) {
      return absl::StrFormat("%g%s", whole, step.name);
    }
  }
  return absl::StrCat(bytes, "b");
}

uint32_t TicksOf(uint64_t rate, uint64_t amount) {
  const double seconds = static_cast<double>(amount) / static_cast<double>(rate);
  // Through microseconds, as tc, so that the rounding is the same.
  const double ticks = std::ceil(1e6 * seconds * (kTicksPerSecond / 1e6));
  return ticks > kMaxTicks ? kMaxTicks : static_cast<uint32_t>(ticks);
}

uint64_t AmountOf(uint64_t rate, uint32_t ticks) {
  const double amount = static_cast<double>(rate) * (ticks / (kTicksPerSecond / 1e6)) / 1e6;
  uint64_t result = 0;
  return ToUnsigned(amount, &result) ? result : std::numeric_limits<uint64_t>::max();
}

}  // namespace tcact::kinds
