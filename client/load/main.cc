// tcact-load: the commands, their flags and their help. The work is elsewhere.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "client/load/compare_run.h"
#include "client/load/flag_word.h"
#include "client/load/progress.h"
#include "client/load/run.h"

ABSL_FLAG(std::string, scenario, "churn", "churn, bind, stats, mixed, dump");
ABSL_FLAG(std::string, mode, "", "unary, apply");
ABSL_FLAG(int, ops_per_message, 32, "operations of one message");
ABSL_FLAG(int, connections, 1, "connections");
ABSL_FLAG(int, in_flight, 0, "messages under way on each connection");
ABSL_FLAG(int, threads, 0, "threads");
ABSL_FLAG(int64_t, actions, 10000, "resident actions");
// The default differs from command to command.
ABSL_FLAG(absl::Duration, duration, -absl::InfiniteDuration(), "measured time");
ABSL_FLAG(absl::Duration, warmup, absl::Seconds(1), "time before it");
ABSL_FLAG(double, rate, 0, "operations a second; 0: closed loop");
ABSL_FLAG(uint64_t, seed, 1, "of the arrivals");
ABSL_FLAG(std::string, netns, "load", "namespace");
ABSL_FLAG(std::string, kind, "gact", "gact, police");
ABSL_FLAG(std::string, server, tcact::client::kDefaultAddress, "address");
ABSL_FLAG(std::string, expect, "", "errors that do not fail the run");
ABSL_FLAG(std::string, json, "", "file for the report as JSON");
ABSL_FLAG(int, rounds, 5, "rounds");
ABSL_FLAG(int64_t, pairs, 1000000, "pairs of each mode and round");
ABSL_FLAG(bool, through_rpc, false, "measure tcactd instead of the core");
ABSL_FLAG(std::string, tcactd, "", "path of tcactd");

namespace tcact::load {
namespace {

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr char kHelp[] = R"(tcact-load: load for tcactd, and the comparison of its allocation modes.

  tcact-load run [flags]       put load on a server and measure it
  tcact-load compare [flags]   measure per-object, slab and slab-merged on the same churn
  tcact-load COMMAND --help    the flags of a command
)";

constexpr char kRunHelp[] =
    R"(tcact-load run: puts load on a server and reports rates, latencies and errors.

What to do
  --scenario=churn      churn   create, delete
                        bind    bind, unbind resident actions
                        stats   update statistics of resident actions
                        mixed   create, bind, stats, get, unbind, delete
                        dump    dump the table of resident actions, again and again
  --mode=apply          apply   batches on a stream (not for dump)
                        unary   a call for each message (the only way for dump)
  --ops-per-message=32  1 to 4096; up to 1000000 with --scenario=stats --mode=unary
  --actions=10000       resident actions of bind, stats and dump
  --netns=load          namespace; its other actions are left alone
  --kind=gact           gact, police

How hard
  --connections=1       1 to 10000
  --in-flight=0         messages under way on each connection, up to 10000;
                        0: 64 calls, or 8 batches of a stream, or 1 dump
  --threads=1           1 to --connections
  --rate=0              operations a second over all connections, arriving as a Poisson process;
                        latency counts from the moment a message was due. 0: closed loop
  --seed=1              of the arrivals

How long
  --duration=10s        measured time, 100ms to 24h
  --warmup=1s           before it, 0 to 1h

Where
  --server=127.0.0.1:9341   host:port or unix:/path

Report
  --json=FILE           also as JSON
  --expect=WORD,...     codes or reasons of errors that do not fail the run

Exit: 0; 1 if nothing succeeded, or an error came that --expect does not name; 2 on a wrong flag.
)";

constexpr char kCompareHelp[] =
    R"(tcact-load compare: creates and destroys actions under each allocation mode and reports every lock,
the CPU time, and the ratios to the mode per-object. Medians of rounds; modes take turns.

By default the core runs inside this process:
  --threads=0           1 to 1024; 0: one for each CPU, then four
  --pairs=1000000       creates and destroys of each mode and round, 1000 to 10000000000

With --through-rpc a tcactd is started for each mode on a unix socket:
  --tcactd=PATH         default: beside this binary
  --duration=3s         of each mode and round, 100ms to 1h
  --connections=1       1 to 1000

Both
  --rounds=5            1 to 1000
  --ops-per-message=32  actions created before they are destroyed, 1 to 4096
  --json=FILE           also as JSON

Exit: 0; 1 on an error; 2 on a wrong flag. Bars that are not reached do not change it.
)";

const std::vector<std::string>& FlagsOf(const std::string& command) {
  static const auto* run = new std::vector<std::string>{
      "scenario", "mode",   "ops_per_message", "connections", "in_flight", "threads",
      "actions",  "seed",   "duration",        "warmup",      "rate",      "netns",
      "kind",     "server", "expect",          "json"};
  static const auto* compare =
      new std::vector<std::string>{"threads",     "pairs",  "through_rpc",     "tcactd", "duration",
                                   "connections", "rounds", "ops_per_message", "json"};
  return command == "run" ? *run : *compare;
}

int Complain(absl::string_view text) {
  std::fprintf(stderr, "tcact-load: %s\n", std::string(text).c_str());
  return kUsage;
}

// Sets the flags. False after having complained.
bool SetFlags(const std::string& command, const std::vector<std::string>& args) {
  for (const std::string& arg : args) {
    const absl::Status status = SetFlag(arg, FlagsOf(command));
    if (status.ok()) continue;
    Complain(absl::StrCat(status.message(), "; see tcact-load ", command, " --help"));
    return false;
  }
  return true;
}

