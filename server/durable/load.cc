#include "server/durable/load.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/durable/records.h"

namespace tcact::durable {
namespace {

// Room between what is given out and what is recorded: at a million creates a second enough for 12
// days, while 63 bits last for millions of starts.
constexpr uint64_t kGenerationRoom = uint64_t{1} << 40;

absl::Status Damaged(absl::string_view key) {
  return absl::DataLossError(
      absl::StrCat(ShowKey(key),
                   ": the record is damaged, and the store was not loaded. Restore a backup (tcact "
                   "restore) into "
                   "a new directory, or find out with tcactd --check what can still be read"));
}

// Reads records into an action store, or only reads them.
class Loader {
 public:
  Loader(RecordStore* store, act::Store* actions, const ParamsCheck* valid, Loaded* loaded)
      : store_(store), actions_(actions), valid_(valid), loaded_(loaded) {}

  absl::Status AddNetns(absl::string_view key, absl::string_view value) {
    Reader reader(value);
    const uint64_t quota = reader.Varint();
    const absl::string_view name = key.substr(1);
    if (!reader.done() || !act::Store::ValidNetnsName(name)) return Damaged(key);
    ++loaded_->namespaces;
    names_.emplace(name);
    if (actions_ == nullptr) return absl::OkStatus();
    const act::Error error = actions_->SetQuota(name, quota);
    if (error.code == act::Errc::kTooManyNetns) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the store holds more namespaces than --max-namespaces=", actions_->options().max_netns,
          " allows; raise it"));
    }
    return error.ok() ? absl::OkStatus() : Damaged(key);
  }

  absl::Status AddAction(absl::string_view key, absl::string_view value) {
    ActionKey parsed;
    act::SavedAction saved;
    if (!ParseKey(key, &parsed) || !DecodeAction(value, &saved)) return Damaged(key);
    saved.spec.kind = parsed.kind;
    saved.spec.index = parsed.index;
    if (absl::Status status = Enter(key, parsed.netns); !status.ok()) return status;
    if (valid_ != nullptr && *valid_ != nullptr && !(*valid_)(parsed.kind, saved.spec.params)) {
      return absl::FailedPreconditionError(
          absl::StrCat(ShowKey(key),
                       ": this tcactd does not know the kind or its parameters; use the one that "
                       "wrote the store, or a newer one"));
    }
    ++loaded_->actions;
    max_generation_ = std::max(max_generation_, saved.generation);
    if (actions_ == nullptr) return absl::OkStatus();
    const act::Error error = actions_->Restore(netns_, saved);
    if (error.code == act::Errc::kNoMemory)
      return absl::ResourceExhaustedError("not enough memory to load the store");
    return error.ok() ? absl::OkStatus() : Damaged(key);
  }

  absl::Status AddStats(absl::string_view key, absl::string_view value) {
    ActionKey parsed;
    act::SavedStats saved;
    if (!ParseKey(key, &parsed) || !DecodeStats(value, &saved)) return Damaged(key);
    if (actions_ == nullptr) {
      ++loaded_->counters;
      return absl::OkStatus();
    }
    if (netns_name_ != parsed.netns || !netns_) {
      netns_ = actions_->FindNetns(parsed.netns);
      netns_name_ = std::string(parsed.netns);
    }
    const bool fits = netns_ && actions_->RestoreStats(netns_, parsed.kind, parsed.index, saved);
    ++(fits ? loaded_->counters : loaded_->stray_counters);
    return absl::OkStatus();
  }

  absl::Status ReadAll() {
    const auto scan = [this](const std::string& prefix, auto method) {
      return store_->Scan(prefix, [&](absl::string_view key, absl::string_view value) {
        return (this->*method)(key, value);
      });
    };
    absl::Status status = scan(std::string(1, kNetnsKey), &Loader::AddNetns);
    if (status.ok()) status = scan(std::string(1, kActionKey), &Loader::AddAction);
    if (status.ok()) status = scan(std::string(1, kStatsKey), &Loader::AddStats);
    return status;
  }

  absl::Status ReadNetns(absl::string_view name) {
    std::string quota;
    if (absl::Status status = store_->Get(NetnsKey(name), &quota); !status.ok()) return status;
    absl::Status status = AddNetns(NetnsKey(name), quota);
    const auto scan = [&](char type, auto method) {
      return store_->Scan(NetnsPrefix(type, name),
                          [&](absl::string_view key, absl::string_view value) {
                            return (this->*method)(key, value);
                          });
    };
    if (status.ok()) status = scan(kActionKey, &Loader::AddAction);
    if (status.ok()) status = scan(kStatsKey, &Loader::AddStats);
    return status;
  }

  uint64_t max_generation() const { return max_generation_; }

 private:
  // Goes on in the namespace `name`.
  absl::Status Enter(absl::string_view key, absl::string_view name) {
    if (entered_ && netns_name_ == name) return absl::OkStatus();
    if (names_.find(name) == names_.end()) return Damaged(key);
    netns_name_ = std::string(name);
    entered_ = true;
    if (actions_ != nullptr) netns_ = actions_->FindNetns(name);
    return absl::OkStatus();
  }

  RecordStore* const store_;
  act::Store* const actions_;
  const ParamsCheck* const valid_;
  Loaded* const loaded_;
  std::set<std::string, std::less<>> names_;
  std::string netns_name_;
  act::NetnsRef netns_;
  bool entered_ = false;
  uint64_t max_generation_ = 0;
};

