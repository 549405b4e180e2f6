// StatsSaver: counters into records, at an interval and at the end.
//
// Loss window: a crash loses what was counted since the last save that was recorded: at most the
// interval and the time that a save takes. Nothing that was saved is lost, and no counter is ever
// more than what was counted.
//
// What is saved: the counters of actions used since the save before (with some overlap, because an
// update bears the time at which its request began), as they are, so that saving twice does no
// harm. The actions are walked in slices, each a turn of the journal: a reset or delete comes
// wholly before or after.
#ifndef TCACT_SERVER_DURABLE_STATS_SAVER_H_
#define TCACT_SERVER_DURABLE_STATS_SAVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/core/act/store.h"
#include "server/durable/journal.h"

namespace tcact::durable {

struct StatsSaverOptions {
  // 10 ms to 1 hour.
  absl::Duration interval = absl::Seconds(1);
  // What ReserveGenerations left when the store was loaded.
  uint64_t generation_bound = 0;
  // Appends what else is to be saved with the counters, after them, in a turn. May be null.
  std::function<void(Batch* batch)> save_more;
};

// Thread safety: all methods, from any thread, but destruction.
class StatsSaver {
 public:
  // All must outlive it.
  StatsSaver(act::Store* actions, Journal* journal, StatsSaverOptions options);
  // Ends the thread; does not save.
  ~StatsSaver();
  StatsSaver(const StatsSaver&) = delete;
  StatsSaver& operator=(const StatsSaver&) = delete;

  // Saves everything used since the start, and waits until it is recorded.
  absl::Status SaveAll();

  // Saves that were recorded wholly.
  uint64_t saves() const { return saves_.load(std::memory_order_relaxed); }

 private:
  void Run();
  bool Sleep();
  // Appends all counters of actions used at or after `since_ms`. False if the journal failed.
  bool Append(int64_t since_ms);
  bool AppendNetns(const act::NetnsRef& netns, int64_t since_ms);

  act::Store* const actions_;
  Journal* const journal_;
  const StatsSaverOptions options_;
  const int64_t started_ms_;
  // The thread's own.
  int64_t last_save_ms_;
  uint64_t generation_bound_;
  std::atomic<uint64_t> saves_{0};

  absl::Mutex mutex_;
  absl::CondVar changed_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tcact::durable

#endif  // TCACT_SERVER_DURABLE_STATS_SAVER_H_
