// Checks of invariants. A broken one is a bug of ours: the process ends with a message that names
// it, since going on would corrupt what others hold. What a caller may get wrong is an error, not a
// check.
#ifndef TCACT_SERVER_CORE_BASE_CHECK_H_
#define TCACT_SERVER_CORE_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace tcact::base {

[[noreturn]] inline void CheckFailed(const char* file, int line, const char* condition,
                                     const char* invariant) {
  std::fprintf(stderr, "%s:%d: invariant broken: %s (%s)\n", file, line, invariant, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace tcact::base

// Always on: for what would corrupt.
#define TCACT_CHECK(condition, invariant)                                      \
  (__builtin_expect(!(condition), 0)                                           \
       ? ::tcact::base::CheckFailed(__FILE__, __LINE__, #condition, invariant) \
       : static_cast<void>(0))

// Off in release builds: for hot paths.
#ifdef NDEBUG
#define TCACT_DCHECK(condition, invariant) static_cast<void>(sizeof(!(condition)))
#else
#define TCACT_DCHECK(condition, invariant) TCACT_CHECK(condition, invariant)
#endif

#endif  // TCACT_SERVER_CORE_BASE_CHECK_H_
