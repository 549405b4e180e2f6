#include "client/cli/session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/pointer.h"
#include "client/lib/status.h"

namespace tcact::cli {

absl::StatusOr<client::Client*> Session::client() {
  if (client_ == nullptr) {
    client::Options options;
    options.channel.address = settings_.server;
    options.deadline = settings_.deadline;
    absl::StatusOr<std::unique_ptr<client::Client>> client = client::Client::Connect(options);
    if (!client.ok()) return client.status();
    client_ = *std::move(client);
  }
  return client_.get();
}

void Session::ErrText(absl::string_view text) {
  out_->flush();
  *err_ << text;
  err_->flush();
}

Outcome Session::Fail(const kinds::ParseError& error, const kinds::Words& words) {
  ErrText(error.text);
  ErrText(PointAtError(words, error, place_));
  Outcome outcome{.code = error.code};
  outcome.exit = error.then == kinds::ParseError::Then::kExit;
  return outcome;
}

bool Session::ExplainUnreachable(const absl::Status& status) {
  // With an ErrorInfo it is an answer.
  if (client::GetErrorInfo(status).has_value()) return false;
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      Err(absl::StrCat("Error: no answer from a server at ", settings_.server, " (",
                       status.message(), "). Is tcactd running? Set --server or TCACT_SERVER."));
      return true;
    case absl::StatusCode::kDeadlineExceeded:
      Err(absl::StrCat("Error: no answer from ", settings_.server, " within ",
                       absl::FormatDuration(settings_.deadline),
                       "; it may have done what was asked. Set --deadline."));
      return true;
    case absl::StatusCode::kUnimplemented:
      Err(absl::StrCat("Error: the server at ", settings_.server,
                       " does not know this call; it is older, or no tcactd."));
      return true;
    default:
      return false;
  }
}

Outcome Session::Explain(const absl::Status& status) {
  if (ExplainUnreachable(status)) return kUnreachable;
  Err(absl::StrCat("Error: ", status.message()));
  return kFailed;
}

}  // namespace tcact::cli
