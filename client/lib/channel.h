// Addresses and channels: how a client reaches a server.
//
// Thread safety: free functions without state; channels are thread-safe.
#ifndef TCACT_CLIENT_LIB_CHANNEL_H_
#define TCACT_CLIENT_LIB_CHANNEL_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/channel.h"

namespace tcact::client {

inline constexpr char kDefaultAddress[] = "127.0.0.1:9341";
// 1 KiB to 1 GiB may be asked for; a full UpdateStats of 1,000,000 entries fits in the default.
inline constexpr int kDefaultMaxMessageBytes = 64 << 20;

struct ChannelOptions {
  // "host:port" ("[v6]:port", port 1 to 65535) or "unix:/path" (1 to 107 bytes of path).
  std::string address = kDefaultAddress;
  // Largest message in either direction.
  int max_message_bytes = kDefaultMaxMessageBytes;
  // A connection that no other channel of this process shares. Without it gRPC lets channels to one
  // address share one.
  bool own_connection = false;
};

// INVALID_ARGUMENT that names the address and what is wrong with it.
absl::Status CheckAddress(absl::string_view address);

// Connects lazily: a server that is absent shows in the first call. INVALID_ARGUMENT on options
// outside their ranges.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const ChannelOptions& options);

}  // namespace tcact::client

#endif  // TCACT_CLIENT_LIB_CHANNEL_H_
