// Units: rates, sizes and scheduler ticks as tc reads and prints them.
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_UNITS_H_
#define TCACT_PROTO_KINDS_UNITS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tcact::kinds {

// A number with a unit of rate to bytes a second: "1mbit" is 125000, "2KiBps" 2048, "8" (bits) 1.
// Units are bit, Bps and either with k, m, g, t (1000) or ki, mi, gi, ti (1024), in any case. False
// on another unit, a negative value or one beyond the type.
bool ParseRate(absl::string_view word, uint64_t* bytes_per_second);
bool ParseRate32(absl::string_view word, uint32_t* bytes_per_second);

// A number with a unit of size to bytes: none or "b", k, m, g with or without b (1024), kbit, mbit,
// gbit. False on another unit, a negative value or one beyond the type.
bool ParseSize(absl::string_view word, uint64_t* bytes);
bool ParseSize32(absl::string_view word, uint32_t* bytes);

// "SIZE" or "SIZE/CELL". The cell's base-2 logarithm goes to *cell_log, which stays as it is
// without a cell. False also on a cell that is no power of 2 (1 to 2^30).
bool ParseSizeAndCell(absl::string_view word, uint64_t* bytes, int* cell_log);

// A time to nanoseconds, without its fraction: a number with s, sec, secs, ms, msec, msecs, us,
// usec, usecs, ns, nsec, nsecs, or none (ns); in any case. False on another unit or beyond the
// type.
bool ParseTime(absl::string_view word, int64_t* ns);

// "1Mbit", "0bit"; with `iec` in units of 1024: "1Mibit".
std::string FormatRate(uint64_t bytes_per_second, bool iec = false);
// "10Kb", "4Gb", "1500b".
std::string FormatSize(uint64_t bytes);
// "1.5s", "200ms", "10us", "7ns": three digits, but all of nanoseconds.
std::string FormatTime(int64_t ns);

// The kernel measures a burst as the time that it takes at its rate, in ticks of 64 ns held in 32
// bits; what tc prints has been through that. `rate` is in bytes (or packets) a second and more
// than 0.
inline constexpr uint32_t kMaxTicks = 0xffffffff;
// Rounded up; kMaxTicks if it takes longer.
uint32_t TicksOf(uint64_t rate, uint64_t amount);
// What passes in `ticks`.
uint64_t AmountOf(uint64_t rate, uint32_t ticks);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_UNITS_H_