bool WriteJson(const nlohmann::json& json) {
  const std::string path = absl::GetFlag(FLAGS_json);
  if (path.empty()) return true;
  std::ofstream file(path);
  file << json.dump(2) << "\n";
  file.close();
  if (file.good()) return true;
  std::fprintf(stderr, "tcact-load: --json=%s cannot be written\n", path.c_str());
  return false;
}

// Fills the options from the flags; a complaint if a word is none.
absl::Status ReadRunFlags(RunOptions* o) {
  const std::string scenario = absl::GetFlag(FLAGS_scenario);
  if (!ParseScenario(scenario, &o->scenario)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--scenario=", scenario, " is not in churn, bind, stats, mixed, dump"));
  }
  o->mode = o->scenario == Scenario::kDump ? Mode::kUnary : Mode::kApply;
  const std::string mode = absl::GetFlag(FLAGS_mode);
  if (!mode.empty() && !ParseMode(mode, &o->mode)) {
    return absl::InvalidArgumentError(absl::StrCat("--mode=", mode, " is not in unary, apply"));
  }
  o->ops_per_message = absl::GetFlag(FLAGS_ops_per_message);
  o->connections = absl::GetFlag(FLAGS_connections);
  o->in_flight = absl::GetFlag(FLAGS_in_flight);
  if (const int threads = absl::GetFlag(FLAGS_threads); threads != 0) o->threads = threads;
  o->actions = absl::GetFlag(FLAGS_actions);
  if (const auto duration = absl::GetFlag(FLAGS_duration); duration != -absl::InfiniteDuration()) {
    o->duration = duration;
  }
  o->warmup = absl::GetFlag(FLAGS_warmup);
  o->rate = absl::GetFlag(FLAGS_rate);
  o->seed = absl::GetFlag(FLAGS_seed);
  o->netns = absl::GetFlag(FLAGS_netns);
  o->kind = absl::GetFlag(FLAGS_kind);
  o->server = absl::GetFlag(FLAGS_server);
  for (absl::string_view word :
       absl::StrSplit(absl::GetFlag(FLAGS_expect), ',', absl::SkipWhitespace())) {
    o->expected_errors.emplace(word);
  }
  return CheckRunOptions(*o);
}

int RunCommand() {
  RunOptions options;
  const absl::Status status = ReadRunFlags(&options);
  if (!status.ok()) return Complain(status.message());
  absl::StatusOr<RunResult> result;
  {
    ProgressLine line;
    result = Run(options, [&line](const Progress& progress) { line.Show(progress); });
  }
  if (!result.ok()) {
    std::fprintf(stderr, "tcact-load: %s\n", result.status().ToString().c_str());
    return kFailed;
  }
  std::fputs(ReportText(*result).c_str(), stdout);
  const bool written = WriteJson(ReportJson(*result));
  return written && result->operations > 0 && UnexpectedErrors(*result) == 0 ? kOk : kFailed;
}

int CompareCommand() {
  CompareOptions options;
  options.rounds = absl::GetFlag(FLAGS_rounds);
  options.threads = absl::GetFlag(FLAGS_threads);
  options.pairs = absl::GetFlag(FLAGS_pairs);
  options.ops_per_message = absl::GetFlag(FLAGS_ops_per_message);
  options.through_rpc = absl::GetFlag(FLAGS_through_rpc);
  options.tcactd = absl::GetFlag(FLAGS_tcactd);
  options.connections = absl::GetFlag(FLAGS_connections);
  if (const auto duration = absl::GetFlag(FLAGS_duration); duration != -absl::InfiniteDuration()) {
    options.duration = duration;
  }
  const absl::Status status = CheckCompareOptions(options);
  if (!status.ok()) return Complain(status.message());
  absl::StatusOr<std::vector<Case>> cases;
  {
    ProgressLine line;
    cases = Compare(options, [&line](const std::string& what) { line.Show(what); });
  }
  if (!cases.ok()) {
    std::fprintf(stderr, "tcact-load: %s\n", cases.status().ToString().c_str());
    return kFailed;
  }
  nlohmann::json json = {{"rounds", options.rounds}, {"cases", nlohmann::json::array()}};
  for (const Case& one : *cases) {
    std::fputs(CompareText(one).c_str(), stdout);
    json["cases"].push_back(CompareJson(one));
  }
  return WriteJson(json) ? kOk : kFailed;
}

int Main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  const std::string command = args.empty() ? "" : args[0];
  if (command == "help" || command == "--help" || command == "-h") {
    std::fputs(kHelp, stdout);
    return kOk;
  }
  if (command != "run" && command != "compare") {
    std::fputs(kHelp, stderr);
    return kUsage;
  }
  args.erase(args.begin());
  if (absl::c_linear_search(args, "--help") || absl::c_linear_search(args, "-h")) {
    std::fputs(command == "run" ? kRunHelp : kCompareHelp, stdout);
    return kOk;
  }
  if (!SetFlags(command, args)) return kUsage;
  return command == "run" ? RunCommand() : CompareCommand();
}

}  // namespace
}  // namespace tcact::load

// An exception that nobody caught ends the program, as it should.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  // Debian's Abseil looks for deadlocks at every lock, gRPC's included; it is most of what they
  // cost.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return tcact::load::Main(argc, argv);
}
