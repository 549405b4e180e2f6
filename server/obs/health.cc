#include "server/obs/health.h"

namespace tcact::obs {

ServingStatus Health::StatusOf(absl::string_view service) const {
  if (!service.empty() && service != "tcact.v1.ActionStore" && service != "tcact.v1.Admin") {
    return ServingStatus::kUnknownService;
  }
  return serving_.load(std::memory_order_acquire) ? ServingStatus::kServing
                                                  : ServingStatus::kNotServing;
}

}  // namespace tcact::obs
