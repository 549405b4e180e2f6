#include "server/rpc/apply_call.h"

#include "absl/time/clock.h"

namespace tcact::rpc {

void ApplyCall::Arm(Shared* shared, Loop* loop, v1::ActionStore::AsyncService* service) {
  auto* call = new ApplyCall(shared, loop, service);
  service->RequestApply(&call->server_context_, &call->stream_, loop->queue(), loop->queue(),
                        &call->started_);
}

ApplyCall::ApplyCall(Shared* shared, Loop* loop, v1::ActionStore::AsyncService* service)
    : shared_(shared), loop_(loop), service_(service), applier_(shared->context) {
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
    Answer& answer = answers_[(first_ + unsent_) % kApplyWindow];
    answer.response = answer.arena.Fresh<v1::ApplyResponse>();
    const Problem problem = applier_.Apply(request_, answer.response);
    if (problem.ok()) {
      ++unsent_;
      if (!applier_.stopped().ok()) End(ToStatus(applier_.stopped(), request_->netns()));
    } else {
      End(ToStatus(problem, request_->netns()));
    }
  }
  Advance();
}

void ApplyCall::OnWritten(bool ok) {
  writing_since_.reset();
  first_ = (first_ + 1) % kApplyWindow;
  --unsent_;
  if (!ok) {  // cancelled, past its deadline, or the connection is gone
    end_ = grpc::Status::CANCELLED;
    unsent_ = 0;
  }
  Advance();
}

void ApplyCall::Advance() {
  if (unsent_ > 0 && !writing_since_) {
    writing_since_ = absl::Now();
    stream_.Write(*answers_[first_].response, &written_);
  }
  if (end_) {
    if (unsent_ > 0 || finishing_) return;
    finishing_ = true;
    stream_.Finish(*end_, &finished_);
    return;
  }
  if (!reading_ && unsent_ < kApplyWindow) {
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
  if (!done_ || reading_) return;
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
