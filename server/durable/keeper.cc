#include "server/durable/keeper.h"

#include <utility>

#include "absl/time/clock.h"
#include "server/durable/records.h"

namespace tcact::durable {

Keeper::Keeper(std::unique_ptr<RecordStore> store, act::Store* actions,
               const KeeperOptions& options)
    : options_(options), actions_(actions), store_(std::move(store)) {}

Keeper::~Keeper() {
  saver_.reset();
  journal_.reset();
}

absl::StatusOr<std::unique_ptr<Keeper>> Keeper::Start(std::unique_ptr<RecordStore> store,
                                                      act::Store* actions,
                                                      const KeeperOptions& options) {
  std::unique_ptr<Keeper> keeper(new Keeper(std::move(store), actions, options));
  if (absl::Status status = keeper->Begin(); !status.ok()) return status;
  return keeper;
}

absl::Status Keeper::Begin() {
  absl::Status status = OpenFormat(store_.get(), /*writable=*/true);
  if (status.ok()) status = Load(store_.get(), actions_, options_.valid_params, &loaded_);
  if (status.ok()) status = sources_.Load(store_.get());
  Batch expired;
  if (status.ok()) status = replays_.Load(store_.get(), absl::ToUnixMillis(absl::Now()), &expired);
  if (!status.ok()) return status;
  // Before the first change: a generation that is given out is below the recorded bound.
  uint64_t bound = 0;
  ReserveGenerations(&bound, &expired);
  status = store_->Commit(expired, Level::kSync);
  if (!status.ok()) return status;

  JournalOptions journal;
  journal.level = options_.level;
  journal.lag = options_.stats_interval;
  journal.on_failure = [this](absl::Span<const Batch* const> lost) { UndoLost(lost); };
  journal_ = std::make_unique<Journal>(store_.get(), std::move(journal));
  StatsSaverOptions saver;
  saver.interval = options_.stats_interval;
  saver.generation_bound = bound;
  saver.save_more = [this](Batch* batch) { sources_.SaveChanged(batch); };
  saver_ = std::make_unique<StatsSaver>(actions_, journal_.get(), std::move(saver));
  return absl::OkStatus();
}

void Keeper::UndoLost(absl::Span<const Batch* const> lost) {
  Undo(lost, store_.get(), actions_);
  for (const Batch* batch : lost) {
    batch->ForEach([this](const Change& change) {
      if (change.key[0] == kReplayKey) replays_.Undo(change);
      if (change.key[0] == kSourceKey) sources_.Undo(change, store_.get());
    });
  }
}

absl::Status Keeper::Stop() {
  const absl::Status saved = saver_->SaveAll();
  saver_.reset();
  journal_.reset();
  const absl::Status closed = store_->Close();
  return saved.ok() ? closed : saved;
}

}  // namespace tcact::durable
