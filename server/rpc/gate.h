// Gate: where answers of one loop wait until what they tell is recorded.
//
// Invariants
//   - What is parked is told its outcome exactly once, on the loop's thread.
//   - The alarm is set only while something is parked, and what is parked is an open call: so no
//     alarm is set on a queue that was shut down.
//
// Thread safety: Park from any thread (a worker's answer belongs to a loop too).
#ifndef TCACT_SERVER_RPC_GATE_H_
#define TCACT_SERVER_RPC_GATE_H_

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/alarm.h"
#include "grpcpp/completion_queue.h"
#include "server/durable/journal.h"
#include "server/rpc/event.h"

namespace tcact::rpc {

// A call with an answer that waits.
class Parked {
 public:
  virtual void OnOutcome(bool recorded) = 0;

 protected:
  ~Parked() = default;
};

class Gate final : private durable::Journal::Listener, private Event {
 public:
  // Both must outlive it.
  Gate(durable::Journal* journal, grpc::CompletionQueue* queue);
  // REQUIRES: nothing is parked.
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  durable::Journal* journal() const { return journal_; }

  // REQUIRES: the call is open on the loop of this queue. It may be told before Park returns.
  void Park(Parked* call, uint64_t ticket);

 private:
  struct Entry {
    Parked* call;
    uint64_t ticket;
  };

  void OnProgress() override;
  void Run(bool ok) override;
  void SetAlarm() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  durable::Journal* const journal_;
  grpc::CompletionQueue* const queue_;
  absl::Mutex mutex_;
  std::vector<Entry> parked_ ABSL_GUARDED_BY(mutex_);
  bool alarm_set_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Alarm alarm_;
  // Of Run, kept for its memory.
  std::vector<Entry> told_;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_GATE_H_
