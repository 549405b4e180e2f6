// When a failed call is tried again, and after how long.
#ifndef TCACT_CLIENT_LIB_RETRY_H_
#define TCACT_CLIENT_LIB_RETRY_H_

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tcact::client {

struct RetryOptions {
  // Tries in all; 1: no retries. 1 to 100.
  int max_attempts = 4;
  // Before the first retry; doubles for each further one up to max_backoff. Not negative.
  absl::Duration first_backoff = absl::Milliseconds(50);
  absl::Duration max_backoff = absl::Seconds(1);
};

// INVALID_ARGUMENT that names the option outside its range.
absl::Status CheckRetryOptions(const RetryOptions& options);

// How long to wait before try number `attempt` (2, 3, …), with `random` in [0, 1) spreading clients
// apart: between half and the whole of the doubled backoff.
absl::Duration Backoff(const RetryOptions& options, int attempt, double random);

// Whether a read that failed so at try number `attempt` (1, 2, …) may be sent again: UNAVAILABLE,
// tries left.
bool ShouldRetry(const RetryOptions& options, const absl::Status& status, int attempt);

}  // namespace tcact::client

#endif  // TCACT_CLIENT_LIB_RETRY_H_
