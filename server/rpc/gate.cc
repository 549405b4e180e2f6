#include "server/rpc/gate.h"

#include <chrono>

#include "server/core/base/check.h"

namespace tcact::rpc {

using durable::Outcome;

Gate::Gate(durable::Journal* journal, grpc::CompletionQueue* queue)
    : journal_(journal), queue_(queue) {
  journal_->AddListener(this);
}

Gate::~Gate() {
  journal_->RemoveListener(this);
  absl::MutexLock lock(&mutex_);
  TCACT_CHECK(parked_.empty(), "a parked call is open, and its loop waits for it");
}

void Gate::Park(Parked* call, uint64_t ticket) {
  {
    absl::MutexLock lock(&mutex_);
    parked_.push_back({call, ticket});
    // Else the progress that comes after this look finds it parked.
    if (journal_->OutcomeOf(ticket) != Outcome::kWaiting) SetAlarm();
  }
  journal_->Want(ticket);
}

void Gate::OnProgress() {
  absl::MutexLock lock(&mutex_);
  if (!parked_.empty()) SetAlarm();
}

void Gate::SetAlarm() {
  if (alarm_set_) return;
  alarm_set_ = true;
  alarm_.Set(queue_, std::chrono::system_clock::now(), static_cast<Event*>(this));
}

void Gate::Run(bool) {
  {
    absl::MutexLock lock(&mutex_);
    alarm_set_ = false;
    size_t left = 0;
    for (const Entry& entry : parked_) {
      if (journal_->OutcomeOf(entry.ticket) == Outcome::kWaiting) {
        parked_[left++] = entry;
      } else {
        told_.push_back(entry);
      }
    }
    parked_.resize(left);
  }
  for (const Entry& entry : told_)
    entry.call->OnOutcome(journal_->OutcomeOf(entry.ticket) == Outcome::kRecorded);
  told_.clear();
}

}  // namespace tcact::rpc
