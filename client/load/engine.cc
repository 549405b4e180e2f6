#include "client/load/engine.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "client/load/clock.h"
#include "client/load/worker.h"

namespace tcact::load {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);

using Workers = std::vector<std::unique_ptr<Worker>>;

void Tell(const Workers& workers, Progress::Phase phase, int64_t start_ns,
          const std::function<void(const Progress&)>& on_progress) {
  Progress progress{.phase = phase, .elapsed = absl::Nanoseconds(NowNs() - start_ns)};
  for (const auto& worker : workers) {
    progress.operations += worker->live().operations.load(std::memory_order_relaxed);
    progress.errors += worker->live().errors.load(std::memory_order_relaxed);
  }
  on_progress(progress);
}

bool AllDone(const Workers& workers) {
  return std::all_of(workers.begin(), workers.end(), [](const auto& w) { return w->done(); });
}

// Ticks until the moment, or until all workers are done.
void TellUntil(int64_t moment_ns, const Workers& workers, Progress::Phase phase, int64_t start_ns,
               const std::function<void(const Progress&)>& on_progress) {
  for (int64_t now = NowNs(); now < moment_ns && !AllDone(workers); now = NowNs()) {
    absl::SleepFor(std::min(kTick, absl::Nanoseconds(moment_ns - now)));
    Tell(workers, phase, start_ns, on_progress);
  }
}

void Add(const Tally& from, Tally* to) {
  to->latency_ns.Merge(from.latency_ns);
  to->seconds.resize(std::max(to->seconds.size(), from.seconds.size()));
  for (size_t i = 0; i < from.seconds.size(); ++i) to->seconds[i].Add(from.seconds[i]);
  for (const auto& [key, error] : from.errors) {
    ErrorCount& sum = to->errors[key];
    if (sum.count == 0) sum.example = error.example;
    sum.count += error.count;
  }
  to->unfinished += from.unfinished;
  to->never_sent += from.never_sent;
}

}  // namespace

Tally RunEngine(const EnginePlan& plan, std::vector<Lane> lanes,
                const std::function<void(const Progress&)>& on_progress) {
  const size_t all_lanes = lanes.size();
  std::vector<std::vector<Lane>> shares(static_cast<size_t>(plan.threads));
  for (size_t i = 0; i < all_lanes; ++i) shares[i % shares.size()].push_back(std::move(lanes[i]));

  Timeline timeline;
  timeline.start_ns = NowNs();
  timeline.measure_ns = timeline.start_ns + absl::ToInt64Nanoseconds(plan.warmup);
  timeline.end_ns = timeline.measure_ns + absl::ToInt64Nanoseconds(plan.duration);
  timeline.abort_ns = timeline.end_ns + absl::ToInt64Nanoseconds(plan.drain);
  Workers workers;
  for (size_t i = 0; i < shares.size(); ++i) {
    const double share =
        static_cast<double>(shares[i].size()) / static_cast<double>(std::max<size_t>(all_lanes, 1));
    workers.push_back(std::make_unique<Worker>(plan, timeline, std::move(shares[i]),
                                               plan.messages_per_second * share, plan.seed + i));
  }
  std::vector<std::thread> threads;
  threads.reserve(workers.size());
  for (auto& worker : workers) threads.emplace_back([&worker] { worker->Run(); });

  const int64_t start = timeline.start_ns;
  TellUntil(timeline.measure_ns, workers, Progress::Phase::kWarmup, start, on_progress);
  Tell(workers, Progress::Phase::kMeasureBegins, start, on_progress);
  TellUntil(timeline.end_ns, workers, Progress::Phase::kMeasure, start, on_progress);
  Tell(workers, Progress::Phase::kMeasureEnds, start, on_progress);
  TellUntil(INT64_MAX, workers, Progress::Phase::kDrain, start, on_progress);
  for (std::thread& thread : threads) thread.join();

  Tally sum;
  for (const auto& worker : workers) Add(worker->tally(), &sum);
  return sum;
}

}  // namespace tcact::load
