#include "client/cli/options.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/lib/channel.h"
#include "proto/kinds/words.h"

namespace tcact::cli {
namespace {

using kinds::Abbreviates;

struct Option {
  // Without dashes.
  absl::string_view name;
  // Exactly one of the two is set.
  void (*set)(Settings* settings) = nullptr;
  absl::Status (*take)(const std::string& value, Settings* settings) = nullptr;
};

absl::Status Take(const std::string& value, std::string* out) {
  *out = value;
  return absl::OkStatus();
}

absl::Status TakeDeadline(const std::string& value, Settings* settings) {
  absl::Duration deadline;
  if (!absl::ParseDuration(value, &deadline) || deadline <= absl::ZeroDuration() ||
      deadline > absl::Hours(24)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "deadline \"", value, "\" is wrong; a time such as 500ms or 10s, up to 24h, is allowed"));
  }
  settings->deadline = deadline;
  return absl::OkStatus();
}

// In tc's order, since the first that an abbreviation fits is the one that is meant: -b is -batch,
// -n -netns, -c a colour.
constexpr Option kOptions[] = {
    {"stats", [](Settings* s) { s->print.stats = true; }},
    {"statistics", [](Settings* s) { s->print.stats = true; }},
    {"details", [](Settings* s) { s->print.details = true; }},
    {"raw", [](Settings* s) { s->print.raw = true; }},
    {"pretty", [](Settings* s) { s->print.pretty = true; }},
    {"Version", [](Settings* s) { s->version = true; }},
    {"version", [](Settings* s) { s->version = true; }},
    {"help", [](Settings* s) { s->help = true; }},
    {"force", [](Settings* s) { s->force = true; }},
    {"batch", nullptr,
     [](const std::string& value, Settings* s) {
       s->batch = value;
       return absl::OkStatus();
     }},
    {"netns", nullptr,
     [](const std::string& value, Settings* s) { return Take(value, &s->netns); }},
    // Of what they ask for nothing is printed here: names of classes, colours.
    {"Numeric", [](Settings*) {}},
    {"names", [](Settings*) {}},
    {"nm", [](Settings*) {}},
    {"color", [](Settings*) {}},
    {"json", [](Settings* s) { s->print.json = true; }},
    {"oneline", [](Settings* s) { s->print.oneline = true; }},
    {"brief", [](Settings* s) { s->print.brief = true; }},
    // Ours.
    {"server", nullptr,
     [](const std::string& value, Settings* s) { return Take(value, &s->server); }},
    {"deadline", nullptr, TakeDeadline},
};

// Ours must be spelled out: -s and -d are tc's.
bool IsOurs(absl::string_view name) { return name == "server" || name == "deadline"; }

// `name` has no dashes and no value. Null if there is none.
const Option* Find(absl::string_view name) {
  for (const Option& option : kOptions) {
    if (IsOurs(option.name) ? name == option.name : Abbreviates(name, option.name)) return &option;
  }
  return nullptr;
}

absl::Status Unknown(absl::string_view word) {
  return absl::InvalidArgumentError(
      absl::StrCat("Option \"", word, "\" is unknown, try \"tcact -help\"."));
}

// Reads the option words[*at], and its value; *at goes to the last word of it.
absl::Status ReadOption(const std::vector<std::string>& words, size_t* at, Settings* settings) {
  const absl::string_view word = words[*at];
  // "--name=value" and "--name value" work beside tc's one dash.
  absl::string_view name = word.substr(absl::StartsWith(word, "--") ? 2 : 1);
  std::optional<std::string> value;
  if (const size_t equals = name.find('='); equals != absl::string_view::npos) {
    value = std::string(name.substr(equals + 1));
    name = name.substr(0, equals);
  }
  const Option* option = Find(name);
  if (option == nullptr) return Unknown(word);
  if (option->set != nullptr) {
    if (value.has_value()) return Unknown(word);
    option->set(settings);
    return absl::OkStatus();
  }
  if (!value.has_value()) {
    if (*at + 1 >= words.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Error: argument \"", option->name, "\" is required"));
    }
    value = words[++*at];
  }
  return option->take(*value, settings);
}

}  // namespace

absl::StatusOr<Settings> ParseOptions(const std::vector<std::string>& words,
                                      const Environment& environment) {
  Settings settings;
  settings.server = environment("TCACT_SERVER").value_or("");
  settings.netns = environment("TCACT_NETNS").value_or("");
  size_t at = 0;
  for (; at < words.size() && absl::StartsWith(words[at], "-"); ++at) {
    absl::Status status = ReadOption(words, &at, &settings);
    if (!status.ok()) return status;
  }
  if (settings.server.empty()) settings.server = client::kDefaultAddress;
  settings.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return settings;
}

std::string Usage() {
  return absl::StrCat(
      R"(tcact - traffic-control actions of a tcactd, with tc's commands

Usage: tcact [OPTIONS] COMMAND
       tcact [OPTIONS] [-force] -batch FILE

As in tc (and abbreviated as in tc):
  actions add ACTION...               create; the index is chosen unless given
  actions change|replace ACTION...    change, or create what is absent
  actions get|delete KEY...           KEY: action KIND index INDEX
  actions ls action KIND [since MS]   list; only those used in the last MS milliseconds
  actions flush action KIND           delete all that are not bound
                                      ACTION: action KIND PARAMS [index INDEX] [cookie HEX]
                                        [hw_stats immediate|delayed|disabled] [no_percpu] [skip_hw]
                                      `actions add action KIND help` tells a kind's PARAMS
Beyond tc:
  bind ACTION...                      take a reference, as a filter does; creates what is absent
  unbind KEY...                       give one back
  stats add KEY COUNTER N...          add to counters: bytes packets drops overlimits requeues
                                        qlen backlog; `hw`: hardware counted them
  stats reset KEY...                  set all counters to 0
  slabinfo                            the server's slab caches and per-CPU memory
  lockstat [reset]                    its locks: how often taken, how long waited for
  netns [ls | del NAME | quota NAME N]
                                      namespaces; N: most actions it may hold, 0: any number
  health                              whether the server serves
  help                                this text

Options:
  -s[tatistics] -d[etails] -r[aw] -br[ief] -o[neline]   what to print
  -j[son] -p[retty]     JSON, for all commands; pretty: over several lines
  -n[etns] NAME         namespace                        (TCACT_NETNS; else the default one)
  -b[atch] FILE         commands from FILE, a line each; - is standard input
  -force                go on after a failed line
  --server ADDRESS      host:port or unix:/path          (TCACT_SERVER; else )",
      client::kDefaultAddress, R"()
  --deadline TIME       of each call, such as 500ms      (10s)
  -V[ersion] -h[elp]

Exit code: 0; 1: a batch or a flush failed, or the server does not answer; 255: any other failure.
)");
}

}  // namespace tcact::cli
