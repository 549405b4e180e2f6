#include "server/obs/health.h"

namespace tcact::obs {

ServingStatus Health::StatusOf(absl::string_view service) const {
  const bool admin = service == "tcact.v1.Admin";
  if (!service.empty() && service != "tcact.v1.ActionStore" && !admin) {
    return ServingStatus::kUnknownService;
  }
  const bool read_only = read_only_.load(std::memory_order_acquire) && !admin;
  return serving_.load(std::memory_order_acquire) && !read_only ? ServingStatus::kServing
                                                                : ServingStatus::kNotServing;
}

}  // namespace tcact::obs
