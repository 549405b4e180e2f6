#include "client/load/progress.h"

#include <unistd.h>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace tcact::load {
namespace {

constexpr absl::Duration kTerminalGap = absl::Milliseconds(500);
constexpr absl::Duration kLogGap = absl::Seconds(5);

absl::string_view PhaseName(Progress::Phase phase) {
  switch (phase) {
    case Progress::Phase::kWarmup:
      return "warm-up";
    case Progress::Phase::kMeasureBegins:
    case Progress::Phase::kMeasure:
    case Progress::Phase::kMeasureEnds:
      return "measuring";
    case Progress::Phase::kDrain:
      return "finishing";
  }
  return "";
}

}  // namespace

ProgressLine::ProgressLine(std::FILE* out) : out_(out), terminal_(isatty(fileno(out)) == 1) {}

ProgressLine::~ProgressLine() { Clear(); }

bool ProgressLine::Due() const {
  return absl::Now() - last_ >= (terminal_ ? kTerminalGap : kLogGap);
}

void ProgressLine::Show(absl::string_view text) {
  if (!Due()) return;
  last_ = absl::Now();
  shown_ = true;
  // Return to the first column, write, erase what is left of a longer line before.
  if (terminal_) {
    absl::FPrintF(out_, "\r%s\x1b[K", text);
  } else {
    absl::FPrintF(out_, "%s\n", text);
  }
  std::fflush(out_);
}

void ProgressLine::Show(const Progress& progress) {
  if (!Due()) return;
  const double seconds = absl::ToDoubleSeconds(progress.elapsed - last_elapsed_);
  const double rate =
      seconds > 0 ? static_cast<double>(progress.operations - last_operations_) / seconds : 0;
  Show(absl::StrFormat("%6.1f s  %-9s  %12.0f operations/s  %d errors",
                       absl::ToDoubleSeconds(progress.elapsed), PhaseName(progress.phase), rate,
                       progress.errors));
  last_elapsed_ = progress.elapsed;
  last_operations_ = progress.operations;
}

void ProgressLine::Clear() {
  if (terminal_ && shown_) absl::FPrintF(out_, "\r\x1b[K");
  std::fflush(out_);
  shown_ = false;
}

}  // namespace tcact::load
