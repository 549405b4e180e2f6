// Linked with --config=tsan only. The system's abseil and gRPC carry no TSan instrumentation, so
// TSan does not see the happens-before edges that their locks and queues make and reports races
// that are none. The functions below stand in front of the libraries' own, call them, and tell TSan
// the edge: an acquire after a lock is taken, a release before it is given up. Names are the
// mangled ones of Debian 12's abseil (20220623) and gRPC (1.51); a name that a later version drops
// makes dlsym return null and the call crash, which is how an upgrade shows that this file wants a
// look.
#include <dlfcn.h>

#include <cstdint>

extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);

namespace {

enum class Edge { kNone, kAcquire, kRelease };

class ScopedEdges {
 public:
  ScopedEdges(void* lock, Edge before, Edge after) : lock_(lock), after_(after) { Tell(before); }
  ~ScopedEdges() { Tell(after_); }

 private:
  void Tell(Edge edge) {
    if (edge == Edge::kAcquire) __tsan_acquire(lock_);
    if (edge == Edge::kRelease) __tsan_release(lock_);
  }
  void* lock_;
  Edge after_;
};

template <typename Function>
Function Next(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol));
}

}  // namespace

#define TCACT_FORWARD(name, ret, symbol, params, args, before, after) \
  ret name params asm(symbol);                                        \
  __attribute__((visibility("default"))) ret name params {            \
    static const auto next = Next<ret(*) params>(symbol);             \
    ScopedEdges edges(self, before, after);                           \
    return next args;                                                 \
  }

#define TCACT_MUTEX "_ZN4absl7debian35Mutex"
#define TCACT_CONDITION "ERKNS0_9ConditionENS0_24synchronization_internal13KernelTimeoutE"
#define TCACT_CONDITION_P "EPKNS0_9ConditionENS0_24synchronization_internal13KernelTimeoutEi"

TCACT_FORWARD(MutexLock, void, TCACT_MUTEX "4LockEv", (void* self), (self), Edge::kNone,
              Edge::kAcquire)
TCACT_FORWARD(MutexUnlock, void, TCACT_MUTEX "6UnlockEv", (void* self), (self), Edge::kRelease,
              Edge::kNone)
TCACT_FORWARD(MutexTryLock, bool, TCACT_MUTEX "7TryLockEv", (void* self), (self), Edge::kNone,
              Edge::kAcquire)
TCACT_FORWARD(MutexReaderLock, void, TCACT_MUTEX "10ReaderLockEv", (void* self), (self),
              Edge::kNone, Edge::kAcquire)
TCACT_FORWARD(MutexReaderUnlock, void, TCACT_MUTEX "12ReaderUnlockEv", (void* self), (self),
              Edge::kRelease, Edge::kNone)
TCACT_FORWARD(MutexReaderTryLock, bool, TCACT_MUTEX "13ReaderTryLockEv", (void* self), (self),
              Edge::kNone, Edge::kAcquire)
TCACT_FORWARD(MutexAwait, bool, TCACT_MUTEX "11AwaitCommon" TCACT_CONDITION,
              (void* self, const void* condition, int64_t timeout), (self, condition, timeout),
              Edge::kRelease, Edge::kAcquire)
TCACT_FORWARD(MutexLockWhen, bool,
              TCACT_MUTEX "20LockSlowWithDeadlineEPKNS0_6MuHowS" TCACT_CONDITION_P,
              (void* self, const void* how, const void* condition, int64_t timeout, int flags),
              (self, how, condition, timeout, flags), Edge::kNone, Edge::kAcquire)

// A wait gives its mutex up and takes it again.
__attribute__((visibility("default"))) bool CondVarWait(void* cv, void* mutex, int64_t timeout) asm(
    "_ZN4absl7debian37CondVar10WaitCommonEPNS0_5MutexENS0_24synchronization_"
    "internal13KernelTimeoutE");
bool CondVarWait(void* cv, void* mutex, int64_t timeout) {
  static const auto next = Next<bool (*)(void*, void*, int64_t)>(
      "_ZN4absl7debian37CondVar10WaitCommonEPNS0_5MutexENS0_24synchronization_"
      "internal13KernelTimeoutE");
  ScopedEdges edges(mutex, Edge::kRelease, Edge::kAcquire);
  return next(cv, mutex, timeout);
}

#define TCACT_QUEUE "_ZN9grpc_core32MultiProducerSingleConsumerQueue"
TCACT_FORWARD(QueuePush, bool, TCACT_QUEUE "4PushEPNS0_4NodeE", (void* self, void* node),
              (self, node), Edge::kRelease, Edge::kNone)
TCACT_FORWARD(QueuePop, void*, TCACT_QUEUE "14PopAndCheckEndEPb", (void* self, bool* empty),
              (self, empty), Edge::kNone, Edge::kAcquire)
