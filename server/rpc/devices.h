// HostDevices: the network devices of the network namespace that the server runs in, for
// --devices=host.
//
// Asked anew for each action that names a device: devices come and go, and a cache would have to
// listen for that. It costs a system call or three.
//
// Thread safety: thread-safe.
#ifndef TCACT_SERVER_RPC_DEVICES_H_
#define TCACT_SERVER_RPC_DEVICES_H_

#include "absl/strings/string_view.h"
#include "proto/kinds/rule.h"

namespace tcact::rpc {

class HostDevices final : public kinds::Devices {
 public:
  bool Has(absl::string_view name) const override;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_DEVICES_H_
