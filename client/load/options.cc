#include "client/load/options.h"

#include "absl/strings/str_cat.h"

namespace tcact::load {
namespace {

constexpr absl::string_view kScenarios[] = {"churn", "bind", "stats", "mixed", "dump"};
constexpr absl::string_view kModes[] = {"unary", "apply"};
constexpr int kMaxBatch = 4096;            // the server's limit
constexpr int kMaxStatsEntries = 1000000;  // of one UpdateStats

template <typename Enum, size_t n>
bool ParseWord(absl::string_view word, const absl::string_view (&words)[n], Enum* out) {
  for (size_t i = 0; i < n; ++i) {
    if (words[i] != word) continue;
    *out = static_cast<Enum>(i);
    return true;
  }
  return false;
}

absl::Status OutOfRange(absl::string_view flag, absl::string_view value, absl::string_view range) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", value, " is not in ", range));
}

absl::Status CheckRange(absl::string_view flag, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return OutOfRange(flag, absl::StrCat(value), absl::StrCat(low, " to ", high));
}

absl::Status CheckDuration(absl::string_view flag, absl::Duration value, absl::Duration low,
                           absl::Duration high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return OutOfRange(flag, absl::FormatDuration(value),
                    absl::StrCat(absl::FormatDuration(low), " to ", absl::FormatDuration(high)));
}

absl::Status CheckNumbers(const RunOptions& o) {
  const bool big_stats = o.scenario == Scenario::kStats && o.mode == Mode::kUnary;
  const absl::Status checks[] = {
      CheckRange("ops-per-message", o.ops_per_message, 1, big_stats ? kMaxStatsEntries : kMaxBatch),
      CheckRange("connections", o.connections, 1, 10000),
      CheckRange("in-flight", o.in_flight, 0, 10000),
      CheckRange("threads", o.threads, 1, 256),
      CheckRange("actions", o.actions, 1, 100000000),
      CheckDuration("duration", o.duration, absl::Milliseconds(100), absl::Hours(24)),
      CheckDuration("warmup", o.warmup, absl::ZeroDuration(), absl::Hours(1)),
  };
  for (const absl::Status& check : checks) {
    if (!check.ok()) return check;
  }
  if (!(o.rate >= 0 && o.rate <= 1e9)) {
    return OutOfRange("rate", absl::StrCat(o.rate), "0 (closed loop) to 1000000000");
  }
  return absl::OkStatus();
}

}  // namespace

bool ParseScenario(absl::string_view word, Scenario* out) {
  return ParseWord(word, kScenarios, out);
}
bool ParseMode(absl::string_view word, Mode* out) { return ParseWord(word, kModes, out); }

absl::string_view ScenarioName(Scenario scenario) {
  return kScenarios[static_cast<size_t>(scenario)];
}
absl::string_view ModeName(Mode mode) { return kModes[static_cast<size_t>(mode)]; }

int InFlight(const RunOptions& options) {
  if (options.in_flight > 0) return options.in_flight;
  if (options.scenario == Scenario::kDump) return 1;
  return options.mode == Mode::kUnary ? 64 : 8;
}

absl::Status CheckRunOptions(const RunOptions& options) {
  absl::Status status = client::CheckAddress(options.server);
  if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("--server: ", status.message()));
  status = CheckNumbers(options);
  if (!status.ok()) return status;
  if (options.threads > options.connections) {
    return absl::InvalidArgumentError(
        absl::StrCat("--threads=", options.threads, " is not in 1 to --connections (",
                     options.connections, "): each thread needs a connection of its own"));
  }
  if (options.kind != "gact" && options.kind != "police") {
    return OutOfRange("kind", options.kind, "gact, police");
  }
  if (options.scenario == Scenario::kDump && options.mode == Mode::kApply) {
    return absl::InvalidArgumentError(
        "--mode=apply is not possible with --scenario=dump: a dump is a call of its own (unary)");
  }
  return absl::OkStatus();
}

}  // namespace tcact::load
