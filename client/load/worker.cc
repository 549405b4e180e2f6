#include "client/load/worker.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>

#include "client/lib/status.h"
#include "client/load/clock.h"

namespace tcact::load {
namespace {

constexpr int64_t kSecond = 1000000000;
constexpr int64_t kMillisecond = 1000000;
// A server that answers errors at once is not to be flooded with them.
constexpr int64_t kRestNs = 10 * kMillisecond;
// Closed loop: how long to wait at most for events before looking at the clock.
constexpr int64_t kIdleNs = 20 * kMillisecond;
// gRPC's timers are exact to a millisecond or so. Nearer arrivals are waited for in naps.
constexpr int64_t kTimerSlackNs = 2 * kMillisecond;
constexpr int64_t kNapNs = 50000;

std::chrono::system_clock::time_point After(int64_t ns) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(
             std::chrono::nanoseconds(ns));
}

}  // namespace

Worker::Worker(const EnginePlan& plan, const Timeline& timeline, std::vector<Lane> lanes,
               double messages_per_second, uint64_t seed)
    : timeline_(timeline), lanes_(std::move(lanes)), messages_per_second_(messages_per_second) {
  const int64_t measured = timeline_.end_ns - timeline_.measure_ns;
  tally_.seconds.resize(static_cast<size_t>((measured + kSecond - 1) / kSecond));
  if (messages_per_second_ > 0) arrivals_.emplace(messages_per_second_, seed, timeline_.start_ns);
  for (Lane& lane : lanes_) {
    auto carriers = MakeCarriers(plan, this, lane.channel, lane.slots.size());
    for (size_t i = 0; i < lane.slots.size(); ++i) {
      auto place = std::make_unique<Place>();
      place->slot = lane.slots[i].get();
      place->carrier = carriers[carriers.size() == 1 ? 0 : i].get();
      free_.push_back(place.get());
      places_.push_back(std::move(place));
    }
    for (auto& carrier : carriers) carriers_.push_back(std::move(carrier));
  }
}

Worker::~Worker() = default;

void Worker::Run() {
  int64_t now = NowNs();
  while (!Over(now)) {
    if (now >= timeline_.abort_ns) {
      GiveUp();
      break;
    }
    Pump(now);
    Wait(now);
    now = NowNs();
  }
  DrainQueue();
  done_.store(true, std::memory_order_release);
}

// Starts what may start now.
void Worker::Pump(int64_t now) {
  for (size_t i = 0; i < free_.size();) {
    Place* place = free_[i];
    if (place->rest_until_ns > now) {
      ++i;
      continue;
    }
    int64_t due = now;
    if (arrivals_ && arrivals_->next_ns() < timeline_.end_ns) {
      if (arrivals_->next_ns() > now) break;
      due = arrivals_->next_ns();
      arrivals_->Advance();
    } else if (now >= timeline_.end_ns && place->slot->clean()) {
      ++i;
      continue;
    } else if (arrivals_ && now < timeline_.end_ns) {
      break;
    }
    free_[i] = free_.back();
    free_.pop_back();
    Begin(place, due);
  }
}

void Worker::Begin(Place* place, int64_t due_ns) {
  place->due_ns = due_ns;
  ++under_way_;
  place->carrier->Send(place);
}

// Whether all is done: the time is up, nothing is under way, nothing that was due is unsent, and no
// slot wants to go on.
bool Worker::Over(int64_t now) const {
  if (std::all_of(places_.begin(), places_.end(), [](const auto& p) { return p->dead; })) {
    return true;
  }
  if (now < timeline_.end_ns || under_way_ > 0) return false;
  if (arrivals_ && arrivals_->next_ns() < timeline_.end_ns) return false;
  return std::all_of(free_.begin(), free_.end(), [](Place* p) { return p->slot->clean(); });
}

