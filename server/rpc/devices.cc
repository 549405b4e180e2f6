#include "server/rpc/devices.h"

#include <net/if.h>

#include <string>

namespace tcact::rpc {

bool HostDevices::Has(absl::string_view name) const {
  return if_nametoindex(std::string(name).c_str()) != 0;
}

}  // namespace tcact::rpc
