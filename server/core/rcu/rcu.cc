#include "server/core/rcu/rcu.h"

#include <pthread.h>
#include <urcu/urcu-memb.h>

#include <new>

#include "absl/base/internal/raw_logging.h"

#ifdef _LGPL_SOURCE
#error "liburcu's inlined read side is LGPL code: it must not be compiled in"
#endif

#ifdef ABSL_HAVE_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace tcact::rcu {
namespace {

#ifdef ABSL_HAVE_THREAD_SANITIZER
void TsanAcquire(void* address) { __tsan_acquire(address); }
void TsanRelease(void* address) { __tsan_release(address); }
#else
void TsanAcquire(void*) {}
void TsanRelease(void*) {}
#endif

// Addresses that stand for edges. Ends of read sections happen before what follows a grace period;
// ends of deferred work happen before the return of the Barrier that waited for it.
char reads_ended;
char deferred_work_ended;

// One piece of deferred work.
struct Deferred {
  rcu_head head;
  void (*fn)(void*);
  void* arg;
};

// Leaves liburcu when the thread ends. A pthread key, not a thread_local with a destructor: keys
// are destroyed after all thread_locals, and again when one of those set the key once more, so a
// guard in another destructor works.
pthread_key_t LeaveKey() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    const int rc = pthread_key_create(&made, [](void*) {
      internal::registered = false;
      urcu_memb_unregister_thread();
    });
    if (rc != 0) ABSL_RAW_LOG(FATAL, "rcu: pthread_key_create failed with %d", rc);
    return made;
  }();
  return key;
}

void RunDeferred(rcu_head* head) {
  // liburcu's worker thread has registered itself.
  internal::registered = true;
  auto* work = reinterpret_cast<Deferred*>(head);
  TsanAcquire(work);
  TsanAcquire(&reads_ended);
  work->fn(work->arg);
  delete work;
  TsanRelease(&deferred_work_ended);
}
static_assert(offsetof(Deferred, head) == 0);

}  // namespace

namespace internal {

constinit thread_local bool registered = false;

void RegisterThread() {
  urcu_memb_register_thread();
  registered = true;
  const int rc = pthread_setspecific(LeaveKey(), &registered);
  if (rc != 0) ABSL_RAW_LOG(FATAL, "rcu: pthread_setspecific failed with %d", rc);
}

#ifdef ABSL_HAVE_THREAD_SANITIZER
void TellTsanReadEnd() { TsanRelease(&reads_ended); }
#endif

}  // namespace internal

void Prepare() { urcu_memb_get_default_call_rcu_data(); }

void Defer(void (*fn)(void* arg), void* arg) {
  // call_rcu opens a read section of its own, so its caller must be registered.
  if (!internal::registered) internal::RegisterThread();
  auto* work = new (std::nothrow) Deferred{{}, fn, arg};
  if (work == nullptr) ABSL_RAW_LOG(FATAL, "rcu: no memory to defer work");
  TsanRelease(work);
  urcu_memb_call_rcu(&work->head, &RunDeferred);
}

void Synchronize() {
  ABSL_RAW_CHECK(!urcu_memb_read_ongoing(), "rcu: Synchronize inside a ReadGuard");
  urcu_memb_synchronize_rcu();
  TsanAcquire(&reads_ended);
}

void Barrier() {
  ABSL_RAW_CHECK(!urcu_memb_read_ongoing(), "rcu: Barrier inside a ReadGuard");
  urcu_memb_barrier();
  TsanAcquire(&deferred_work_ended);
}

}  // namespace tcact::rcu
