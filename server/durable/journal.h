// Journal: the order of changes, the batch being filled, and the thread that commits it.
//
//   change:  Turn (lock) -> change memory -> append records -> end of turn
//   writer:  takes the batch, commits it with one sync for all of it, tells the listeners
//   answer:  made, then TicketOfAnswer(); goes out when Outcome(ticket) is kRecorded
//
// Invariants
//   - Records stand in batches in the order in which their turns ran; a batch is never cut inside
//     a turn.
//   - The last ticket is raised before a turn changes anything. So an answer that was made from a
//     change, its own or another's, has a ticket of at least that change's batch.
//   - recorded <= every batch number that is still being filled or written; it only grows.
//   - A failed commit fails the journal for good. Before the next turn can begin or the failure can
//     be seen, on_failure undid in memory what was not recorded.
//   - The writer works when somebody wants a ticket, when much waits, or after `lag`: never merely
//     because something was appended. So a request of many operations is one batch.
//
// Lock order: the order lock ("journal_order", held by turns) comes before every lock of the action
// store and before the journal's own wake lock.
//
// Thread safety: all methods, from any thread, except where it says so.
#ifndef TCACT_SERVER_DURABLE_JOURNAL_H_
#define TCACT_SERVER_DURABLE_JOURNAL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/lock/counted_mutex.h"
#include "server/durable/record_store.h"

namespace tcact::durable {

enum class Outcome : uint8_t { kRecorded, kWaiting, kLost };

struct JournalOptions {
  Level level = Level::kSync;
  // Longest time that an appended record waits though nobody wants it.
  absl::Duration lag = absl::Seconds(1);
  // Answers wait at level kMemory too when so much is not yet written.
  size_t max_backlog_bytes = size_t{64} << 20;
  // Undoes in memory what these batches, in this order, brought. Called at most once, with the
  // order lock held, on the journal's thread. May be null.
  std::function<void(absl::Span<const Batch* const> lost)> on_failure;
};

struct JournalStats {
  uint64_t commits = 0;  // that wrote something
  uint64_t records = 0;
  uint64_t bytes = 0;
};

class Journal {
 public:
  // Told on the journal's thread whenever an outcome may have changed. Must be quick.
  class Listener {
   public:
    virtual void OnProgress() = 0;

   protected:
    ~Listener() = default;
  };

  // The right to change memory and to append. Turns of one thread may be nested: the outer one
  // counts.
  class Turn {
   public:
    explicit Turn(Journal* journal);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // False: the journal has failed; nothing may be changed.
    bool ok() const { return ok_; }
    // Where to append. REQUIRES: ok().
    Batch* batch() const { return &journal_->pending_; }

   private:
    Journal* const journal_;
    Journal* const outer_;
    bool ok_ = false;
  };

  // `store` must outlive the journal and be used by it alone for commits.
  Journal(RecordStore* store, JournalOptions options);
  // Writes what is left. REQUIRES: no turn runs or begins, no listener.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // The ticket of an answer that has just been made. `failed_before`: what failed() said before it
  // was begun; an answer made across a failure is lost.
  uint64_t TicketOfAnswer(bool failed_before) const;
  Outcome OutcomeOf(uint64_t ticket) const;
  // Has the writer work on it without delay.
  void Want(uint64_t ticket);
  // Waits until everything appended so far is recorded. The failure, if there is one. REQUIRES: not
  // within a turn.
  absl::Status Flush();

  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // OK, or why it failed.
  absl::Status status() const;

  void AddListener(Listener* listener);
  // When it returns the listener is not called any more.
  void RemoveListener(Listener* listener);

  Level level() const { return options_.level; }
  JournalStats stats() const;

 private:
  static constexpr uint64_t kLostTicket = UINT64_MAX;

  void Run();
  // False at the end.
  bool WaitForWork();
  void WriteBatch();
  void Fail(const absl::Status& status);
  void Tell();

  RecordStore* const store_;
  const JournalOptions options_;

  lock::CountedMutex order_{"journal_order"};
  // Guarded by order_: the records of the batch open_.
  Batch pending_;
  std::atomic<size_t> pending_bytes_{0};
  // The batch being written; the writer's own.
  Batch writing_;
  std::atomic<uint64_t> open_{1};
  std::atomic<uint64_t> last_ticket_{0};
  std::atomic<uint64_t> recorded_{0};
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> commits_{0};
  std::atomic<uint64_t> records_{0};
  std::atomic<uint64_t> bytes_{0};

  mutable absl::Mutex wake_mutex_;
  absl::CondVar wake_;
  absl::CondVar progress_;
  uint64_t wanted_ ABSL_GUARDED_BY(wake_mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(wake_mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(wake_mutex_);

  absl::Mutex listeners_mutex_;
  std::vector<Listener*> listeners_ ABSL_GUARDED_BY(listeners_mutex_);

  std::thread thread_;
};

}  // namespace tcact::durable

#endif  // TCACT_SERVER_DURABLE_JOURNAL_H_
