// Worker: a thread for handlers that take long or wait (flush, shrink, large columns), so that no
// loop does.
#ifndef TCACT_SERVER_RPC_WORKER_H_
#define TCACT_SERVER_RPC_WORKER_H_

#include <deque>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tcact::rpc {

// Thread safety: all methods, from any thread, but destruction.
class Worker {
 public:
  // Holds at most `max_queue` jobs that have not begun.
  explicit Worker(size_t max_queue);
  // Runs what is queued, then ends the thread.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // False, and `job` is not taken, if the queue is full. Jobs run one after the other, in order.
  bool Post(std::function<void()> job);

 private:
  void Work();

  const size_t max_queue_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::deque<std::function<void()>> jobs_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_WORKER_H_
