#include "server/rpc/health_calls.h"

#include "absl/time/clock.h"
#include "server/rpc/limits.h"
#include "server/rpc/status.h"

namespace tcact::rpc {

namespace health = grpc::health::v1;

namespace {

health::HealthCheckResponse::ServingStatus ToProto(obs::ServingStatus status) {
  switch (status) {
    case obs::ServingStatus::kServing:
      return health::HealthCheckResponse::SERVING;
    case obs::ServingStatus::kNotServing:
      return health::HealthCheckResponse::NOT_SERVING;
    case obs::ServingStatus::kUnknownService:
      return health::HealthCheckResponse::SERVICE_UNKNOWN;
  }
  return health::HealthCheckResponse::UNKNOWN;
}

}  // namespace

grpc::Status CheckHealth(const Context& context, health::HealthCheckRequest* request,
                         health::HealthCheckResponse* response) {
  const obs::ServingStatus status = context.health->StatusOf(request->service());
  if (status == obs::ServingStatus::kUnknownService) {
    return {grpc::StatusCode::NOT_FOUND,
            "service: unknown; tcact.v1.ActionStore, tcact.v1.Admin and \"\" (all) are known"};
  }
  response->set_status(ToProto(status));
  return grpc::Status::OK;
}

void WatchHealthCall::Arm(Shared* shared, Loop* loop, health::Health::AsyncService* service) {
  auto* call = new WatchHealthCall(shared, loop, service);
  call->server_context_.AsyncNotifyWhenDone(&call->done_event_);
  service->RequestWatch(&call->server_context_, &call->request_, &call->writer_, loop->queue(),
                        loop->queue(), &call->started_);
}

WatchHealthCall::WatchHealthCall(Shared* shared, Loop* loop, health::Health::AsyncService* service)
    : shared_(shared), loop_(loop), service_(service) {
  loop_->OpenCall();
}

void WatchHealthCall::OnStarted(bool ok) {
  if (!ok) {  // the server is shutting down; OnDone will not be called
    finished_sent_ = done_ = true;
    return DeleteIfOver();
  }
  Arm(shared_, loop_, service_);
  if (!seat_.Take(&shared_->health_watches, kMaxHealthWatches)) {
    return Finish(ToStatus(QuotaExceeded("too many health watches; retry later"), ""));
  }
  ending_ = loop_->draining();
  loop_->AddStream(this);
  listed_ = true;
  Advance();
}

void WatchHealthCall::Advance() {
  if (writing_since_ || finishing_) return;
  const obs::ServingStatus status = shared_->context.health->StatusOf(request_.service());
  if (status != told_) {
    told_ = status;
    response_.set_status(ToProto(status));
    writing_since_ = absl::Now();
    return writer_.Write(response_, &written_);
  }
  if (ending_) return Finish(GoingDown());
  if (done_) Finish(grpc::Status::CANCELLED);
}

void WatchHealthCall::OnWritten(bool ok) {
  writing_since_.reset();
  if (!ok) return Finish(grpc::Status::CANCELLED);
  Advance();
}

void WatchHealthCall::Finish(const grpc::Status& status) {
  finishing_ = true;
  writer_.Finish(status, &finished_);
}

void WatchHealthCall::OnFinished(bool) {
  finished_sent_ = true;
  DeleteIfOver();
}

void WatchHealthCall::OnDone(bool) {
  done_ = true;
  if (finished_sent_) return DeleteIfOver();
  Advance();
}

void WatchHealthCall::DeleteIfOver() {
  if (!finished_sent_ || !done_) return;
  if (listed_) loop_->RemoveStream(this);
  Loop* const loop = loop_;
  delete this;
  loop->CloseCall();
}

void WatchHealthCall::Drain() {
  ending_ = true;
  Advance();
}

void WatchHealthCall::Tick(absl::Time stalled_since) {
  if (writing_since_ && *writing_since_ < stalled_since) server_context_.TryCancel();
  Advance();
}

}  // namespace tcact::rpc
