#include "client/cli/pipeline.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/kernel_text.h"
#include "client/lib/status.h"

namespace tcact::cli {
namespace {

// A message is sent when it has so many actions or bytes; the server takes 4096 and 16 MiB.
constexpr size_t kMessageEntries = 512;
constexpr size_t kMessageBytes = size_t{256} << 10;

size_t EntriesOf(const v1::Operation& operation) {
  return operation.has_create_all() ? 1 + static_cast<size_t>(operation.create_all().actions_size())
                                    : 1;
}

}  // namespace

bool Pipeline::Add(Change change, size_t line) {
  entries_ += EntriesOf(change.operation);
  bytes_ += change.operation.ByteSizeLong();
  request_.add_ops()->Swap(&change.operation);
  origins_.push_back({line, change.request});
  return (entries_ < kMessageEntries && bytes_ < kMessageBytes) || Send();
}

bool Pipeline::Drain() { return (origins_.empty() || Send()) && Finish(); }

bool Pipeline::Send() {
  // The deadline of a stream is that of a call; so that it measures the server and not the length
  // of the file, a stream is given up for a new one long before.
  const absl::Duration deadline = session_->settings().deadline;
  if (stream_ != nullptr && absl::Now() - opened_ > deadline / 2 && !Finish()) return false;
  if (stream_ == nullptr && !Open()) return false;
  request_.set_netns(session_->netns());
  request_.set_stop_on_error(!session_->settings().force);
  {
    absl::MutexLock lock(&mu_);
    under_way_.push_back(std::move(origins_));
  }
  const bool sent = stream_->Send(&request_).ok();
  request_.Clear();
  origins_.clear();
  entries_ = 0;
  bytes_ = 0;
  return sent ? PrintFailures() : Finish();
}

bool Pipeline::Open() {
  absl::StatusOr<client::Client*> client = session_->client();
  if (!client.ok()) {
    session_->Err(absl::StrCat("Error: ", client.status().message()));
    session_->Err(absl::StrCat("Command failed ", name_, ":", origins_.front().line));
    failed_ = true;
    return false;
  }
  client::ApplyOptions options;
  options.deadline = session_->settings().deadline;
  opened_ = absl::Now();
  stream_ =
      (*client)->Apply(options, [this](const v1::ApplyResponse& answer) { OnAnswer(answer); });
  return true;
}

bool Pipeline::Finish() {
  if (stream_ == nullptr) return true;
  const absl::Status status = stream_->Finish();
  stream_.reset();
  // If a line failed and the server stopped there, the stream's own end has nothing to add.
  if (!PrintFailures()) return false;
  return status.ok() || Broken(status);
}

bool Pipeline::Broken(const absl::Status& status) {
  size_t first = 0;
  size_t last = 0;
  {
    absl::MutexLock lock(&mu_);
    if (!under_way_.empty()) {
      first = under_way_.front().front().line;
      last = under_way_.back().back().line;
    }
    under_way_.clear();
  }
  failed_ = true;
  if (!session_->ExplainUnreachable(status)) {
    session_->Err(absl::StrCat("Error: ", status.message()));
  }
  if (last > first) {
    session_->Err(absl::StrCat("Of the lines ", first, " to ", last,
                               " it is unknown which were done; none behind them was."));
  }
  session_->Err(absl::StrCat("Command failed ", name_, ":", first));
  return false;
}

bool Pipeline::PrintFailures() {
  std::vector<Failure> failures;
  {
    absl::MutexLock lock(&mu_);
    failures.swap(failures_);
  }
  for (const Failure& failure : failures) PrintFailure(failure);
  return failures.empty() || session_->settings().force;
}

void Pipeline::PrintFailure(const Failure& failure) {
  failed_ = true;
  session_->Err(KernelText(failure.origin.request, failure.status));
  session_->Err(kTalkFailed);
  session_->Err(absl::StrCat("Command failed ", name_, ":", failure.origin.line));
}

void Pipeline::OnAnswer(const v1::ApplyResponse& answer) {
  absl::MutexLock lock(&mu_);
  const Origins origins = std::move(under_way_.front());
  under_way_.pop_front();
  for (const v1::OperationError& error : answer.errors()) {
    if (error.position() >= origins.size()) continue;
    failures_.push_back({origins[error.position()], client::FromOperationError(error)});
  }
}

}  // namespace tcact::cli
