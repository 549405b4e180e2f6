// Worker: one thread of the engine, with a completion queue of its own. Internal to the engine.
//
// Thread safety: everything belongs to the worker's thread, save `live()` and `done()`.
#ifndef TCACT_CLIENT_LOAD_WORKER_H_
#define TCACT_CLIENT_LOAD_WORKER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/load/arrivals.h"
#include "client/load/engine.h"
#include "grpcpp/completion_queue.h"

namespace tcact::load {

// The moments of a run, in NowNs's time (clock.h).
struct Timeline {
  int64_t start_ns = 0;
  int64_t measure_ns = 0;
  int64_t end_ns = 0;
  int64_t abort_ns = 0;  // the end of the drain
};

class Worker;
class Carrier;

// A slot and where its message travels.
struct Place {
  Slot* slot = nullptr;
  Carrier* carrier = nullptr;
  int64_t due_ns = 0;         // of the message under way
  int64_t rest_until_ns = 0;  // after an error
  bool dead = false;          // its stream broke
};

// What completion-queue tags point to.
class Event {
 public:
  virtual ~Event() = default;
  virtual void Done(bool ok) = 0;
};

// Carries messages of one or more places over gRPC. Reports to its worker.
class Carrier {
 public:
  virtual ~Carrier() = default;
  virtual void Send(Place* place) = 0;
  // No message is under way: end what is open.
  virtual void Close() = 0;
  virtual void Cancel() = 0;
};

class Worker {
 public:
  Worker(const EnginePlan& plan, const Timeline& timeline, std::vector<Lane> lanes,
         double messages_per_second, uint64_t seed);
  ~Worker();

  // The thread's whole life.
  void Run();

  const LiveCounters& live() const { return live_; }
  bool done() const { return done_.load(std::memory_order_acquire); }
  const Tally& tally() const { return tally_; }

  // --- for carriers ---

  grpc::CompletionQueue* queue() { return &queue_; }
  // Counts an operation that was given to the queue; its event ends it.
  void Pend() { ++pending_; }
  // Operations and errors of a part of a message that goes on.
  void Count(const Outcome& outcome);
  // The message is over. An outcome with errors makes the place rest a moment.
  void Finish(Place* place, const Outcome& outcome);
  // The message failed as a whole. `dead`: no further one is possible.
  void Fail(Place* place, const absl::Status& status, bool dead);
  // An error that belongs to no message.
  void CountError(const absl::Status& status);

 private:
  void Pump(int64_t now);
  void Begin(Place* place, int64_t due_ns);
  void Wait(int64_t now);
  bool Over(int64_t now) const;
  void GiveUp();
  void DrainQueue();
  void Release(Place* place, bool failed, int64_t now);
  bool Dispatch(std::chrono::system_clock::time_point deadline);
  Second* CurrentSecond(int64_t now);

  const Timeline timeline_;
  grpc::CompletionQueue queue_;
  std::vector<Lane> lanes_;
  std::vector<std::unique_ptr<Place>> places_;
  std::vector<std::unique_ptr<Carrier>> carriers_;
  std::vector<Place*> free_;
  std::optional<Arrivals> arrivals_;  // open loop only
  const double messages_per_second_;
  int64_t pending_ = 0;
  int64_t under_way_ = 0;
  bool aborting_ = false;
  Tally tally_;
  LiveCounters live_;
  std::atomic<bool> done_{false};
};

// The carriers of a lane, one for each place or one for all.
std::vector<std::unique_ptr<Carrier>> MakeCarriers(const EnginePlan& plan, Worker* worker,
                                                   const std::shared_ptr<grpc::Channel>& channel,
                                                   size_t places);

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_WORKER_H_
