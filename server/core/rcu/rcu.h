// The core's one door to liburcu (flavour "memb"): read sections, deferred work, grace periods.
//
// Invariants
//   - What a reader found by an RCU-published pointer inside a ReadGuard stays addressable until the guard ends.
//   - A function given to Defer runs once, after every ReadGuard that was open at the call has ended, on
//     liburcu's own worker thread.
//   - Threads register themselves with liburcu at their first ReadGuard and leave at their end.
//
// Under TSan, which does not see liburcu's edges, guards and deferred work tell it the edge (rcu.cc).
#ifndef TCACT_SERVER_CORE_RCU_RCU_H_
#define TCACT_SERVER_CORE_RCU_RCU_H_

namespace tcact::rcu {

// A read section. Cheap (no shared write, no fence), may nest, must end on the thread that began it. Code inside
// must not block: not on a lock that is held across Synchronize or Barrier, nor on I/O.
class ReadGuard {
 public:
  ReadGuard();
  ~ReadGuard();
  ReadGuard(const ReadGuard&) = delete;
  ReadGuard& operator=(const ReadGuard&) = delete;
};

// Runs fn(arg) after a grace period. Never blocks; allocates a few words (aborts if even those are not to be had).
// Callable inside a ReadGuard. fn must not wait for a grace period.
void Defer(void (*fn)(void* arg), void* arg);

// Defers `delete object`.
template <typename T>
void DeferDelete(T* object) {
  Defer([](void* arg) { delete static_cast<T*>(arg); }, object);
}

// Waits for a grace period. REQUIRES: not inside a ReadGuard.
void Synchronize();

// Waits until all work deferred so far has run. REQUIRES: not inside a ReadGuard, nor in deferred work.
void Barrier();

}  // namespace tcact::rcu

#endif  // TCACT_SERVER_CORE_RCU_RCU_H_
