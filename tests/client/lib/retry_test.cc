#include "client/lib/retry.h"

#include "gtest/gtest.h"

namespace tcact::client {
namespace {

TEST(RetryTest, BackoffDoublesUpToItsLimit) {
  const RetryOptions options{.first_backoff = absl::Milliseconds(50),
                             .max_backoff = absl::Milliseconds(300)};
  EXPECT_EQ(Backoff(options, 2, 1.0), absl::Milliseconds(50));
  EXPECT_EQ(Backoff(options, 3, 1.0), absl::Milliseconds(100));
  EXPECT_EQ(Backoff(options, 4, 1.0), absl::Milliseconds(200));
  EXPECT_EQ(Backoff(options, 5, 1.0), absl::Milliseconds(300));
  EXPECT_EQ(Backoff(options, 99, 1.0), absl::Milliseconds(300));
}

TEST(RetryTest, RandomSpreadsBetweenHalfAndWhole) {
  const RetryOptions options;
  EXPECT_EQ(Backoff(options, 2, 0.0), options.first_backoff / 2);
  EXPECT_EQ(Backoff(options, 2, 0.5), options.first_backoff * 0.75);
}

TEST(RetryTest, OnlyUnavailableIsRetried) {
  const RetryOptions options;
  EXPECT_TRUE(ShouldRetry(options, absl::UnavailableError("x"), 1));
  EXPECT_FALSE(ShouldRetry(options, absl::OkStatus(), 1));
  EXPECT_FALSE(ShouldRetry(options, absl::DeadlineExceededError("x"), 1));
  EXPECT_FALSE(ShouldRetry(options, absl::AbortedError("x"), 1));
  EXPECT_FALSE(ShouldRetry(options, absl::ResourceExhaustedError("x"), 1));
}

TEST(RetryTest, EndsAfterTheLastAttempt) {
  const RetryOptions options{.max_attempts = 3};
  EXPECT_TRUE(ShouldRetry(options, absl::UnavailableError("x"), 2));
  EXPECT_FALSE(ShouldRetry(options, absl::UnavailableError("x"), 3));
}

TEST(RetryTest, OptionsOutsideTheirRangeAreNamed) {
  EXPECT_TRUE(CheckRetryOptions({}).ok());
  EXPECT_EQ(CheckRetryOptions({.max_attempts = 0}).message(), "max_attempts 0 is not in 1 to 100");
  EXPECT_FALSE(CheckRetryOptions({.max_attempts = 101}).ok());
  EXPECT_FALSE(CheckRetryOptions({.first_backoff = absl::Seconds(-1)}).ok());
  EXPECT_FALSE(CheckRetryOptions({.first_backoff = absl::Seconds(2)}).ok());
}

}  // namespace
}  // namespace tcact::client