bool Worker::Dispatch(std::chrono::system_clock::time_point deadline) {
  void* tag = nullptr;
  bool ok = false;
  if (queue_.AsyncNext(&tag, &ok, deadline) != grpc::CompletionQueue::GOT_EVENT) return false;
  --pending_;
  static_cast<Event*>(tag)->Done(ok);
  return true;
}

// Handles one event, or waits until one comes or something may be due.
void Worker::Wait(int64_t now) {
  if (!arrivals_ || arrivals_->next_ns() >= timeline_.end_ns) {
    Dispatch(After(kIdleNs));
    return;
  }
  const int64_t gap = arrivals_->next_ns() - now;
  if (gap > kTimerSlackNs) {
    Dispatch(After(std::min(kIdleNs, gap - kTimerSlackNs / 2)));
    return;
  }
  if (Dispatch(std::chrono::system_clock::time_point())) return;
  // Also where messages are overdue: all slots are busy then, and only an event can free one.
  timespec nap{0, std::clamp<int64_t>(gap, 1000, kNapNs)};
  nanosleep(&nap, nullptr);
}

void Worker::GiveUp() {
  aborting_ = true;
  tally_.unfinished = static_cast<uint64_t>(under_way_);
  if (arrivals_ && arrivals_->next_ns() < timeline_.end_ns) {
    tally_.never_sent = static_cast<uint64_t>(std::llround(
        static_cast<double>(timeline_.end_ns - arrivals_->next_ns()) * messages_per_second_ / 1e9));
  }
  for (auto& carrier : carriers_) carrier->Cancel();
}

void Worker::DrainQueue() {
  for (auto& carrier : carriers_) carrier->Close();
  int idle = 0;
  // Bounded: a cancelled call ends at once; a server that does not end a closed stream is
  // cancelled.
  while (pending_ > 0 && idle < 500) {
    if (Dispatch(After(kIdleNs))) continue;
    if (++idle == 50) {
      for (auto& carrier : carriers_) carrier->Cancel();
    }
  }
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

Second* Worker::CurrentSecond(int64_t now) {
  if (now < timeline_.measure_ns || now >= timeline_.end_ns) return nullptr;
  return &tally_.seconds[static_cast<size_t>((now - timeline_.measure_ns) / kSecond)];
}

void Worker::CountError(const absl::Status& status) {
  ErrorCount& count = tally_.errors[{status.code(), client::Reason(status)}];
  if (count.count++ == 0) count.example = std::string(status.message());
  live_.errors.fetch_add(1, std::memory_order_relaxed);
}

void Worker::Count(const Outcome& outcome) {
  for (const absl::Status& error : outcome.errors) CountError(error);
  live_.operations.fetch_add(outcome.operations, std::memory_order_relaxed);
  if (Second* second = CurrentSecond(NowNs())) {
    second->operations += outcome.operations;
    second->errors += outcome.errors.size();
  }
}

void Worker::Finish(Place* place, const Outcome& outcome) {
  Count(outcome);
  const int64_t now = NowNs();
  const auto latency = static_cast<uint64_t>(std::max<int64_t>(now - place->due_ns, 0));
  if (place->due_ns >= timeline_.measure_ns && place->due_ns < timeline_.end_ns) {
    tally_.latency_ns.Record(latency);
  }
  if (Second* second = CurrentSecond(now)) {
    ++second->messages;
    second->max_latency_ns = std::max(second->max_latency_ns, latency);
  }
  Release(place, !outcome.errors.empty(), now);
}

void Worker::Fail(Place* place, const absl::Status& status, bool dead) {
  // What GiveUp cancelled is counted as unfinished, not as the server's error.
  if (!aborting_) {
    CountError(status);
    if (Second* second = CurrentSecond(NowNs())) ++second->errors;
  }
  place->slot->OnFailure();
  place->dead = dead;
  Release(place, true, NowNs());
}

void Worker::Release(Place* place, bool failed, int64_t now) {
  --under_way_;
  place->rest_until_ns = failed ? now + kRestNs : 0;
  if (!place->dead) free_.push_back(place);
}

}  // namespace tcact::load
