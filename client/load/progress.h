// The line that tells a user that something happens.
#ifndef TCACT_CLIENT_LOAD_PROGRESS_H_
#define TCACT_CLIENT_LOAD_PROGRESS_H_

#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/load/engine.h"

namespace tcact::load {

// On a terminal one line that is rewritten; elsewhere (a log, a pipe) a line once in five seconds.
// Writes to stderr, so that the report on stdout stays clean. Not thread-safe.
class ProgressLine {
 public:
  explicit ProgressLine(std::FILE* out = stderr);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows a text, unless one was shown a moment ago.
  void Show(absl::string_view text);
  // Shows a run's progress with the rate since the last line.
  void Show(const Progress& progress);
  // Removes the line from a terminal.
  void Clear();

 private:
  bool Due() const;

  std::FILE* const out_;
  const bool terminal_;
  absl::Time last_ = absl::InfinitePast();
  absl::Duration last_elapsed_;
  uint64_t last_operations_ = 0;
  bool shown_ = false;
};

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_PROGRESS_H_
