// Loop: one completion queue and the one thread that serves it. Everything of a call that arrived
// on a loop happens on that loop's thread (save what a handler does on the worker), so calls need
// no locks.
//
// Invariants
//   - An Event given to gRPC as a tag is run exactly once for it, on the loop's thread, and lives
//     until then.
//   - Open calls are counted; the queue is shut down only when none is left, so no operation is
//     begun on a dead queue.
//   - A stream is in its loop's list from its start to its end: so a drain and the sweep for
//     stalled readers reach all.
//
// Thread safety: Start, Drain, Stop and calls() from any thread; the rest on the loop's thread, or
// before Start.
#ifndef TCACT_SERVER_RPC_LOOP_H_
#define TCACT_SERVER_RPC_LOOP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "absl/time/time.h"
#include "grpcpp/alarm.h"
#include "grpcpp/completion_queue.h"
#include "server/rpc/event.h"
#include "server/rpc/gate.h"

namespace tcact::rpc {

// A call that lasts: it is told when the server drains, and is looked at each second.
class Stream {
 public:
  // End with UNAVAILABLE as soon as what is done is sent.
  virtual void Drain() = 0;
  // Once a second. Cancel if a write has waited since before `stalled_since`.
  virtual void Tick(absl::Time stalled_since) = 0;

 protected:
  ~Stream() = default;

 private:
  friend class Loop;
  Stream* next_ = nullptr;
  Stream* previous_ = nullptr;
};

class Loop {
 public:
  explicit Loop(std::unique_ptr<grpc::ServerCompletionQueue> queue);
  // REQUIRES: Stop, if Start was called.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // REQUIRES: the server runs. A stream that stalls longer than `stall` is cancelled.
  void Start(absl::Duration stall);
  // Tells all streams, and those to come, to end.
  void Drain();
  // Waits for the open calls to end and ends the thread. REQUIRES: the server was shut down.
  void Stop();

  grpc::ServerCompletionQueue* queue() { return queue_.get(); }
  // Answers wait for this journal from now on. REQUIRES: before Start, once.
  void HeedJournal(durable::Journal* journal);
  // Null without a journal.
  Gate* gate() const { return gate_.get(); }
  bool draining() const { return draining_; }

  // A call is open from before its tag is given to gRPC to its last event.
  void OpenCall() { ++open_calls_; }
  void CloseCall();
  // Counts an RPC that arrived.
  void CountCall() {
    calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }

  void AddStream(Stream* stream);
  void RemoveStream(Stream* stream);

 private:
  void Serve();
  void OnDrain(bool ok);
  void OnStop(bool ok);
  void OnTick(bool ok);
  void SetTick();
  void ShutdownIfIdle();
  template <typename Visit>
  void ForEachStream(Visit visit);

  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<Gate> gate_;
  std::thread thread_;
  absl::Duration stall_ = absl::InfiniteDuration();
  Stream* streams_ = nullptr;
  int64_t open_calls_ = 0;
  std::atomic<uint64_t> calls_{0};
  bool draining_ = false;
  bool stopping_ = false;
  bool ticking_ = false;
  bool shut_down_ = false;

  grpc::Alarm tick_alarm_;
  grpc::Alarm drain_alarm_;
  grpc::Alarm stop_alarm_;
  MethodEvent<Loop, &Loop::OnTick> tick_event_{this};
  MethodEvent<Loop, &Loop::OnDrain> drain_event_{this};
  MethodEvent<Loop, &Loop::OnStop> stop_event_{this};
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_LOOP_H_
