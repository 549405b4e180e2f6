// Listening addresses: "127.0.0.1:9341", "[::1]:9341", "localhost:9341",
// "unix:/run/tcact/tcactd.sock".
#ifndef TCACT_SERVER_RPC_LISTEN_H_
#define TCACT_SERVER_RPC_LISTEN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tcact::rpc {

// INVALID_ARGUMENT, with the reason, if `address` is none of the forms above. A TCP port may be 0
// (any free one). Unless `any_interface`, TCP must be on a loopback address: the protocol is plain
// text and knows no users.
absl::Status CheckListenAddress(absl::string_view address, bool any_interface);

// Makes way: a socket file that a dead server left is removed. ALREADY_EXISTS if a server answers
// there, or if the path is something else than a socket. Does nothing for TCP.
absl::Status PrepareListenAddress(const std::string& address);

// Why listening on `address` fails right now ("Address already in use"); empty if it does not.
std::string WhyListenFails(const std::string& address);

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_LISTEN_H_
