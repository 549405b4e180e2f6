// CountedMutex: a named mutex that counts what /proc/lock_stat counts.
//
// Invariants
//   - Every live mutex is in the process-wide registry, so LockStats() shows all of them; mutexes of one name (an
//     idr_lock for each table, say) are added up into one row, and a row outlives its mutexes: what a
//     destroyed mutex counted stays in its name's row.
//   - acquired >= contended; wait_* speak of contended acquisitions only.
//   - An uncontended acquisition reads no clock.
//
// Thread safety: everything here may be called from any thread. Locks of this class are leaf locks: while one is
// held no other CountedMutex is taken, except where the holder's header states an order.
#ifndef TCACT_SERVER_CORE_LOCK_COUNTED_MUTEX_H_
#define TCACT_SERVER_CORE_LOCK_COUNTED_MUTEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

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

class LockRow;  // the counters that mutexes of one name share; lives for ever

class ABSL_LOCKABLE CountedMutex {
 public:
  // `name` is the field's own word for the lock, such as "pcpu_alloc_mutex"; at most 63 bytes.
  explicit CountedMutex(absl::string_view name);
  ~CountedMutex();
  CountedMutex(const CountedMutex&) = delete;
  CountedMutex& operator=(const CountedMutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true);
  void Unlock() ABSL_UNLOCK_FUNCTION();

 private:
  absl::Mutex mu_;
  LockRow* row_;
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

// All rows, descending by wait_total_ns, then by name. Counts are each exact at some moment during the call.
std::vector<LockStat> LockStats();

// Sets all counters to 0. Acquisitions that run meanwhile count before or after.
void ResetLockStats();

}  // namespace tcact::lock

#endif  // TCACT_SERVER_CORE_LOCK_COUNTED_MUTEX_H_
