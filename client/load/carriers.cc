// The three ways a message travels: a unary call, a place in a bidirectional stream, a server
// stream.
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "client/lib/status.h"
#include "client/load/worker.h"
#include "grpcpp/client_context.h"
#include "grpcpp/generic/generic_stub.h"

namespace tcact::load {
namespace {

// One call at a time; reused for the next.
class UnaryCarrier : public Carrier, public Event {
 public:
  UnaryCarrier(Worker* worker, const std::shared_ptr<grpc::Channel>& channel,
               absl::Duration deadline)
      : worker_(worker), stub_(channel), deadline_(absl::ToChronoNanoseconds(deadline)) {}

  void Send(Place* place) override {
    place_ = place;
    call_.reset();  // lies in the memory of the context's call, so it goes first
    context_.emplace();
    context_->set_deadline(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(deadline_));
    request_.Clear();
    const std::string& method = place->slot->Next(0, &request_);
    call_ = stub_.PrepareUnaryCall(&*context_, method, request_, worker_->queue());
    call_->StartCall();
    worker_->Pend();
    call_->Finish(&reply_, &status_, tag());
  }

  void Done(bool /*ok*/) override {
    Place* place = std::exchange(place_, nullptr);
    if (!status_.ok()) return worker_->Fail(place, client::FromGrpc(status_), /*dead=*/false);
    Outcome outcome;
    place->slot->OnReply(&reply_, &outcome);
    reply_.Clear();
    worker_->Finish(place, outcome);
  }

  void Close() override {}
  void Cancel() override {
    if (place_ != nullptr) context_->TryCancel();
  }

 private:
  // The queue takes a void*, which must have been an Event*: the two bases lie apart.
  void* tag() { return static_cast<Event*>(this); }

  Worker* const worker_;
  grpc::GenericStub stub_;
  const std::chrono::nanoseconds deadline_;
  Place* place_ = nullptr;
  std::optional<grpc::ClientContext> context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;
  grpc::Status status_;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> call_;
};

// A server stream for each message; its parts are counted as they come.
class DumpCarrier : public Carrier, public Event {
 public:
  DumpCarrier(Worker* worker, const std::shared_ptr<grpc::Channel>& channel)
      : worker_(worker), stub_(channel) {}

  void Send(Place* place) override {
    place_ = place;
    call_.reset();  // lies in the memory of the context's call, so it goes first
    context_.emplace();
    request_.Clear();
    const std::string& method = place->slot->Next(0, &request_);
    call_ = stub_.PrepareCall(&*context_, method, worker_->queue());
    state_ = State::kStart;
    worker_->Pend();
    call_->StartCall(tag());
  }

  void Done(bool ok) override {
    if (state_ == State::kFinish) return End();
    if (!ok) return Step(State::kFinish);
    if (state_ == State::kStart) return Step(State::kSend);
    if (state_ == State::kRead) {
      Outcome outcome;
      place_->slot->OnReply(&part_, &outcome);
      part_.Clear();
      worker_->Count(outcome);
    }
    Step(State::kRead);
  }

  void Close() override {}
  void Cancel() override {
    if (place_ != nullptr) context_->TryCancel();
  }

 private:
  // The queue takes a void*, which must have been an Event*: the two bases lie apart.
  void* tag() { return static_cast<Event*>(this); }

  enum class State : uint8_t { kStart, kSend, kRead, kFinish };

  void Step(State next) {
    state_ = next;
    worker_->Pend();
    if (next == State::kSend) {
      call_->WriteLast(request_, grpc::WriteOptions(), tag());
    } else if (next == State::kRead) {
      call_->Read(&part_, tag());
    } else {
      call_->Finish(&status_, tag());
    }
  }

  void End() {
    Place* place = std::exchange(place_, nullptr);
    if (!status_.ok()) return worker_->Fail(place, client::FromGrpc(status_), /*dead=*/false);
    worker_->Finish(place, Outcome{});
  }

  Worker* const worker_;
  grpc::GenericStub stub_;
  Place* place_ = nullptr;
  State state_ = State::kStart;
  std::optional<grpc::ClientContext> context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer part_;
  grpc::Status status_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

// One stream for all places of a lane: one write and one read are in the queue at a time, and
// answers belong to the places in the order of the writes.
class StreamCarrier : public Carrier {
 public:
  StreamCarrier(Worker* worker, const std::shared_ptr<grpc::Channel>& channel,
                const std::string& method)
      : worker_(worker), stub_(channel) {
    stream_ = stub_.PrepareCall(&context_, method, worker_->queue());
    worker_->Pend();
    stream_->StartCall(&start_);
  }

