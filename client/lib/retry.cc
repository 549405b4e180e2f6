#include "client/lib/retry.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tcact::client {

constexpr int kMostAttempts = 100;

absl::Status CheckRetryOptions(const RetryOptions& options) {
  if (options.max_attempts < 1 || options.max_attempts > kMostAttempts) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_attempts ", options.max_attempts, " is not in 1 to ", kMostAttempts));
  }
  if (options.first_backoff < absl::ZeroDuration() || options.max_backoff < options.first_backoff) {
    return absl::InvalidArgumentError(
        absl::StrCat("first_backoff ", absl::FormatDuration(options.first_backoff),
                     " is not in 0 to max_backoff ", absl::FormatDuration(options.max_backoff)));
  }
  return absl::OkStatus();
}

absl::Duration Backoff(const RetryOptions& options, int attempt, double random) {
  absl::Duration whole = options.first_backoff;
  for (int i = 2; i < attempt && whole < options.max_backoff; ++i) whole *= 2;
  whole = std::min(whole, options.max_backoff);
  return whole * (0.5 + 0.5 * random);
}

bool ShouldRetry(const RetryOptions& options, const absl::Status& status, int attempt) {
  return absl::IsUnavailable(status) && attempt < options.max_attempts;
}

}  // namespace tcact::client
