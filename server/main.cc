// tcactd: puts the store behind the server, and ends both in order.
#include <memory>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "server/core/act/store.h"
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
  spdlog::info("ended after {} s: {} calls served, {} actions in {} namespaces left",
               absl::ToInt64Seconds(absl::Now() - context.started), (*server)->calls(),
               store.TotalActions(), store.NetnsCount());
  return 0;
}

}  // namespace
}  // namespace tcact::server

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto flags = tcact::server::ParseFlags(argc, argv, &exit_code);
  return flags ? tcact::server::Run(*flags) : exit_code;
}
