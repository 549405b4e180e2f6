#include "client/lib/channel.h"

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "grpc/grpc.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"

namespace tcact::client {
namespace {

constexpr int kMinMessageBytes = 1 << 10;
constexpr int kMaxMessageBytes = 1 << 30;
// sockaddr_un::sun_path less its final zero.
constexpr size_t kMaxUnixPath = 107;

// A server that was restarted is found again soon: gRPC's own default waits a second and more.
constexpr int kMinReconnectMs = 50;
constexpr int kMaxReconnectMs = 2000;

absl::Status BadAddress(absl::string_view address, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("address \"", address, "\": ", why, "; expected host:port or unix:/path"));
}

}  // namespace

absl::Status CheckAddress(absl::string_view address) {
  absl::string_view path = address;
  if (absl::ConsumePrefix(&path, "unix:")) {
    if (path.empty()) return BadAddress(address, "the path is empty");
    if (path.size() > kMaxUnixPath) {
      return BadAddress(address, absl::StrCat("the path has ", path.size(), " bytes, at most ",
                                              kMaxUnixPath, " are possible"));
    }
    return absl::OkStatus();
  }
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return BadAddress(address, "no port");
  const absl::string_view host = address.substr(0, colon);
  const absl::string_view port = address.substr(colon + 1);
  if (host.empty()) return BadAddress(address, "no host");
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (absl::StrContains(host, ':') && !bracketed) {
    return BadAddress(address, "an IPv6 address needs brackets");
  }
  if (absl::StrContains(host, '/')) return BadAddress(address, "a host has no \"/\"");
  uint32_t number = 0;
  if (!absl::SimpleAtoi(port, &number) || number < 1 || number > 65535) {
    return BadAddress(address, absl::StrCat("port \"", port, "\" is not in 1 to 65535"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const ChannelOptions& options) {
  absl::Status checked = CheckAddress(options.address);
  if (!checked.ok()) return checked;
  if (options.max_message_bytes < kMinMessageBytes ||
      options.max_message_bytes > kMaxMessageBytes) {
    return absl::InvalidArgumentError(absl::StrCat("max_message_bytes ", options.max_message_bytes,
                                                   " is not in ", kMinMessageBytes, " to ",
                                                   kMaxMessageBytes));
  }
  // For the life of the process: when gRPC's last user goes, it waits up to ten seconds for a
  // poller of its own, and a program that just ends should not.
  [[maybe_unused]] static const bool kept = (grpc_init(), true);
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(options.max_message_bytes);
  args.SetMaxSendMessageSize(options.max_message_bytes);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kMinReconnectMs);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kMinReconnectMs);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  // A proxy of the environment is meant for the web, not for a control plane next door.
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (options.own_connection) args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(options.address, grpc::InsecureChannelCredentials(), args);
}

}  // namespace tcact::client
