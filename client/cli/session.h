// Session: what the commands of one run of tcact share.
//
// Thread safety: not thread-safe.
#ifndef TCACT_CLIENT_CLI_SESSION_H_
#define TCACT_CLIENT_CLI_SESSION_H_

#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/options.h"
#include "client/lib/client.h"
#include "proto/kinds/words.h"

namespace tcact::cli {

// How a command ended.
struct [[nodiscard]] Outcome {
  // The exit code, 0 to 255.
  int code = 0;
  // tc would end here and now: no further command of a batch is run, even with -force.
  bool exit = false;

  bool ok() const { return code == 0; }
};

inline constexpr Outcome kOk = {};
// tc's -1.
inline constexpr Outcome kFailed = {.code = 255};
// The server does not answer.
inline constexpr Outcome kUnreachable = {.code = 1};

class Session {
 public:
  // All must outlive the session.
  Session(const Settings& settings, std::ostream* out, std::ostream* err)
      : settings_(settings), out_(out), err_(err) {}

  const Settings& settings() const { return settings_; }
  const kinds::PrintOptions& print() const { return settings_.print; }
  const std::string& netns() const { return settings_.netns; }

  // Connects at the first call: a command that is refused by itself needs no server. A bad address
  // is an error.
  absl::StatusOr<client::Client*> client();

  // To standard output.
  void Out(absl::string_view text) { *out_ << text; }
  // To standard error, after what went to standard output. A line end is added.
  void Err(absl::string_view line) { ErrText(std::string(line) + "\n"); }
  // The same for a text with its line ends.
  void ErrText(absl::string_view text);

  // Prints a parser's error, and below it the word of the command that is wrong.
  Outcome Fail(const kinds::ParseError& error, const kinds::Words& words);

  // Where the command stands: "FILE:LINE" in a batch, else nothing.
  const std::string& place() const { return place_; }
  void set_place(std::string place) { place_ = std::move(place); }

  // Prints why a call failed, if the server could not be reached or did not answer in time, and
  // returns true. False for what the server itself said.
  bool ExplainUnreachable(const absl::Status& status);
  // The same for any error, in our own words. For the commands that tc does not have.
  Outcome Explain(const absl::Status& status);

 private:
  const Settings& settings_;
  std::ostream* const out_;
  std::ostream* const err_;
  std::string place_;
  std::unique_ptr<client::Client> client_;
};

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_SESSION_H_
