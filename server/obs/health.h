// Health: whether the server serves, as grpc.health.v1 tells it.
//
// The server has one state for all of its services, and for itself (the empty name).
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

  // `service`: a full name, "" for the server as a whole.
  ServingStatus StatusOf(absl::string_view service) const;

 private:
  std::atomic<bool> serving_{false};
};

}  // namespace tcact::obs

#endif  // TCACT_SERVER_OBS_HEALTH_H_
