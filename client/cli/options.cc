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
  // For the help; options without it are another's second name, or do nothing here.
  absl::string_view shown = {};
  absl::string_view help = {};
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

// tc's -color has a value behind "=", or none.
bool IsColorMode(absl::string_view value) {
  return value == "always" || value == "auto" || value == "never";
}

// In tc's order, since the first that an abbreviation fits is the one that is meant: -b is -batch,
// -n -netns, -c -cf.
constexpr Option kOptions[] = {
    {"stats", [](Settings* s) { s->print.stats = true; }},
    {"statistics", [](Settings* s) { s->print.stats = true; }, nullptr, "-s[tatistics]",
     "counters and times too"},
    {"details", [](Settings* s) { s->print.details = true; }, nullptr, "-d[etails]",
     "more of the parameters"},
    {"raw", [](Settings* s) { s->print.raw = true; }, nullptr, "-r[aw]",
     "numbers as they are kept"},
    {"pretty", [](Settings* s) { s->print.pretty = true; }, nullptr, "-p[retty]",
     "JSON over several lines"},
    {"graph", [](Settings*) {}},
    {"Version", [](Settings* s) { s->version = true; }, nullptr, "-V[ersion]", "the version"},
    {"version", [](Settings* s) { s->version = true; }},
    {"iec", [](Settings* s) { s->print.iec = true; }, nullptr, "-i[ec]", "rates in units of 1024"},
    {"help", [](Settings* s) { s->help = true; }, nullptr, "-h[elp]", "this text"},
    {"force", [](Settings* s) { s->force = true; }, nullptr, "-f[orce]",
     "go on with a batch after a line that failed"},
    {"batch", nullptr,
     [](const std::string& value, Settings* s) {
       s->batch = value;
       return absl::OkStatus();
     },
     "-b[atch] FILE", "commands from FILE, a line each; - is standard input"},
    {"netns", nullptr, [](const std::string& value, Settings* s) { return Take(value, &s->netns); },
     "-n[etns] NAME", "namespace (else TCACT_NETNS, else the default one)"},
    // Of what they ask for nothing is printed here: names of classes, colours, times of events.
    {"Numeric", [](Settings*) {}},
    {"names", [](Settings*) {}},
    {"nm", [](Settings*) {}},
    {"cf", nullptr, [](const std::string&, Settings*) { return absl::OkStatus(); }},
    {"conf", nullptr, [](const std::string&, Settings*) { return absl::OkStatus(); }},
    {"color", [](Settings*) {}},
    {"timestamp", [](Settings*) {}},
    {"tshort", [](Settings*) {}},
    {"json", [](Settings* s) { s->print.json = true; }, nullptr, "-j[son]",
     "JSON, for all commands"},
    {"oneline", [](Settings* s) { s->print.oneline = true; }, nullptr, "-o[neline]",
     "a backslash for each line end"},
    {"brief", [](Settings* s) { s->print.brief = true; }, nullptr, "-br[ief]",
     "kind, index and cookie only"},
    {"echo", [](Settings*) {}},
    // Ours.
    {"server", nullptr,
     [](const std::string& value, Settings* s) { return Take(value, &s->server); },
     "--server ADDRESS", "host:port or unix:/path (else TCACT_SERVER, else 127.0.0.1:9341)"},
    {"deadline", nullptr, TakeDeadline, "--deadline TIME", "of each call, such as 500ms (10s)"},
};

// Ours must be spelled out: -s and -d are tc's. So must echo in tc.
bool IsExact(absl::string_view name) {
  return name == "server" || name == "deadline" || name == "echo";
}

// `name` has no dashes and no value. Null if there is none.
const Option* Find(absl::string_view name) {
  for (const Option& option : kOptions) {
    if (IsExact(option.name) ? name == option.name : Abbreviates(name, option.name)) return &option;
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
    if (value.has_value() && (option->name != "color" || !IsColorMode(*value))) {
      return Unknown(word);
    }
    option->set(settings);
    // As with other programs, --help is output; tc's -help goes where its errors go.
    if (option->name == "help") settings->help_is_output = absl::StartsWith(word, "--");
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

std::vector<HelpLine> OptionHelp() {
  std::vector<HelpLine> lines;
  for (const Option& option : kOptions) {
    if (!option.shown.empty()) lines.push_back({option.shown, option.help});
  }
  return lines;
}

bool TakesValue(absl::string_view word) {
  const absl::string_view name = word.substr(absl::StartsWith(word, "--") ? 2 : 1);
  const Option* option = Find(name);
  return option != nullptr && option->take != nullptr;
}

}  // namespace tcact::cli