// What a set of batches is about.
struct Touched {
  std::set<std::string, std::less<>> whole_netns;  // deleted
  std::set<std::string, std::less<>> netns;        // made, or its quota set
  std::set<std::string> actions;                   // keys, as "a"
  std::set<std::string> stats;                     // keys, as "a", whose counters were changed
};

Touched TouchedBy(absl::Span<const Batch* const> lost) {
  Touched touched;
  const auto note = [&touched](const Change& change) {
    const char type = change.key[0];
    if (type == kNetnsKey) {
      touched.netns.emplace(change.key.substr(1));
    } else if (type == kActionKey && change.type == ChangeType::kDeletePrefix) {
      touched.whole_netns.emplace(change.key.substr(1, change.key.size() - 2));
    } else if ((type == kActionKey || type == kStatsKey) &&
               change.type != ChangeType::kDeletePrefix) {
      std::string key(change.key);
      key[0] = kActionKey;
      if (type == kStatsKey) touched.stats.insert(key);
      touched.actions.insert(std::move(key));
    }
  };
  for (const Batch* batch : lost) batch->ForEach(note);
  return touched;
}

void UndoNetns(const Touched& touched, RecordStore* store, act::Store* actions) {
  uint64_t ignored = 0;
  for (const std::string& name : touched.whole_netns) {
    (void)actions->DeleteNetns(name, &ignored);
    Loaded loaded;
    (void)Loader(store, actions, nullptr, &loaded).ReadNetns(name);
  }
  for (const std::string& name : touched.netns) {
    if (touched.whole_netns.count(name) != 0) continue;
    std::string value;
    const absl::Status status = store->Get(NetnsKey(name), &value);
    if (status.ok()) {
      (void)actions->SetQuota(name, Reader(value).Varint());
    } else if (absl::IsNotFound(status)) {
      (void)actions->DeleteNetns(name, &ignored);
    }
  }
}

void UndoAction(const std::string& key, bool stats_changed, RecordStore* store,
                act::Store* actions) {
  ActionKey parsed;
  std::string value;
  act::SavedAction saved;
  if (!ParseKey(key, &parsed)) return;
  const act::NetnsRef netns = actions->FindNetns(parsed.netns);
  if (!netns) return;
  const absl::Status status = store->Get(key, &value);
  if (!status.ok() && !absl::IsNotFound(status)) return;
  act::Snapshot now;
  const bool lives = actions->Get(netns, parsed.kind, parsed.index, act::kWithCounters, &now).ok();
  actions->Remove(netns, parsed.kind, parsed.index);
  if (!status.ok() || !DecodeAction(value, &saved)) return;
  saved.spec.kind = parsed.kind;
  saved.spec.index = parsed.index;
  if (!actions->Restore(netns, saved).ok()) return;
  act::SavedStats stats;
  std::string stats_key = key;
  stats_key[0] = kStatsKey;
  if (lives && now.generation == saved.generation && !stats_changed) {
    stats = {now.generation, now.last_used_ms, now.first_used_ms, now.counters};
  } else if (!store->Get(stats_key, &value).ok() || !DecodeStats(value, &stats)) {
    return;
  }
  (void)actions->RestoreStats(netns, parsed.kind, parsed.index, stats);
}

}  // namespace

absl::Status Load(RecordStore* store, act::Store* actions, const ParamsCheck& valid,
                  Loaded* loaded) {
  Loader loader(store, actions, &valid, loaded);
  if (absl::Status status = loader.ReadAll(); !status.ok()) return status;
  std::string value;
  const absl::string_view key(&kGenerationKey, 1);
  const absl::Status status = store->Get(key, &value);
  if (absl::IsNotFound(status) && loaded->actions == 0) return absl::OkStatus();
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  Reader reader(value);
  const uint64_t bound = reader.Fixed64();
  if (!reader.done() || bound <= loader.max_generation()) return Damaged(key);
  if (actions != nullptr) act::Store::RaiseGenerations(bound);
  return absl::OkStatus();
}

void ReserveGenerations(uint64_t* bound, Batch* batch) {
  const uint64_t given = act::Store::GenerationBound();
  if (*bound != 0 && given + kGenerationRoom / 2 < *bound) return;
  *bound = given + kGenerationRoom;
  RecordGenerationBound(*bound, batch);
}

void Undo(absl::Span<const Batch* const> lost, RecordStore* store, act::Store* actions) {
  const Touched touched = TouchedBy(lost);
  UndoNetns(touched, store, actions);
  for (const std::string& key : touched.actions) {
    ActionKey parsed;
    if (ParseKey(key, &parsed) && touched.whole_netns.count(parsed.netns) == 0)
      UndoAction(key, touched.stats.count(key) != 0, store, actions);
  }
}

}  // namespace tcact::durable
