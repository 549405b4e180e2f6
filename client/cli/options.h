// The command line of tcact: tc's options, in tc's style (one dash, any abbreviation), and ours.
//
// Thread safety: free functions without state.
#ifndef TCACT_CLIENT_CLI_OPTIONS_H_
#define TCACT_CLIENT_CLI_OPTIONS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/kinds/printer.h"

namespace tcact::cli {

inline constexpr char kVersion[] = "0.1.0";

struct Settings {
  kinds::PrintOptions print;
  // "" is the default namespace.
  std::string netns;
  // "host:port" or "unix:/path".
  std::string server;
  // Of each call.
  absl::Duration deadline = absl::Seconds(10);
  // Go on after a command of the batch that failed.
  bool force = false;
  // The file of commands; "-" is standard input. Absent: one command, that of the command line.
  std::optional<std::string> batch;
  bool help = false;
  // Help was asked for as output, not as tc shows it.
  bool help_is_output = false;
  bool version = false;
  // The words behind the options.
  std::vector<std::string> command;
};

// The environment's value, or nothing.
using Environment = std::function<std::optional<std::string>(const char* name)>;

// Reads the words after the program's name; TCACT_SERVER and TCACT_NETNS stand in for options that
// are not given. INVALID_ARGUMENT with a text for the user.
absl::StatusOr<Settings> ParseOptions(const std::vector<std::string>& words,
                                      const Environment& environment);

// A line of a help text: "-j[son]", and what it means.
struct HelpLine {
  absl::string_view what;
  absl::string_view text;
};

// The options that mean something here.
std::vector<HelpLine> OptionHelp();

// Whether the word ("-batch", "--server") is an option whose value is the next word.
bool TakesValue(absl::string_view word);

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_OPTIONS_H_
