#include "client/lib/apply_stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/lib/status.h"

namespace tcact::client {
namespace {
constexpr int kMaxWindow = 1024;
}  // namespace

ApplyStream::ApplyStream(v1::ActionStore::StubInterface* stub, const ApplyOptions& options,
                         OnAnswer on_answer)
    : window_(std::clamp(options.window, 1, kMaxWindow)), on_answer_(std::move(on_answer)) {
  if (options.deadline != absl::InfiniteDuration()) {
    context_.set_deadline(absl::ToChronoTime(absl::Now() + options.deadline));
  }
  stream_ = stub->Apply(&context_);
  reader_ = std::thread([this] { ReadAnswers(); });
}

ApplyStream::~ApplyStream() {
  if (finished_) return;
  Cancel();
  Finish().IgnoreError();
}

// A thread of its own reads, always: were the answers read by Send's thread, a server that waits
// for its answers to be taken and a client that waits in Write could wait for each other.
void ApplyStream::ReadAnswers() {
  v1::ApplyResponse answer;
  while (stream_->Read(&answer)) {
    uint64_t expected = 0;
    bool known = false;
    {
      absl::MutexLock lock(&mu_);
      expected = answered_ + 1;
      known = answer.batch_id() == expected && expected <= sent_;
      if (!known && broken_.ok()) {
        broken_ = absl::InternalError(absl::StrCat("answer to batch ", answer.batch_id(),
                                                   " where batch ", expected, " was due"));
      }
    }
    if (!known) {
      context_.TryCancel();
      break;
    }
    on_answer_(answer);
    // Only now: the window counts batches whose answers were taken, and Finish waits for them.
    absl::MutexLock lock(&mu_);
    answered_ = expected;
    changed_.SignalAll();
  }
  absl::MutexLock lock(&mu_);
  reader_done_ = true;
  changed_.SignalAll();
}

absl::StatusOr<uint64_t> ApplyStream::Send(v1::ApplyRequest* request) {
  if (finished_) return absl::FailedPreconditionError("the stream is finished");
  uint64_t id = 0;
  {
    absl::MutexLock lock(&mu_);
    while (!reader_done_ && sent_ - answered_ >= static_cast<uint64_t>(window_))
      changed_.Wait(&mu_);
    if (reader_done_) return absl::UnavailableError("the server ended the stream");
    id = ++sent_;
  }
  request->set_batch_id(id);
  if (!stream_->Write(*request)) return absl::UnavailableError("the stream broke");
  return id;
}

absl::Status ApplyStream::Finish() {
  if (finished_) return result_;
  finished_ = true;
  stream_->WritesDone();
  reader_.join();
  absl::Status status = FromGrpc(stream_->Finish());
  absl::MutexLock lock(&mu_);
  if (!broken_.ok()) {
    result_ = broken_;
  } else if (status.ok() && answered_ != sent_) {
    result_ = absl::InternalError(
        absl::StrCat("the server ended the stream after ", answered_, " of ", sent_, " answers"));
  } else {
    result_ = std::move(status);
  }
  return result_;
}

void ApplyStream::Cancel() { context_.TryCancel(); }

int ApplyStream::in_flight() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int>(sent_ - answered_);
}

}  // namespace tcact::client