  void Send(Place* place) override {
    if (ended_) return worker_->Fail(place, Broken(), /*dead=*/true);
    ready_.push_back(place);
    Write();
  }

  void Close() override {
    closing_ = true;
    if (!started_ || writing_ || ended_) return;
    writing_ = true;
    worker_->Pend();
    stream_->WritesDone(&write_);
  }
  void Cancel() override { context_.TryCancel(); }

 private:
  // Tells which operation ended.
  class Member : public Event {
   public:
    Member(StreamCarrier* owner, void (StreamCarrier::*done)(bool)) : owner_(owner), done_(done) {}
    void Done(bool ok) override { (owner_->*done_)(ok); }

   private:
    StreamCarrier* const owner_;
    void (StreamCarrier::*const done_)(bool);
  };

  void Write() {
    if (!started_ || writing_ || finishing_ || ready_.empty()) return;
    Place* place = ready_.front();
    ready_.pop_front();
    sent_.push_back(place);
    request_.Clear();
    place->slot->Next(++last_id_, &request_);
    writing_ = true;
    worker_->Pend();
    stream_->Write(request_, &write_);
  }

  void Read() {
    worker_->Pend();
    stream_->Read(&reply_, &read_);
  }

  void End() {
    if (finishing_) return;
    finishing_ = true;
    worker_->Pend();
    stream_->Finish(&status_, &finish_);
  }

  void OnStart(bool ok) {
    started_ = ok;
    if (!ok) return End();
    Read();
    Write();
  }

  void OnWrite(bool ok) {
    writing_ = false;
    // A failed write makes the read fail too, and that ends the stream.
    if (ok) Write();
  }

  void OnRead(bool ok) {
    if (!ok) return End();
    if (sent_.empty()) {
      worker_->CountError(absl::InternalError("an answer that nobody waits for"));
      context_.TryCancel();
    } else {
      Place* place = sent_.front();
      sent_.pop_front();
      Outcome outcome;
      place->slot->OnReply(&reply_, &outcome);
      worker_->Finish(place, outcome);
    }
    reply_.Clear();
    Read();
  }

  void OnFinish(bool /*ok*/) {
    ended_ = true;
    const absl::Status why = Broken();
    for (std::deque<Place*>* queue : {&sent_, &ready_}) {
      for (Place* place : *queue) worker_->Fail(place, why, /*dead=*/true);
      queue->clear();
    }
    if (!closing_ && status_.ok()) worker_->CountError(why);
  }

  absl::Status Broken() const {
    if (!status_.ok()) return client::FromGrpc(status_);
    return absl::UnavailableError("the server ended the stream");
  }

  Worker* const worker_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  Member start_{this, &StreamCarrier::OnStart};
  Member write_{this, &StreamCarrier::OnWrite};
  Member read_{this, &StreamCarrier::OnRead};
  Member finish_{this, &StreamCarrier::OnFinish};
  bool started_ = false;
  bool writing_ = false;
  bool closing_ = false;
  bool finishing_ = false;
  bool ended_ = false;
  uint64_t last_id_ = 0;
  std::deque<Place*> ready_;  // wait to be written
  std::deque<Place*> sent_;   // wait for their answers
  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;
  grpc::Status status_;
};

}  // namespace

std::vector<std::unique_ptr<Carrier>> MakeCarriers(const EnginePlan& plan, Worker* worker,
                                                   const std::shared_ptr<grpc::Channel>& channel,
                                                   size_t places) {
  std::vector<std::unique_ptr<Carrier>> carriers;
  if (plan.transport == Transport::kStream) {
    carriers.push_back(std::make_unique<StreamCarrier>(worker, channel, plan.stream_method));
    return carriers;
  }
  for (size_t i = 0; i < places; ++i) {
    if (plan.transport == Transport::kUnary) {
      carriers.push_back(std::make_unique<UnaryCarrier>(worker, channel, plan.drain));
    } else {
      carriers.push_back(std::make_unique<DumpCarrier>(worker, channel));
    }
  }
  return carriers;
}

}  // namespace tcact::load
