// What `tcact-load run` is asked to do.
#ifndef TCACT_CLIENT_LOAD_OPTIONS_H_
#define TCACT_CLIENT_LOAD_OPTIONS_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/lib/channel.h"

namespace tcact::load {

enum class Scenario : uint8_t { kChurn, kBind, kStats, kMixed, kDump };
enum class Mode : uint8_t { kUnary, kApply };

// False, and *out unchanged, on a word that is none.
bool ParseScenario(absl::string_view word, Scenario* out);
bool ParseMode(absl::string_view word, Mode* out);
absl::string_view ScenarioName(Scenario scenario);
absl::string_view ModeName(Mode mode);

struct RunOptions {
  std::string server = client::kDefaultAddress;
  std::string netns = "load";
  std::string kind = "gact";
  Scenario scenario = Scenario::kChurn;
  Mode mode = Mode::kApply;
  int ops_per_message = 32;
  int connections = 1;
  // For each connection; 0: 64 unary calls, 8 batches of a stream, 1 dump.
  int in_flight = 0;
  int threads = 1;
  // Actions that exist during the whole run (bind, stats, dump).
  int64_t actions = 10000;
  absl::Duration duration = absl::Seconds(10);
  absl::Duration warmup = absl::Seconds(1);
  // How long the end waits for what is under way, and a unary call for its answer.
  absl::Duration drain = absl::Seconds(10);
  // Operations a second over all connections; 0: closed loop.
  double rate = 0;
  uint64_t seed = 1;
  // Reasons (or code names) that do not make the run fail.
  std::set<std::string> expected_errors;
};

// in_flight with its default filled in.
int InFlight(const RunOptions& options);

// INVALID_ARGUMENT that names the flag, its value and the allowed range.
absl::Status CheckRunOptions(const RunOptions& options);

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_OPTIONS_H_
