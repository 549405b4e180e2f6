#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "client/cli/command.h"

int main(int argc, char** argv) {
  // Debian's Abseil looks for deadlocks at every lock, gRPC's included; it is most of what they
  // cost.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  std::ios::sync_with_stdio(false);
  // cout is flushed where it matters: before each error.
  std::cin.tie(nullptr);
  const auto environment = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::make_optional<std::string>(value);
  };
  const int code =
      tcact::cli::Run({argv + 1, argv + argc}, environment, &std::cin, &std::cout, &std::cerr);
  if (!std::cout.flush()) {
    std::cerr << "Error: cannot write to standard output\n";
    return code == 0 ? 1 : code;
  }
  return code;
}
