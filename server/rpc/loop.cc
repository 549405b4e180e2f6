#include "server/rpc/loop.h"

#include <pthread.h>

#include <chrono>
#include <utility>

#include "absl/time/clock.h"
#include "server/core/base/check.h"

namespace tcact::rpc {
namespace {

constexpr std::chrono::seconds kTick(1);

}  // namespace

Loop::Loop(std::unique_ptr<grpc::ServerCompletionQueue> queue) : queue_(std::move(queue)) {}

Loop::~Loop() {
  TCACT_CHECK(!thread_.joinable(), "a loop is stopped before it is destroyed");
  // Never started: the queue must be emptied all the same.
  if (shut_down_) return;
  queue_->Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) static_cast<Event*>(tag)->Run(false);
}

void Loop::HeedJournal(durable::Journal* journal) {
  gate_ = std::make_unique<Gate>(journal, queue_.get());
}

void Loop::Start(absl::Duration stall) {
  stall_ = stall;
  SetTick();
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "tcact-loop");
    Serve();
  });
}

void Loop::Drain() {
  drain_alarm_.Set(queue_.get(), std::chrono::system_clock::now(), &drain_event_);
}

void Loop::Stop() {
  stop_alarm_.Set(queue_.get(), std::chrono::system_clock::now(), &stop_event_);
  thread_.join();
}

void Loop::Serve() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) static_cast<Event*>(tag)->Run(ok);
}

void Loop::CloseCall() {
  --open_calls_;
  TCACT_CHECK(open_calls_ >= 0, "a call is closed once");
  ShutdownIfIdle();
}

void Loop::AddStream(Stream* stream) {
  stream->previous_ = nullptr;
  stream->next_ = streams_;
  if (streams_ != nullptr) streams_->previous_ = stream;
  streams_ = stream;
}

void Loop::RemoveStream(Stream* stream) {
  if (stream->previous_ != nullptr) {
    stream->previous_->next_ = stream->next_;
  } else {
    streams_ = stream->next_;
  }
  if (stream->next_ != nullptr) stream->next_->previous_ = stream->previous_;
}

template <typename Visit>
void Loop::ForEachStream(Visit visit) {
  for (Stream* stream = streams_; stream != nullptr;) {
    Stream* const next = stream->next_;
    visit(stream);
    stream = next;
  }
}

void Loop::OnDrain(bool) {
  draining_ = true;
  ForEachStream([](Stream* stream) { stream->Drain(); });
}

void Loop::OnStop(bool) {
  stopping_ = true;
  tick_alarm_.Cancel();
  ShutdownIfIdle();
}

void Loop::SetTick() {
  ticking_ = true;
  tick_alarm_.Set(queue_.get(), std::chrono::system_clock::now() + kTick, &tick_event_);
}

void Loop::OnTick(bool) {
  ticking_ = false;
  if (stopping_) return ShutdownIfIdle();
  const absl::Time since = absl::Now() - stall_;
  ForEachStream([since](Stream* stream) { stream->Tick(since); });
  SetTick();
}

void Loop::ShutdownIfIdle() {
  if (!stopping_ || ticking_ || open_calls_ != 0 || shut_down_) return;
  shut_down_ = true;
  queue_->Shutdown();
}

}  // namespace tcact::rpc
