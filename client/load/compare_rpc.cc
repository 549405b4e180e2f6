// Churn over Apply against a tcactd of each mode, and the comparison itself.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/lib/client.h"
#include "client/load/child.h"
#include "client/load/compare_run.h"
#include "client/load/run.h"

namespace tcact::load {
namespace {

constexpr absl::Duration kStartTimeout = absl::Seconds(10);
constexpr char kDirTemplate[] = "/tmp/tcact-load-XXXXXX";

absl::Status CheckRange(absl::string_view flag, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, " is not in ", low, " to ", high));
}

absl::Status WaitUntilServing(client::Client* client, Child* child, const std::string& log) {
  const absl::Time deadline = absl::Now() + kStartTimeout;
  absl::Status status;
  while (absl::Now() < deadline) {
    if (!child->running()) {
      return absl::UnavailableError(absl::StrCat("tcactd ended at once; its output is in ", log));
    }
    // Not a sleep: gRPC gets on with connecting while somebody waits for it.
    client->channel()->WaitForConnected(absl::ToChronoTime(absl::Now() + absl::Milliseconds(100)));
    status = client->CheckHealth();
    if (status.ok()) return status;
  }
  return absl::UnavailableError(absl::StrCat("tcactd does not serve after ",
                                             absl::FormatDuration(kStartTimeout), ": ",
                                             status.message(), "; its output is in ", log));
}

std::vector<LockFigures> FiguresOf(const v1::GetLockStatsResponse& response) {
  std::vector<LockFigures> locks;
  for (const v1::LockStat& stat : response.locks()) {
    LockFigures lock;
    lock.name = stat.name();
    lock.acquired = static_cast<double>(stat.acquired());
    lock.contended = static_cast<double>(stat.contended());
    lock.wait_total_ns = static_cast<double>(stat.wait_total_ns());
    lock.wait_max_ns = static_cast<double>(stat.wait_max_ns());
    lock.wait_min_ns = static_cast<double>(stat.wait_min_ns());
    locks.push_back(std::move(lock));
  }
  return locks;
}

absl::StatusOr<double> ServerCpu(client::Client* client) {
  const auto info = client->GetServerInfo({});
  if (!info.ok()) return info.status();
  return static_cast<double>(info->cpu_user_us() + info->cpu_system_us()) / 1e6;
}

// Locks and CPU are of the same span: from the reset to the end of the run. So there is no warm-up.
absl::StatusOr<ModeFigures> Measure(const RunOptions& run, client::Client* client) {
  const auto reset = client->ResetLockStats({});
  if (!reset.ok()) return reset.status();
  const auto cpu_before = ServerCpu(client);
  if (!cpu_before.ok()) return cpu_before.status();
  const auto result = Run(run, [](const Progress&) {});
  if (!result.ok()) return result.status();
  const auto cpu_after = ServerCpu(client);
  if (!cpu_after.ok()) return cpu_after.status();
  const auto locks = client->GetLockStats({});
  if (!locks.ok()) return locks.status();
  if (const uint64_t errors = UnexpectedErrors(*result); errors > 0 || result->operations == 0) {
    return absl::InternalError(absl::StrCat("the churn ended with ", errors, " errors and ",
                                            result->operations, " operations\n",
                                            ReportText(*result)));
  }
  ModeFigures figures;
  figures.pairs = static_cast<double>(result->operations) / 2;
  figures.wall_s = result->seconds;
  figures.cpu_s = *cpu_after - *cpu_before;
  figures.locks = FiguresOf(*locks);
  return figures;
}

absl::StatusOr<std::string> TcactdPath(const CompareOptions& options) {
  if (!options.tcactd.empty()) return options.tcactd;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return absl::InternalError("where this binary lies is unknown: give --tcactd");
  const auto here = self.parent_path();
  // Installed side by side; or built by Bazel, each in its own folder.
  for (const auto& path : {here / "tcactd", here.parent_path() / "server" / "tcactd"}) {
    if (std::filesystem::exists(path, error)) return path.string();
  }
  return absl::NotFoundError(
      absl::StrCat("no tcactd beside ", self.string(), ": give its path by --tcactd"));
}

// What one case measures in one round.
using MeasureMode = std::function<absl::StatusOr<ModeFigures>(size_t mode)>;

