// What every handler works on. Made once by main, immutable, outlives all calls.
#ifndef TCACT_SERVER_RPC_CONTEXT_H_
#define TCACT_SERVER_RPC_CONTEXT_H_

#include <string>

#include "absl/time/time.h"
#include "server/core/act/store.h"
#include "server/durable/keeper.h"
#include "server/obs/health.h"
#include "server/rpc/convert.h"

namespace tcact::rpc {

struct Context {
  act::Store* store = nullptr;
  const KindTable* kinds = nullptr;
  // The server fills it in.
  const obs::Health* health = nullptr;
  // Null: nothing is recorded.
  durable::Keeper* keeper = nullptr;
  // The keeper's, or a server's own. Filled by the server where null.
  durable::ReplayTable* replays = nullptr;
  durable::SourceTable* sources = nullptr;
  // For GetServerInfo.
  std::string version;
  std::string store_name;  // "memory", "rocksdb:DIR"
  absl::Time started;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_CONTEXT_H_
