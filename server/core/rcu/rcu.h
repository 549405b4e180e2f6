// The core's one door to liburcu (flavour "memb"): read sections, deferred work, grace periods.
//
// Invariants
//   - What a reader found by an RCU-published pointer inside a ReadGuard stays addressable until
//     the guard ends.
//   - A function given to Defer runs once, after every ReadGuard that was open at the call has
//     ended, on liburcu's own worker thread.
//   - Threads register themselves with liburcu at their first ReadGuard and leave at their end.
//
// Under TSan, which does not see liburcu's edges, guards and deferred work tell it the edge
// (rcu.cc).
#ifndef TCACT_SERVER_CORE_RCU_RCU_H_
#define TCACT_SERVER_CORE_RCU_RCU_H_

#include "absl/base/config.h"
#include "absl/base/optimization.h"

// Two of liburcu's functions, declared here so that its headers (and their macros) stay inside
// rcu.cc, which sees both declarations.
extern "C" {
void urcu_memb_read_lock(void);
void urcu_memb_read_unlock(void);
}

namespace tcact::rcu {

namespace internal {

// Whether the calling thread is known to liburcu. Trivial, so that reading it is one load.
extern constinit thread_local bool registered;
void RegisterThread();

#ifdef ABSL_HAVE_THREAD_SANITIZER
void TellTsanReadEnd();
#else
inline void TellTsanReadEnd() {}
#endif

}  // namespace internal

// A read section. Cheap (no shared write, no fence), may nest, must end on the thread that began
// it. Code inside must not block: not on a lock that is held across Synchronize or Barrier, nor on
// I/O.
class ReadGuard {
 public:
  ReadGuard() {
    if (ABSL_PREDICT_FALSE(!internal::registered)) internal::RegisterThread();
    urcu_memb_read_lock();
  }
  ~ReadGuard() {
    internal::TellTsanReadEnd();
    urcu_memb_read_unlock();
  }
  ReadGuard(const ReadGuard&) = delete;
  ReadGuard& operator=(const ReadGuard&) = delete;
};

// Starts liburcu's worker thread, unless it runs. Else the first Defer does, and aborts if the
// system has no memory for a thread by then: so who is going to defer calls this at its beginning.
void Prepare();

// Runs fn(arg) after a grace period, some ten milliseconds later when nothing waits. Never blocks;
// allocates a few words (aborts if even those are not to be had). Callable inside a ReadGuard. fn
// must not wait for a grace period.
void Defer(void (*fn)(void* arg), void* arg);

// Defers `delete object`.
template <typename T>
void DeferDelete(T* object) {
  Defer([](void* arg) { delete static_cast<T*>(arg); }, object);
}

// Waits for a grace period. REQUIRES: not inside a ReadGuard.
void Synchronize();

// Waits until all work deferred so far has run. REQUIRES: not inside a ReadGuard, nor in deferred
// work.
void Barrier();

}  // namespace tcact::rcu

#endif  // TCACT_SERVER_CORE_RCU_RCU_H_
