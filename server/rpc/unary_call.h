// UnaryCall: one unary RPC on a loop, from waiting for a request to the reply being sent; then it
// waits for the next.
//
// A method keeps some calls armed (waiting). Under load there are as many call objects as RPCs in
// flight, and up to kKeptCalls of them are used again and again: an RPC then allocates nothing
// here.
//
// With a journal, an answer that tells of changes not yet recorded is parked in the loop's gate.
#ifndef TCACT_SERVER_RPC_UNARY_CALL_H_
#define TCACT_SERVER_RPC_UNARY_CALL_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "google/protobuf/arena.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_unary_call.h"
#include "server/rpc/loop.h"
#include "server/rpc/shared.h"
#include "server/rpc/status.h"

namespace tcact::rpc {

// Where a handler runs.
template <typename Request>
using OnWorker = bool (*)(const Request& request);

// One method on one loop. Lives as long as the loop. Everything on the loop's thread, but Answer on
// the worker.
template <typename Service, typename Request, typename Response>
class UnaryMethod {
 public:
  using RequestFn = void (Service::*)(grpc::ServerContext*, Request*,
                                      grpc::ServerAsyncResponseWriter<Response>*,
                                      grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*);
  using Handler = grpc::Status (*)(const Context&, Request*, Response*);

  // `on_worker` may be null: never. `gate` may be null: answers wait for no journal.
  UnaryMethod(Shared* shared, Loop* loop, Service* service, RequestFn request_fn, Handler handler,
              OnWorker<Request> on_worker, Gate* gate)
      : shared_(shared),
        loop_(loop),
        service_(service),
        request_fn_(request_fn),
        handler_(handler),
        on_worker_(on_worker),
        gate_(gate) {}

  // Begins to take requests.
  void Open() {
    while (armed_ < kMinArmed) (new Call(this))->Arm();
  }

 private:
  static constexpr int kMinArmed = 4;
  static constexpr int kKeptCalls = 128;
  // Replies below this size are not worth counting.
  static constexpr size_t kCountedReplyBytes = 16384;

  class Call final : public Event, public Parked {
   public:
    explicit Call(UnaryMethod* method) : method_(method) { method_->loop_->OpenCall(); }

    void Arm() {
      ++method_->armed_;
      answering_ = false;
      arena_.Reset();
      request_ = google::protobuf::Arena::CreateMessage<Request>(&arena_);
      writer_.reset();
      server_context_.emplace();
      writer_.emplace(&*server_context_);
      Loop* loop = method_->loop_;
      (method_->service_->*method_->request_fn_)(&*server_context_, request_, &*writer_,
                                                 loop->queue(), loop->queue(), this);
    }

    void Run(bool ok) override {
      if (answering_) return Sent();
      --method_->armed_;
      if (!ok) return Close();  // the server is shutting down
      method_->loop_->CountCall();
      method_->Open();
      answering_ = true;
      Begin();
    }

   private:
    void Begin() {
      Shared* shared = method_->shared_;
      if (shared->unsent_bytes.load(std::memory_order_relaxed) > kMaxUnsentBytes) {
        return Refuse("too many replies wait for slow readers; retry later");
      }
      if (method_->on_worker_ == nullptr || !method_->on_worker_(*request_)) return Answer();
      if (!shared->worker.Post([this] { Answer(); })) {
        Refuse("too many long calls wait; retry later");
      }
    }

    // On the loop's thread or the worker's. gRPC may run the next event at once: nothing is touched
    // after Finish.
    void Answer() {
      response_ = google::protobuf::Arena::CreateMessage<Response>(&arena_);
      Gate* const gate = method_->gate_;
      const bool failed_before = gate != nullptr && gate->journal()->failed();
      const grpc::Status status = method_->handler_(method_->shared_->context, request_, response_);
      if (gate == nullptr) return Send(status);
      const uint64_t ticket = gate->journal()->TicketOfAnswer(failed_before);
      if (gate->journal()->OutcomeOf(ticket) == durable::Outcome::kRecorded) return Send(status);
      parked_status_ = status;
      gate->Park(this, ticket);
    }

    void OnOutcome(bool recorded) override {
      const grpc::Status status =
          recorded ? std::move(parked_status_) : ToStatus(NotRecorded(), "");
      parked_status_ = grpc::Status::OK;
      Send(status);
    }

    void Send(const grpc::Status& status) {
      if (!status.ok()) return writer_->FinishWithError(status, this);
      const size_t bytes = response_->ByteSizeLong();
      if (bytes >= kCountedReplyBytes) {
        unsent_ = bytes;
        method_->shared_->unsent_bytes.fetch_add(bytes, std::memory_order_relaxed);
      }
      writer_->Finish(*response_, status, this);
    }

    void Refuse(absl::string_view text) {
      writer_->FinishWithError(ToStatus(QuotaExceeded(text), ""), this);
    }

    void Sent() {
      if (unsent_ != 0)
        method_->shared_->unsent_bytes.fetch_sub(unsent_, std::memory_order_relaxed);
      unsent_ = 0;
      if (method_->armed_ < kKeptCalls && !method_->loop_->draining()) return Arm();
      Close();
    }

    void Close() {
      Loop* loop = method_->loop_;
      delete this;
      loop->CloseCall();
    }

    UnaryMethod* const method_;
    bool answering_ = false;
    size_t unsent_ = 0;
    Request* request_ = nullptr;
    Response* response_ = nullptr;
    grpc::Status parked_status_;
    std::optional<grpc::ServerContext> server_context_;
    std::optional<grpc::ServerAsyncResponseWriter<Response>> writer_;
    alignas(8) char first_block_[2048];
    google::protobuf::Arena arena_{first_block_, sizeof(first_block_)};
  };

  Shared* const shared_;
  Loop* const loop_;
  Service* const service_;
  const RequestFn request_fn_;
  const Handler handler_;
  const OnWorker<Request> on_worker_;
  Gate* const gate_;
  int armed_ = 0;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_UNARY_CALL_H_
