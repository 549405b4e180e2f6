// What every handler works on. Made once by main, immutable, outlives all calls.
#ifndef TCACT_SERVER_RPC_CONTEXT_H_
#define TCACT_SERVER_RPC_CONTEXT_H_

#include <string>

#include "absl/time/time.h"
#include "server/core/act/store.h"
#include "server/obs/health.h"
#include "server/rpc/convert.h"

namespace tcact::rpc {

struct Context {
  act::Store* store = nullptr;
  const KindTable* kinds = nullptr;
  // The server fills it in.
  const obs::Health* health = nullptr;
  // For GetServerInfo.
  std::string version;
  std::string store_name;  // "memory"
  absl::Time started;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_CONTEXT_H_
