// The clocks that the load tester measures with.
#ifndef TCACT_CLIENT_LOAD_CLOCK_H_
#define TCACT_CLIENT_LOAD_CLOCK_H_

#include <sys/resource.h>

#include <chrono>
#include <cstdint>

namespace tcact::load {

// Nanoseconds of the steady clock.
inline int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// CPU seconds of this process, user and system.
inline double ProcessCpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_CLOCK_H_
