#include "server/process.h"

#include <pthread.h>
#include <sys/resource.h>

#include <csignal>
#include <memory>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "grpc/support/log.h"
#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace tcact::server {
namespace {

sigset_t EndSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

// The message as the inside of a JSON string: "%j" in a pattern. spdlog's own "%v" escapes nothing.
class JsonMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    constexpr char kHex[] = "0123456789abcdef";
    for (const char c : message.payload) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out.push_back('\\');
        out.push_back(c);
      } else if (byte < 0x20) {
        const char escaped[] = {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 0xF]};
        out.append(escaped, escaped + sizeof(escaped));
      } else {
        out.push_back(c);
      }
    }
  }
  std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessage>();
  }
};

// gRPC's own remarks are about its insides; what matters of them is in the errors that it returns.
void LogForGrpc(gpr_log_func_args* args) { spdlog::debug("grpc: {}", args->message); }

}  // namespace

void HoldSignals() {
  const sigset_t set = EndSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

std::string WaitForEnd() {
  const sigset_t set = EndSignals();
  int signal = 0;
  while (sigwait(&set, &signal) != 0) {
  }
  return signal == SIGTERM ? "SIGTERM" : "SIGINT";
}

void StopDeadlockSearch() { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }

void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) spdlog::warn("cannot raise the limit of open files");
}

void StartLog(bool json, const std::string& level) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt("tcactd"));
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  if (json) {
    formatter->add_flag<JsonMessage>('j').set_pattern(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","program":"tcactd","message":"%j"})");
  } else {
    formatter->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v");
  }
  spdlog::set_formatter(std::move(formatter));
  spdlog::set_level(spdlog::level::from_str(level));
  spdlog::flush_on(spdlog::level::info);
  gpr_set_log_function(&LogForGrpc);
}

}  // namespace tcact::server
