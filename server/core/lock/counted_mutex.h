// CountedMutex: a named mutex that counts what /proc/lock_stat counts.
//
// Invariants
//   - Every live mutex is in the process-wide registry, so LockStats() shows all of them; mutexes
//     of one name (an idr_lock for each table, say) are added up into one row, and a row outlives
//     its mutexes: what a destroyed mutex counted stays in its name's row.
//   - acquired >= contended; wait_* speak of contended acquisitions only.
//   - An uncontended acquisition reads no clock.
//
// Thread safety: everything here may be called from any thread. Locks of this class are leaf locks:
// while one is held no other CountedMutex is taken, except where the holder's header states an
// order.
#ifndef TCACT_SERVER_CORE_LOCK_COUNTED_MUTEX_H_
#define TCACT_SERVER_CORE_LOCK_COUNTED_MUTEX_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"

namespace tcact::lock {

// One row of the lock table. Times in nanoseconds.
struct LockStat {
  std::string name;
  uint64_t acquired = 0;
  uint64_t contended = 0;
  uint64_t wait_total_ns = 0;
  uint64_t wait_max_ns = 0;
  uint64_t wait_min_ns = 0;  // 0 if contended == 0
};

class LockRow;  // what the mutexes of one name have in common; lives for ever

class ABSL_LOCKABLE CountedMutex {
 public:
  // `name` is the field's own word for the lock, such as "pcpu_alloc_mutex"; 1 to 63 bytes
  // (checked: aborts).
  explicit CountedMutex(absl::string_view name);
  ~CountedMutex();
  CountedMutex(const CountedMutex&) = delete;
  CountedMutex& operator=(const CountedMutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    if (ABSL_PREDICT_TRUE(TryLockRaw())) {
      Bump(&uncontended_, 1);
    } else {
      LockContended();
    }
  }
  // Counts as an acquisition if it succeeds, and as nothing if it does not.
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    if (!TryLockRaw()) return false;
    Bump(&uncontended_, 1);
    return true;
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() { pthread_mutex_unlock(&mu_); }

 private:
  friend class LockRow;

  // Only the holder writes the counters, so an addition needs no locked instruction; they are
  // atomic for LockStats, which reads them without the lock.
  static void Bump(std::atomic<uint64_t>* counter, uint64_t by) {
    counter->store(counter->load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  bool TryLockRaw() { return pthread_mutex_trylock(&mu_) == 0; }
  void LockContended() ABSL_EXCLUSIVE_LOCK_FUNCTION();

  // Not absl::Mutex: a distribution's abseil may be built with its deadlock detector on, which
  // takes a lock of the whole process at each acquisition. Adaptive: sections are short, so a
  // waiter spins a little before it sleeps.
  pthread_mutex_t mu_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
  // Since this mutex was made. Uncontended and contended are kept apart so that acquired >=
  // contended however the two are read.
  std::atomic<uint64_t> uncontended_{0};
  std::atomic<uint64_t> contended_{0};
  std::atomic<uint64_t> wait_total_ns_{0};
  // Extremes since the reset number `extremes_since_`; of no meaning once another reset came.
  std::atomic<uint64_t> wait_max_ns_{0};
  std::atomic<uint64_t> wait_min_ns_{UINT64_MAX};
  std::atomic<uint64_t> extremes_since_{0};

  // The rest is guarded by the registry's mutex. A reset does not write the counters (their holder
  // does), it notes where they stood.
  uint64_t base_uncontended_ = 0;
  uint64_t base_contended_ = 0;
  uint64_t base_wait_total_ns_ = 0;
  CountedMutex* previous_ = nullptr;
  CountedMutex* next_ = nullptr;
  LockRow* row_ = nullptr;
};

class ABSL_SCOPED_LOCKABLE CountedLock {
 public:
  explicit CountedLock(CountedMutex* mu) ABSL_EXCLUSIVE_LOCK_FUNCTION(mu) : mu_(mu) { mu_->Lock(); }
  ~CountedLock() ABSL_UNLOCK_FUNCTION() { mu_->Unlock(); }
  CountedLock(const CountedLock&) = delete;
  CountedLock& operator=(const CountedLock&) = delete;

 private:
  CountedMutex* mu_;
};

// All rows, descending by wait_total_ns, then by name. Counts are each exact at some moment during
// the call.
std::vector<LockStat> LockStats();

// Sets all counters to 0. Acquisitions that run meanwhile count before or after.
void ResetLockStats();

}  // namespace tcact::lock

#endif  // TCACT_SERVER_CORE_LOCK_COUNTED_MUTEX_H_
