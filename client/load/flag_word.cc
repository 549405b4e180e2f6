#include "client/load/flag_word.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"

namespace tcact::load {
namespace {

// What a value of the flag looks like. A text may be anything.
absl::string_view FormOf(const absl::CommandLineFlag& flag) {
  if (flag.IsOfType<bool>()) return "true or false";
  if (flag.IsOfType<absl::Duration>()) return "a time with its unit, such as 500ms or 10s";
  if (flag.IsOfType<double>()) return "a number";
  if (flag.IsOfType<int>()) return "a whole number up to 2147483647";
  return "a whole number";
}

}  // namespace

absl::Status SetFlag(absl::string_view word, const std::vector<std::string>& allowed) {
  absl::string_view rest = word;
  if (!absl::ConsumePrefix(&rest, "--")) {
    return absl::InvalidArgumentError(absl::StrCat("\"", word, "\" is no flag"));
  }
  const std::pair<std::string, std::string> parts = absl::StrSplit(rest, absl::MaxSplits('=', 1));
  const std::string name = absl::StrReplaceAll(parts.first, {{"-", "_"}});
  absl::CommandLineFlag* flag =
      absl::c_linear_search(allowed, name) ? absl::FindCommandLineFlag(name) : nullptr;
  if (flag == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("\"", word, "\" is no flag of this command"));
  }
  const bool has_value = absl::StrContains(rest, '=');
  if (!has_value && !flag->IsOfType<bool>()) {
    return absl::InvalidArgumentError(absl::StrCat("\"", word, "\" needs a value: ", word, "=…"));
  }
  std::string error;
  if (!flag->ParseFrom(has_value ? parts.second : "true", &error)) {
    return absl::InvalidArgumentError(absl::StrCat(word, " is not ", FormOf(*flag)));
  }
  return absl::OkStatus();
}

}  // namespace tcact::load
