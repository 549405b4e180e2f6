#include "server/durable/journal.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "server/core/base/check.h"

namespace tcact::durable {
namespace {

// The writer begins by itself when so much waits.
constexpr size_t kEarlyBytes = size_t{1} << 20;

// The journal whose order lock this thread holds.
thread_local Journal* held = nullptr;

}  // namespace

Journal::Turn::Turn(Journal* journal) ABSL_NO_THREAD_SAFETY_ANALYSIS : journal_(journal),
                                                                       outer_(held) {
  TCACT_CHECK(outer_ == nullptr || outer_ == journal, "turns of two journals are not nested");
  if (outer_ == nullptr) {
    journal->order_.Lock();
    held = journal;
  }
  ok_ = !journal->failed_.load(std::memory_order_relaxed);
  // Before anything is changed: who sees the change then sees the ticket.
  if (ok_)
    journal->last_ticket_.store(journal->open_.load(std::memory_order_relaxed),
                                std::memory_order_seq_cst);
}

Journal::Turn::~Turn() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (outer_ != nullptr) return;
  const size_t before = journal_->pending_bytes_.load(std::memory_order_relaxed);
  const size_t bytes = journal_->pending_.bytes();
  const uint64_t open = journal_->open_.load(std::memory_order_relaxed);
  journal_->pending_bytes_.store(bytes, std::memory_order_relaxed);
  held = nullptr;
  journal_->order_.Unlock();
  if (before < kEarlyBytes && bytes >= kEarlyBytes) journal_->Want(open);
}

Journal::Journal(RecordStore* store, JournalOptions options)
    : store_(store), options_(std::move(options)), thread_([this] {
        pthread_setname_np(pthread_self(), "tcact-journal");
        Run();
      }) {}

Journal::~Journal() {
  {
    absl::MutexLock lock(&wake_mutex_);
    ending_ = true;
    wake_.Signal();
  }
  thread_.join();
}

uint64_t Journal::TicketOfAnswer(bool failed_before) const {
  // The order matters: a failure that comes after this look lowers no ticket that was read before.
  const uint64_t ticket = last_ticket_.load(std::memory_order_seq_cst);
  if (failed() != failed_before) return kLostTicket;
  if (options_.level == Level::kMemory &&
      pending_bytes_.load(std::memory_order_relaxed) < options_.max_backlog_bytes) {
    return 0;
  }
  return ticket;
}

Outcome Journal::OutcomeOf(uint64_t ticket) const {
  if (ticket <= recorded_.load(std::memory_order_acquire)) return Outcome::kRecorded;
  if (!failed()) return Outcome::kWaiting;
  // The failure came after the last success.
  return ticket <= recorded_.load(std::memory_order_acquire) ? Outcome::kRecorded : Outcome::kLost;
}

void Journal::Want(uint64_t ticket) {
  absl::MutexLock lock(&wake_mutex_);
  if (ticket <= wanted_ || ticket == kLostTicket) return;
  wanted_ = ticket;
  wake_.Signal();
}

absl::Status Journal::Flush() {
  const uint64_t ticket = last_ticket_.load(std::memory_order_seq_cst);
  Want(ticket);
  absl::MutexLock lock(&wake_mutex_);
  while (OutcomeOf(ticket) == Outcome::kWaiting) progress_.Wait(&wake_mutex_);
  return status_;
}

absl::Status Journal::status() const {
  absl::MutexLock lock(&wake_mutex_);
  return status_;
}

void Journal::AddListener(Listener* listener) {
  absl::MutexLock lock(&listeners_mutex_);
  listeners_.push_back(listener);
}

void Journal::RemoveListener(Listener* listener) {
  absl::MutexLock lock(&listeners_mutex_);
  listeners_.erase(std::remove(listeners_.begin(), listeners_.end(), listener), listeners_.end());
}

JournalStats Journal::stats() const {
  JournalStats stats;
  stats.commits = commits_.load(std::memory_order_relaxed);
  stats.records = records_.load(std::memory_order_relaxed);
  stats.bytes = bytes_.load(std::memory_order_relaxed);
  return stats;
}

void Journal::Run() {
  while (WaitForWork()) WriteBatch();
  WriteBatch();
}

bool Journal::WaitForWork() {
  absl::MutexLock lock(&wake_mutex_);
  const absl::Time until = absl::Now() + options_.lag;
  while (!ending_ && wanted_ < open_.load(std::memory_order_relaxed)) {
    if (!wake_.WaitWithDeadline(&wake_mutex_, until)) continue;
    break;
  }
  return !ending_;
}

void Journal::WriteBatch() {
  uint64_t ticket;
  {
    lock::CountedLock lock(&order_);
    if (failed_.load(std::memory_order_relaxed)) {
      // Nobody appends any more; the numbers go on so that WaitForWork sleeps.
      open_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    std::swap(pending_, writing_);
    pending_bytes_.store(0, std::memory_order_relaxed);
    ticket = open_.fetch_add(1, std::memory_order_relaxed);
  }
  writing_.Compact();
  if (!writing_.empty()) {
    if (absl::Status status = store_->Commit(writing_, options_.level); !status.ok())
      return Fail(status);
    commits_.fetch_add(1, std::memory_order_relaxed);
    records_.fetch_add(writing_.changes(), std::memory_order_relaxed);
    bytes_.fetch_add(writing_.bytes(), std::memory_order_relaxed);
    writing_.Clear();
  }
  recorded_.store(ticket, std::memory_order_release);
  Tell();
}

void Journal::Fail(const absl::Status& status) {
  {
    lock::CountedLock lock(&order_);
    const Batch* const lost[] = {&writing_, &pending_};
    // Within this thread, so that what undoes may use the store as a change does.
    if (options_.on_failure != nullptr) options_.on_failure(lost);
    writing_.Clear();
    pending_.Clear();
    pending_bytes_.store(0, std::memory_order_relaxed);
    {
      absl::MutexLock wake_lock(&wake_mutex_);
      status_ = status;
    }
    // In this order: who sees the lowered ticket sees the failure; see TicketOfAnswer.
    failed_.store(true, std::memory_order_seq_cst);
    last_ticket_.store(recorded_.load(std::memory_order_relaxed), std::memory_order_seq_cst);
  }
  Tell();
}

void Journal::Tell() {
  {
    absl::MutexLock lock(&wake_mutex_);
    progress_.SignalAll();
  }
  absl::MutexLock lock(&listeners_mutex_);
  for (Listener* listener : listeners_) listener->OnProgress();
}

}  // namespace tcact::durable
