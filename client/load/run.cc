#include "client/load/run.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/lib/client.h"
#include "client/load/action_slot.h"
#include "client/load/clock.h"

namespace tcact::load {
namespace {

constexpr int64_t kSetupBatch = 4096;
constexpr absl::Duration kConnectTimeout = absl::Seconds(5);

absl::Status Explain(absl::string_view what, const absl::Status& status) {
  absl::Status explained(status.code(), absl::StrCat(what, ": ", status.message()));
  status.ForEachPayload([&explained](absl::string_view url, const absl::Cord& payload) {
    explained.SetPayload(url, payload);
  });
  return explained;
}

absl::StatusOr<std::vector<uint32_t>> MakeResident(const RunOptions& options,
                                                   client::Client* client) {
  std::vector<uint32_t> indexes;
  const int64_t wanted = ResidentActions(options);
  v1::CreateActionsRequest request;
  request.set_netns(options.netns);
  request.set_view(v1::ACTION_VIEW_TERSE);
  while (static_cast<int64_t>(indexes.size()) < wanted) {
    const auto count = std::min(kSetupBatch, wanted - static_cast<int64_t>(indexes.size()));
    request.clear_actions();
    for (int64_t i = 0; i < count; ++i) *request.add_actions() = SampleAction(options.kind);
    const auto response = client->CreateActions(request);
    if (!response.ok()) return Explain("making the resident actions", response.status());
    for (const v1::Action& action : response->actions()) indexes.push_back(action.index());
  }
  return indexes;
}

void RemoveResident(const RunOptions& options, client::Client* client,
                    const std::vector<uint32_t>& indexes, std::vector<std::string>* warnings) {
  for (size_t i = 0; i < indexes.size(); i += kSetupBatch) {
    v1::DeleteActionsRequest request;
    request.set_netns(options.netns);
    for (size_t j = i; j < std::min(indexes.size(), i + kSetupBatch); ++j) {
      v1::ActionKey* key = request.add_keys();
      key->set_kind(options.kind);
      key->set_index(indexes[j]);
    }
    const auto response = client->DeleteActions(request);
    if (response.ok()) continue;
    warnings->push_back(
        absl::StrCat("removing the resident actions: ", response.status().ToString(),
                     "; some are left in namespace \"", options.netns, "\""));
    return;
  }
}

absl::StatusOr<std::vector<Lane>> MakeLanes(const RunOptions& options,
                                            const std::vector<uint32_t>* resident) {
  std::vector<Lane> lanes;
  int number = 0;
  for (int i = 0; i < options.connections; ++i) {
    auto channel = client::MakeChannel({.address = options.server, .own_connection = true});
    if (!channel.ok()) return channel.status();
    if (!(*channel)->WaitForConnected(absl::ToChronoTime(absl::Now() + kConnectTimeout))) {
      return absl::UnavailableError(absl::StrCat("no connection to ", options.server, " within ",
                                                 absl::FormatDuration(kConnectTimeout)));
    }
    Lane lane{.channel = *std::move(channel), .slots = {}};
    for (int j = 0; j < InFlight(options); ++j) {
      lane.slots.push_back(std::make_unique<ActionSlot>(options, resident, number++));
    }
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

EnginePlan PlanOf(const RunOptions& options) {
  EnginePlan plan;
  plan.transport = options.scenario == Scenario::kDump ? Transport::kDump
                   : options.mode == Mode::kApply      ? Transport::kStream
                                                       : Transport::kUnary;
  plan.stream_method = "/tcact.v1.ActionStore/Apply";
  plan.threads = options.threads;
  plan.warmup = options.warmup;
  plan.duration = options.duration;
  plan.drain = options.drain;
  plan.messages_per_second = options.rate / options.ops_per_message;
  plan.seed = options.seed;
  return plan;
}

// CPU seconds of client and server, taken where the measured time begins and where it ends.
class CpuMeter {
 public:
  explicit CpuMeter(client::Client* client) : client_(client) {}

  void Begin() { Sample(&client_begin_, &server_begin_); }
  void End(RunResult* result) {
    double client_end = 0;
    std::optional<double> server_end;
    Sample(&client_end, &server_end);
    result->client_cpu_s = client_end - client_begin_;
    if (server_begin_ && server_end) result->server_cpu_s = *server_end - *server_begin_;
  }

 private:
  void Sample(double* client_cpu, std::optional<double>* server_cpu) {
    *client_cpu = ProcessCpuSeconds();
    const auto info = client_->GetServerInfo({});
    if (!info.ok()) return;
    *server_cpu = static_cast<double>(info->cpu_user_us() + info->cpu_system_us()) / 1e6;
  }

  client::Client* const client_;
  double client_begin_ = 0;
  std::optional<double> server_begin_;
};

}  // namespace

absl::StatusOr<RunResult> Run(const RunOptions& options,
                              const std::function<void(const Progress&)>& on_progress) {
  RunResult result;
  result.options = options;
  client::Options client_options;
  client_options.channel.address = options.server;
  client_options.channel.own_connection = true;
  auto client = client::Client::Connect(client_options);
  if (!client.ok()) return client.status();
  if (const auto info = (*client)->GetServerInfo({}); info.ok()) {
    result.server_version = info->version();
    result.action_alloc = info->action_alloc();
  } else if (absl::IsUnavailable(info.status())) {
    return Explain(absl::StrCat("no server at ", options.server), info.status());
  }

  const auto resident = MakeResident(options, client->get());
  if (!resident.ok()) return resident.status();
  auto lanes = MakeLanes(options, &*resident);
  if (!lanes.ok()) {
    RemoveResident(options, client->get(), *resident, &result.warnings);
    return lanes.status();
  }
  CpuMeter meter(client->get());
  result.tally = RunEngine(PlanOf(options), *std::move(lanes), [&](const Progress& progress) {
    if (progress.phase == Progress::Phase::kMeasureBegins) meter.Begin();
    if (progress.phase == Progress::Phase::kMeasureEnds) meter.End(&result);
    on_progress(progress);
  });
  RemoveResident(options, client->get(), *resident, &result.warnings);

  result.seconds = absl::ToDoubleSeconds(options.duration);
  for (const Second& second : result.tally.seconds) {
    result.operations += second.operations;
    result.messages += second.messages;
  }
  return result;
}

uint64_t UnexpectedErrors(const RunResult& result) {
  uint64_t sum = result.tally.unfinished;
  const auto& expected = result.options.expected_errors;
  for (const auto& [key, error] : result.tally.errors) {
    const std::string code = absl::StatusCodeToString(key.first);
    if (expected.count(code) == 0 && expected.count(key.second) == 0) sum += error.count;
  }
  return sum;
}

}  // namespace tcact::load
