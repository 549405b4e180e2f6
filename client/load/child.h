// Child: a program that this one starts and surely ends.
#ifndef TCACT_CLIENT_LOAD_CHILD_H_
#define TCACT_CLIENT_LOAD_CHILD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tcact::load {

// Movable. Not thread-safe.
class Child {
 public:
  // Starts `path` with `args`; its output goes to the file `log`. An error: it could not be
  // started. The child is killed by the system when the thread that started it ends.
  static absl::StatusOr<Child> Start(const std::string& path, const std::vector<std::string>& args,
                                     const std::string& log);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  // SIGTERM, then, after five seconds, SIGKILL.
  ~Child();

  // False once the program has ended.
  bool running();

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_;  // -1: none
};

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_CHILD_H_
