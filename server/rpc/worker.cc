#include "server/rpc/worker.h"

#include <pthread.h>

#include <utility>

namespace tcact::rpc {

Worker::Worker(size_t max_queue) : max_queue_(max_queue), thread_([this] { Work(); }) {}

Worker::~Worker() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    changed_.Signal();
  }
  thread_.join();
}

bool Worker::Post(std::function<void()> job) {
  absl::MutexLock lock(&mutex_);
  if (jobs_.size() >= max_queue_) return false;
  jobs_.push_back(std::move(job));
  changed_.Signal();
  return true;
}

void Worker::Work() {
  pthread_setname_np(pthread_self(), "tcact-worker");
  for (;;) {
    std::function<void()> job;
    {
      absl::MutexLock lock(&mutex_);
      while (jobs_.empty() && !ending_) changed_.Wait(&mutex_);
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace tcact::rpc
