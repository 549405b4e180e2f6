// One run of `tcact-load run`: prepare, load, clean up, sum up.
#ifndef TCACT_CLIENT_LOAD_RUN_H_
#define TCACT_CLIENT_LOAD_RUN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/load/engine.h"
#include "client/load/options.h"
#include "client/load/tally.h"
#include "nlohmann/json.hpp"

namespace tcact::load {

struct RunResult {
  RunOptions options;
  Tally tally;
  // Of the measured time.
  double seconds = 0;
  uint64_t operations = 0;
  uint64_t messages = 0;
  double client_cpu_s = 0;
  std::optional<double> server_cpu_s;  // where the server tells (Admin.GetServerInfo)
  // Of the server, empty where it does not tell.
  std::string server_version;
  std::string action_alloc;
  // What the clean-up could not undo.
  std::vector<std::string> warnings;

  double rate() const { return seconds > 0 ? static_cast<double>(operations) / seconds : 0; }
};

// Makes the resident actions, runs the load, removes what it made. An error: the server could not
// be reached, or refused the preparation. REQUIRES: CheckRunOptions(options) is OK.
absl::StatusOr<RunResult> Run(const RunOptions& options,
                              const std::function<void(const Progress&)>& on_progress);

// Errors of the run that --expect does not name, and what never came back.
uint64_t UnexpectedErrors(const RunResult& result);

// For people.
std::string ReportText(const RunResult& result);
// For programs. Times in microseconds, as the names say.
nlohmann::json ReportJson(const RunResult& result);

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_RUN_H_
