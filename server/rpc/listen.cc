#include "server/rpc/listen.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tcact::rpc {
namespace {

constexpr absl::string_view kUnix = "unix:";

// A file descriptor that is closed at the end of its scope.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

// Host and port of "host:port" or "[host]:port"; both empty if it is neither.
std::pair<std::string, std::string> SplitHostPort(absl::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return {};
  absl::string_view host = address.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) {
    if (!absl::ConsumeSuffix(&host, "]")) return {};
  } else if (absl::StrContains(host, ':')) {
    return {};
  }
  return {std::string(host), std::string(address.substr(colon + 1))};
}

bool IsLoopback(absl::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  if (!absl::StartsWith(host, "127.")) return false;
  // 127.evil.example is a name, not an address.
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return absl::ascii_isdigit(c) || c == '.'; });
}

bool FillUnixAddress(const std::string& path, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  if (path.size() >= sizeof(address->sun_path)) return false;
  std::memcpy(address->sun_path, path.data(), path.size());
  return true;
}

absl::Status Invalid(absl::string_view address, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("\"", address, "\": ", why));
}

}  // namespace

absl::Status CheckListenAddress(absl::string_view address, bool any_interface) {
  absl::string_view path = address;
  if (absl::ConsumePrefix(&path, kUnix)) {
    sockaddr_un ignored;
    if (path.empty() || path[0] != '/')
      return Invalid(address, "a unix socket is named by an absolute path");
    if (!FillUnixAddress(std::string(path), &ignored)) {
      return Invalid(address, absl::StrCat(path.size(), " bytes of path; at most 107"));
    }
    return absl::OkStatus();
  }
  const auto [host, port_text] = SplitHostPort(address);
  int port = 0;
  if (host.empty()) return Invalid(address, "neither HOST:PORT, [IPV6]:PORT nor unix:/PATH");
  if (!absl::SimpleAtoi(port_text, &port) || port < 0 || port > 65535) {
    return Invalid(address, absl::StrCat("port \"", port_text, "\"; 0 to 65535 are allowed"));
  }
  if (!any_interface && !IsLoopback(host)) {
    return Invalid(address,
                   "not a loopback address; plain TCP beyond this machine needs --insecure-listen");
  }
  return absl::OkStatus();
}

absl::Status PrepareListenAddress(const std::string& address) {
  absl::string_view path_view = address;
  if (!absl::ConsumePrefix(&path_view, kUnix)) return absl::OkStatus();
  const std::string path(path_view);
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (!S_ISSOCK(info.st_mode)) {
    return absl::AlreadyExistsError(absl::StrCat(path, " exists and is not a socket"));
  }
  sockaddr_un socket_address;
  FillUnixAddress(path, &socket_address);
  const Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&socket_address),
              sizeof(socket_address)) == 0) {
    return absl::AlreadyExistsError(absl::StrCat("a server is listening on ", path, " already"));
  }
  if (errno == ECONNREFUSED) unlink(path.c_str());
  return absl::OkStatus();
}

std::string WhyListenFails(const std::string& address) {
  absl::string_view path = address;
  if (absl::ConsumePrefix(&path, kUnix)) {
    sockaddr_un socket_address;
    FillUnixAddress(std::string(path), &socket_address);
    const Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&socket_address),
             sizeof(socket_address)) != 0) {
      return std::strerror(errno);
    }
    unlink(socket_address.sun_path);
    return "";
  }
  const auto [host, port] = SplitHostPort(address);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    return gai_strerror(error);
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  const Fd fd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0) return std::strerror(errno);
  if (listen(fd.get(), 1) != 0) return std::strerror(errno);
  return "";
}

}  // namespace tcact::rpc
