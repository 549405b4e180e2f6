// tcactd: puts the store behind the server, and ends both in order.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "server/core/act/store.h"
#include "server/durable/keeper.h"
#include "server/durable/rocksdb_record_store.h"
#include "server/flags.h"
#include "server/process.h"
#include "server/rpc/context.h"
#include "server/rpc/devices.h"
#include "server/rpc/server.h"
#include "spdlog/spdlog.h"

namespace tcact::server {
namespace {

act::StoreOptions StoreOptionsOf(const Flags& flags, const rpc::KindTable& kinds) {
  act::StoreOptions options;
  options.alloc_mode = flags.alloc_mode;
  options.kinds = kinds.Specs();
  options.max_netns = flags.max_namespaces;
  return options;
}

rpc::ServerOptions ServerOptionsOf(const Flags& flags) {
  rpc::ServerOptions options;
  options.listen = flags.listen;
  options.loops = flags.cq_threads;
  options.introspection = flags.introspection;
  return options;
}

// Logs once when nothing can be recorded any more.
class FailureLog final : public durable::Journal::Listener {
 public:
  explicit FailureLog(durable::Journal* journal) : journal_(journal) {
    journal_->AddListener(this);
  }
  ~FailureLog() { journal_->RemoveListener(this); }
  FailureLog(const FailureLog&) = delete;
  FailureLog& operator=(const FailureLog&) = delete;

  void OnProgress() override {
    if (!journal_->failed() || told_.exchange(true)) return;
    spdlog::critical(
        "READ-ONLY: a change could not be recorded: {}. What was not recorded is undone, reads go "
        "on, "
        "changes are refused. Make room or repair the disk, then restart tcactd",
        std::string(journal_->status().message()));
  }

 private:
  durable::Journal* const journal_;
  std::atomic<bool> told_{false};
};

// Null with --store=memory.
absl::StatusOr<std::unique_ptr<durable::Keeper>> StartKeeper(const Flags& flags,
                                                             const rpc::KindTable& kinds,
                                                             act::Store* store) {
  if (flags.store_directory.empty()) return std::unique_ptr<durable::Keeper>();
  const absl::Time begin = absl::Now();
  durable::RocksDbOptions rocksdb;
  rocksdb.directory = flags.store_directory;
  auto records = durable::OpenRocksDb(rocksdb);
  if (!records.ok()) return records.status();
  durable::KeeperOptions options;
  options.level = flags.durability;
  options.stats_interval = flags.stats_interval;
  options.stats_acked = flags.stats_acked;
  options.valid_params = [&kinds](act::Kind number, absl::string_view params) {
    const kinds::Kind* kind = kinds.Find(number);
    v1::Action action;
    return kind != nullptr && kind->Decode(params, &action);
  };
  auto keeper = durable::Keeper::Start(std::move(*records), store, options);
  if (!keeper.ok()) {
    return absl::Status(keeper.status().code(),
                        absl::StrCat(flags.store, ": ", keeper.status().message()));
  }
  const durable::Loaded& loaded = (*keeper)->loaded();
  spdlog::info("loaded {} actions in {} namespaces from {} in {} ms; durability {}", loaded.actions,
               loaded.namespaces, flags.store, absl::ToInt64Milliseconds(absl::Now() - begin),
               std::string(durable::LevelName(flags.durability)));
  return keeper;
}

int Run(const Flags& flags) {
  StartLog(flags.log_json, flags.log_level);
  HoldSignals();
  RaiseFileLimit();
  StopDeadlockSearch();

  const rpc::HostDevices host_devices;
  const rpc::KindTable kinds(flags.host_devices ? &host_devices : nullptr);
  act::Store store(StoreOptionsOf(flags, kinds));
  rpc::Context context;
  context.store = &store;
  context.kinds = &kinds;
  context.version = Version();
  context.store_name = flags.store;
  context.started = absl::Now();

  auto keeper = StartKeeper(flags, kinds, &store);
  if (!keeper.ok()) {
    spdlog::error("{}", std::string(keeper.status().message()));
    return 1;
  }
  std::optional<FailureLog> failure_log;
  if (*keeper != nullptr) {
    context.keeper = keeper->get();
    context.replays = context.keeper->replays();
    context.sources = context.keeper->sources();
    failure_log.emplace(context.keeper->journal());
  }

  auto server = rpc::Server::Start(ServerOptionsOf(flags), context);
  if (!server.ok()) {
    spdlog::error("{}", std::string(server.status().message()));
    return 1;
  }
  spdlog::info("tcactd {} serves on {}; store {}, action-alloc {}, kinds {}", Version(),
               absl::StrJoin((*server)->addresses(), ", "), flags.store,
               std::string(act::AllocModeName(flags.alloc_mode)),
               absl::StrJoin(kinds.Names(), ", "));
  const std::string signal = WaitForEnd();
  spdlog::info("{}: draining for at most {} s", signal, absl::ToInt64Seconds(flags.drain));
  (*server)->Shutdown(flags.drain);
  const uint64_t calls = (*server)->calls();
  server->reset();  // it listens to the journal, which ends next
  failure_log.reset();
  const absl::Status stopped = *keeper == nullptr ? absl::OkStatus() : (*keeper)->Stop();
  if (!stopped.ok()) spdlog::error("the last records: {}", std::string(stopped.message()));
  spdlog::info("ended after {} s: {} calls served, {} actions in {} namespaces left",
               absl::ToInt64Seconds(absl::Now() - context.started), calls, store.TotalActions(),
               store.NetnsCount());
  return stopped.ok() ? 0 : 1;
}

}  // namespace
}  // namespace tcact::server

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto flags = tcact::server::ParseFlags(argc, argv, &exit_code);
  return flags ? tcact::server::Run(*flags) : exit_code;
}
