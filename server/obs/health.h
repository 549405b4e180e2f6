// Health: whether the server serves, as grpc.health.v1 tells it.
//
// All services, and the server itself (the empty name), have one state; but a server that takes no
// changes any more answers NOT_SERVING for ActionStore and for itself, so that balancers send
// changes elsewhere, while Admin goes on.
//
// Thread safety: thread-safe.
#ifndef TCACT_SERVER_OBS_HEALTH_H_
#define TCACT_SERVER_OBS_HEALTH_H_

#include <atomic>

#include "absl/strings/string_view.h"

namespace tcact::obs {

enum class ServingStatus { kServing, kNotServing, kUnknownService };

class Health {
 public:
  // NOT_SERVING until the first call.
  void SetServing(bool serving) { serving_.store(serving, std::memory_order_release); }
  // For good: until the process ends.
  void SetReadOnly() { read_only_.store(true, std::memory_order_release); }

  // `service`: a full name, "" for the server as a whole.
  ServingStatus StatusOf(absl::string_view service) const;

 private:
  std::atomic<bool> serving_{false};
  std::atomic<bool> read_only_{false};
};

}  // namespace tcact::obs

#endif  // TCACT_SERVER_OBS_HEALTH_H_
