#include "server/durable/stats_saver.h"

#include <pthread.h>

#include <limits>
#include <utility>

#include "absl/time/clock.h"
#include "server/durable/load.h"
#include "server/durable/records.h"

namespace tcact::durable {
namespace {

// How much later than the time it bears an update may be counted.
constexpr int64_t kOverlapMs = 2000;
// Actions saved in one turn.
constexpr size_t kSlice = 512;
// Actions looked at in one turn.
constexpr size_t kVisits = 16'384;
constexpr size_t kNetnsSlice = 256;

int64_t NowMs() { return absl::ToUnixMillis(absl::Now()); }

}  // namespace

StatsSaver::StatsSaver(act::Store* actions, Journal* journal, StatsSaverOptions options)
    : actions_(actions),
      journal_(journal),
      options_(std::move(options)),
      started_ms_(NowMs()),
      last_save_ms_(started_ms_),
      generation_bound_(options_.generation_bound),
      thread_([this] {
        pthread_setname_np(pthread_self(), "tcact-stats");
        Run();
      }) {}

StatsSaver::~StatsSaver() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    changed_.Signal();
  }
  thread_.join();
}

absl::Status StatsSaver::SaveAll() {
  // A clock that was set back since the start must not hide a use.
  const int64_t since =
      NowMs() < started_ms_ ? std::numeric_limits<int64_t>::min() : started_ms_ - kOverlapMs;
  (void)Append(since);
  return journal_->Flush();
}

bool StatsSaver::Sleep() {
  absl::MutexLock lock(&mutex_);
  const absl::Time until = absl::Now() + options_.interval;
  while (!ending_ && !changed_.WaitWithDeadline(&mutex_, until)) {
  }
  return !ending_;
}

void StatsSaver::Run() {
  while (Sleep()) {
    const int64_t now = NowMs();
    const int64_t since =
        now < last_save_ms_ ? std::numeric_limits<int64_t>::min() : last_save_ms_ - kOverlapMs;
    if (Append(since) && journal_->Flush().ok()) saves_.fetch_add(1, std::memory_order_relaxed);
    last_save_ms_ = now;
  }
}

bool StatsSaver::Append(int64_t since_ms) {
  std::string after;
  bool from_start = true;
  for (;;) {
    const std::vector<act::NetnsInfo> some = actions_->ListNetns(from_start, after, kNetnsSlice);
    for (const act::NetnsInfo& info : some) {
      const act::NetnsRef netns = actions_->FindNetns(info.name);
      if (netns && !AppendNetns(netns, since_ms)) return false;
    }
    if (some.size() < kNetnsSlice) break;
    from_start = false;
    after = some.back().name;
  }
  Journal::Turn turn(journal_);
  if (!turn.ok()) return false;
  ReserveGenerations(&generation_bound_, turn.batch());
  if (options_.save_more != nullptr) options_.save_more(turn.batch());
  return true;
}

bool StatsSaver::AppendNetns(const act::NetnsRef& netns, int64_t since_ms) {
  const std::string& name = act::Store::NameOf(netns);
  act::DumpOptions options;
  options.parts = act::kWithCounters;
  options.used_since_ms = since_ms;
  options.save_stats = true;
  options.max_visits = kVisits;
  for (const act::KindSpec& kind : actions_->options().kinds) {
    uint32_t next = 1;
    do {
      Journal::Turn turn(journal_);
      if (!turn.ok()) return false;
      // Deleted meanwhile: its records are gone, and must not come back.
      if (actions_->FindNetns(name).get() != netns.get()) return true;
      size_t saved = 0;
      next = actions_->Dump(netns, kind.kind, next, options, [&](act::Snapshot& snapshot) {
        RecordStats(name, snapshot, turn.batch());
        return ++saved < kSlice;
      });
    } while (next != 0);
  }
  return true;
}

}  // namespace tcact::durable
