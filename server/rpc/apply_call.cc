#include "server/rpc/apply_call.h"

#include "absl/time/clock.h"

namespace tcact::rpc {

void ApplyCall::Arm(Shared* shared, Loop* loop, v1::ActionStore::AsyncService* service) {
  auto* call = new ApplyCall(shared, loop, service);
  service->RequestApply(&call->server_context_, &call->stream_, loop->queue(), loop->queue(),
                        &call->started_);
}

ApplyCall::ApplyCall(Shared* shared, Loop* loop, v1::ActionStore::AsyncService* service)
    : shared_(shared),
      loop_(loop),
      service_(service),
      applier_(shared->context),
      answers_(loop->gate() == nullptr ? kApplyWindow : kJournalWindow) {
  loop_->OpenCall();
}

void ApplyCall::OnStarted(bool ok) {
  if (!ok) {  // the server is shutting down
    done_ = true;
    return DeleteIfDone();
  }
  loop_->CountCall();
  Arm(shared_, loop_, service_);
  loop_->AddStream(this);
  listed_ = true;
  if (loop_->draining()) {
    End(GoingDown());
  } else if (!seat_.Take(&shared_->apply_streams, kMaxApplyStreams)) {
    End(ToStatus(QuotaExceeded("too many Apply streams at once; retry later"), ""));
  }
  Advance();
}

void ApplyCall::OnRead(bool ok) {
  reading_ = false;
  if (finishing_) return DeleteIfDone();
  if (!ok) {
    // The client has no more to say, or is gone; then the next write tells.
    End(grpc::Status::OK);
  } else if (!end_) {
    Apply();
  }
  Advance();
}

void ApplyCall::Apply() {
  Answer& answer = answers_[static_cast<size_t>(first_ + unsent_) % answers_.size()];
  answer.response = answer.arena.Fresh<v1::ApplyResponse>();
  Gate* const gate = loop_->gate();
  const bool failed_before = gate != nullptr && gate->journal()->failed();
  const Problem problem = applier_.Apply(request_, answer.response);
  if (!problem.ok()) return End(ToStatus(problem, request_->netns()));
  if (gate != nullptr) answer.ticket = gate->journal()->TicketOfAnswer(failed_before);
  ++unsent_;
  unsent_ops_ += answer.response->indexes_size();
  if (!applier_.stopped().ok()) End(ToStatus(applier_.stopped(), request_->netns()));
}

bool ApplyCall::MaySend() {
  Gate* const gate = loop_->gate();
  if (gate == nullptr) return true;
  if (parked_) return false;
  const uint64_t ticket = answers_[first_].ticket;
  switch (gate->journal()->OutcomeOf(ticket)) {
    case durable::Outcome::kRecorded:
      return true;
    case durable::Outcome::kWaiting:
      parked_ = true;
      gate->Park(this, ticket);
      return false;
    case durable::Outcome::kLost:
      end_ = ToStatus(NotRecorded(), "");
      unsent_ = 0;
      return false;
  }
  return false;
}

void ApplyCall::OnOutcome(bool) {
  parked_ = false;
  Advance();
}

bool ApplyCall::MayRead() const {
  return unsent_ < kApplyWindow ||
         (unsent_ < static_cast<int>(answers_.size()) && unsent_ops_ < kMaxUnrecordedOps);
}

void ApplyCall::OnWritten(bool ok) {
  writing_since_.reset();
  unsent_ops_ -= answers_[first_].response->indexes_size();
  first_ = (first_ + 1) % static_cast<int>(answers_.size());
  --unsent_;
  if (!ok) {  // cancelled, past its deadline, or the connection is gone
    end_ = grpc::Status::CANCELLED;
    unsent_ = 0;
  }
  Advance();
}

void ApplyCall::Advance() {
  if (unsent_ > 0 && !writing_since_ && MaySend()) {
    writing_since_ = absl::Now();
    stream_.Write(*answers_[first_].response, &written_);
  }
  if (end_) {
    if (unsent_ > 0 || finishing_) return;
    finishing_ = true;
    stream_.Finish(*end_, &finished_);
    return;
  }
  if (!reading_ && MayRead()) {
    reading_ = true;
    request_ = request_arena_.Fresh<v1::ApplyRequest>();
    stream_.Read(request_, &read_);
  }
}

void ApplyCall::End(const grpc::Status& status) {
  if (!end_) end_ = status;
}

void ApplyCall::OnFinished(bool) {
  done_ = true;
  DeleteIfDone();
}

void ApplyCall::DeleteIfDone() {
  if (!done_ || reading_ || parked_) return;
  if (listed_) loop_->RemoveStream(this);
  Loop* const loop = loop_;
  delete this;
  loop->CloseCall();
}

void ApplyCall::Drain() {
  End(GoingDown());
  Advance();
}

void ApplyCall::Tick(absl::Time stalled_since) {
  if (writing_since_ && *writing_since_ < stalled_since) server_context_.TryCancel();
}

}  // namespace tcact::rpc