absl::StatusOr<Case> CompareModes(const std::string& title, int rounds, const OnStep& on_step,
                                  const MeasureMode& measure) {
  std::array<std::vector<ModeFigures>, kModes> figures;
  for (int round = 0; round < rounds; ++round) {
    for (size_t turn = 0; turn < kModes; ++turn) {
      const size_t mode = (turn + static_cast<size_t>(round)) % kModes;
      on_step(absl::StrCat(title, ": round ", round + 1, " of ", rounds, ", ", kModeNames[mode]));
      auto one = measure(mode);
      if (!one.ok()) return one.status();
      figures[mode].push_back(*std::move(one));
    }
  }
  Case joined;
  joined.title = title;
  for (size_t mode = 0; mode < kModes; ++mode) joined.modes[mode] = JoinRounds(figures[mode]);
  return joined;
}

}  // namespace

absl::Status CheckCompareOptions(const CompareOptions& options) {
  const absl::Status checks[] = {
      CheckRange("rounds", options.rounds, 1, 1000),
      CheckRange("threads", options.threads, 0, 1024),
      CheckRange("pairs", options.pairs, 1000, 10000000000),
      CheckRange("ops-per-message", options.ops_per_message, 1, 4096),
      CheckRange("connections", options.connections, 1, 1000),
  };
  for (const absl::Status& check : checks) {
    if (!check.ok()) return check;
  }
  if (options.duration < absl::Milliseconds(100) || options.duration > absl::Hours(1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--duration=", absl::FormatDuration(options.duration), " is not in 100ms to 1h"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ModeFigures> ChurnRpc(size_t mode, const std::string& tcactd,
                                     const CompareOptions& options) {
  std::string dir = kDirTemplate;
  if (mkdtemp(dir.data()) == nullptr) return absl::InternalError("no folder in /tmp for a socket");
  bool keep = false;  // what the server said about its failure
  absl::Cleanup remove = [&] {
    std::error_code error;
    if (!keep) std::filesystem::remove_all(dir, error);
  };
  const std::string address = absl::StrCat("unix:", dir, "/s");
  auto child =
      Child::Start(tcactd,
                   {absl::StrCat("--listen=", address), "--store=memory", "--drain-seconds=0",
                    absl::StrCat("--action-alloc=", kModeNames[mode])},
                   absl::StrCat(dir, "/log"));
  if (!child.ok()) return child.status();
  client::Options client_options;
  client_options.channel.address = address;
  auto client = client::Client::Connect(client_options);
  if (!client.ok()) return client.status();
  absl::Status serving = WaitUntilServing(client->get(), &*child, absl::StrCat(dir, "/log"));
  if (!serving.ok()) {
    keep = true;
    return serving;
  }
  RunOptions run;
  run.server = address;
  run.scenario = Scenario::kChurn;
  run.mode = Mode::kApply;
  run.ops_per_message = options.ops_per_message;
  run.connections = options.connections;
  run.duration = options.duration;
  run.warmup = absl::ZeroDuration();
  return Measure(run, client->get());
}

absl::StatusOr<std::vector<Case>> Compare(const CompareOptions& options, const OnStep& on_step) {
  std::vector<Case> cases;
  if (options.through_rpc) {
    const auto tcactd = TcactdPath(options);
    if (!tcactd.ok()) return tcactd.status();
    auto one = CompareModes(
        absl::StrCat("tcactd, Apply over a unix socket, ", options.ops_per_message,
                     " operations a message, ", options.connections, " connections"),
        options.rounds, on_step, [&](size_t mode) { return ChurnRpc(mode, *tcactd, options); });
    if (!one.ok()) return one.status();
    cases.push_back(*std::move(one));
    return cases;
  }
  std::vector<int> threads = {options.threads};
  if (options.threads == 0) {
    const int cpus = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    threads = {cpus, 4 * cpus};
  }
  for (int count : threads) {
    auto one = CompareModes(absl::StrCat("core in one process, ", count, " threads, one table"),
                            options.rounds, on_step, [&](size_t mode) {
                              return ChurnCore(mode, count, options.pairs, options.ops_per_message);
                            });
    if (!one.ok()) return one.status();
    cases.push_back(*std::move(one));
  }
  return cases;
}

}  // namespace tcact::load
