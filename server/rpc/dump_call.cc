#include "server/rpc/dump_call.h"

#include <chrono>

#include "absl/time/clock.h"
#include "server/rpc/limits.h"

namespace tcact::rpc {

void DumpCall::Arm(Shared* shared, Loop* loop, v1::ActionStore::AsyncService* service) {
  auto* call = new DumpCall(shared, loop, service);
  service->RequestDumpActions(&call->server_context_, &call->request_, &call->writer_,
                              loop->queue(), loop->queue(), &call->started_);
}

DumpCall::DumpCall(Shared* shared, Loop* loop, v1::ActionStore::AsyncService* service)
    : shared_(shared), loop_(loop), service_(service) {
  loop_->OpenCall();
}

void DumpCall::OnStarted(bool ok) {
  if (!ok) return OnFinished(false);  // the server is shutting down
  loop_->CountCall();
  Arm(shared_, loop_, service_);
  if (loop_->draining()) return Finish(GoingDown());
  if (const grpc::Status status = Begin(); !status.ok()) return Finish(status);
  loop_->AddStream(this);
  listed_ = true;
  failed_before_ = loop_->gate() != nullptr && loop_->gate()->journal()->failed();
  NextSlice();
}

grpc::Status DumpCall::Begin() {
  if (!seat_.Take(&shared_->dumps, kMaxDumps)) {
    return ToStatus(QuotaExceeded("too many dumps at once; retry later"), request_.netns());
  }
  return ToStatus(dump_.Begin(shared_->context, request_.netns(), request_.kind(), request_.view(),
                              request_.used_within_ms(), request_.poll_hw_stats(), 1),
                  request_.netns());
}

void DumpCall::NextSlice() {
  if (ending_) return Finish(GoingDown());
  if (dump_.done()) return FinishWhenRecorded();
  auto* response = arena_.Fresh<v1::DumpActionsResponse>();
  dump_.Slice(kDumpSlice, kDumpVisits, response->mutable_actions());
  if (response->actions().empty() && !dump_.done()) {
    // The filter left all out: others get their turn before we look further.
    turn_alarm_.Set(loop_->queue(), std::chrono::system_clock::now(), &turn_);
    return;
  }
  writing_since_ = absl::Now();
  if (dump_.done() && MayFinish()) {
    writer_.WriteAndFinish(*response, grpc::WriteOptions(), grpc::Status::OK, &finished_);
  } else {
    writer_.Write(*response, &written_);
  }
}

bool DumpCall::MayFinish() {
  Gate* const gate = loop_->gate();
  if (gate == nullptr) return true;
  ticket_ = gate->journal()->TicketOfAnswer(failed_before_);
  return gate->journal()->OutcomeOf(ticket_) == durable::Outcome::kRecorded;
}

void DumpCall::FinishWhenRecorded() {
  if (MayFinish()) return Finish(grpc::Status::OK);
  loop_->gate()->Park(this, ticket_);
}

void DumpCall::OnOutcome(bool recorded) {
  Finish(recorded ? grpc::Status::OK : ToStatus(NotRecorded(), request_.netns()));
}

void DumpCall::OnTurn(bool) { NextSlice(); }

void DumpCall::OnWritten(bool ok) {
  writing_since_.reset();
  // Cancelled, past its deadline, or the connection is gone.
  if (!ok) return Finish(grpc::Status::CANCELLED);
  NextSlice();
}

void DumpCall::Finish(const grpc::Status& status) { writer_.Finish(status, &finished_); }

void DumpCall::OnFinished(bool) {
  if (listed_) loop_->RemoveStream(this);
  Loop* const loop = loop_;
  delete this;
  loop->CloseCall();
}

void DumpCall::Drain() { ending_ = true; }

void DumpCall::Tick(absl::Time stalled_since) {
  if (writing_since_ && *writing_since_ < stalled_since) server_context_.TryCancel();
}

}  // namespace tcact::rpc
