// Server: ActionStore, Admin, health, reflection and channelz on their addresses.
//
// Model: a few loops (loop.h), each one completion queue and one thread; by default one, which
// measures fastest where clients share the machine. Long calls go to one worker thread.
//
// The end: health says NOT_SERVING, streams are told, nothing new is taken; unary calls in flight
// finish; what is not done by the deadline is cancelled.
#ifndef TCACT_SERVER_RPC_SERVER_H_
#define TCACT_SERVER_RPC_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/rpc/context.h"
#include "server/rpc/limits.h"

namespace tcact::rpc {

struct ServerOptions {
  // As listen.h says; at least one. Checked by the caller.
  std::vector<std::string> listen;
  // Completion queues, each with one thread. 1 to 64.
  int loops = 1;
  // channelz. Reflection is always there: gRPC's library adds it to every server of the process.
  bool introspection = true;
  // A stream whose reader takes nothing for so long is cancelled.
  absl::Duration stall = absl::Seconds(kStalledStreamSeconds);
};

// Thread safety: all methods, from one thread at a time.
class Server {
 public:
  // Serves when it returns. Errors name the address and why. `context` and what it points to must
  // outlive the server.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       const Context& context);
  // Shuts down without grace, if that was not done.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Where it listens, with the ports that were chosen.
  const std::vector<std::string>& addresses() const;

  // Waits at most about `drain` for calls to finish. Later calls do nothing.
  void Shutdown(absl::Duration drain);

  // RPCs that arrived since the start; reflection and channelz apart.
  uint64_t calls() const;

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_SERVER_H_
