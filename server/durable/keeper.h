// Keeper: everything that stands between an action store and a record store, put together: load,
// journal, statistics saver, request ids and sources. What a server is given to be durable.
//
// Thread safety: Start and Stop from one thread; the parts as they say.
#ifndef TCACT_SERVER_DURABLE_KEEPER_H_
#define TCACT_SERVER_DURABLE_KEEPER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/core/act/store.h"
#include "server/durable/journal.h"
#include "server/durable/load.h"
#include "server/durable/record_store.h"
#include "server/durable/replay_table.h"
#include "server/durable/source_table.h"
#include "server/durable/stats_saver.h"

namespace tcact::durable {

struct KeeperOptions {
  Level level = Level::kSync;
  // 10 ms to 1 hour.
  absl::Duration stats_interval = absl::Seconds(1);
  // A statistics update is answered when it is recorded, not only at the next save.
  bool stats_acked = false;
  // Refuses to load parameters that no kind understands. May be null.
  ParamsCheck valid_params;
};

class Keeper {
 public:
  // Loads everything into `actions`, which must be empty and outlive the keeper. Errors as
  // OpenFormat and Load.
  static absl::StatusOr<std::unique_ptr<Keeper>> Start(std::unique_ptr<RecordStore> store,
                                                       act::Store* actions,
                                                       const KeeperOptions& options);
  // Records what is appended, but does not save statistics: Stop does.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Saves statistics, records everything and closes the store. REQUIRES: nothing is changed any
  // more; called once.
  absl::Status Stop();

  Journal* journal() { return journal_.get(); }
  ReplayTable* replays() { return &replays_; }
  SourceTable* sources() { return &sources_; }
  RecordStore* store() { return store_.get(); }
  const KeeperOptions& options() const { return options_; }
  const Loaded& loaded() const { return loaded_; }

 private:
  Keeper(std::unique_ptr<RecordStore> store, act::Store* actions, const KeeperOptions& options);
  absl::Status Begin();
  void UndoLost(absl::Span<const Batch* const> lost);

  const KeeperOptions options_;
  act::Store* const actions_;
  std::unique_ptr<RecordStore> store_;
  Loaded loaded_;
  ReplayTable replays_;
  SourceTable sources_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<StatsSaver> saver_;
};

}  // namespace tcact::durable

#endif  // TCACT_SERVER_DURABLE_KEEPER_H_
