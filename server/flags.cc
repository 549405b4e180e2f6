#include "server/flags.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/rpc/listen.h"

ABSL_FLAG(std::vector<std::string>, listen, {"127.0.0.1:9341"},
          "Where to serve: HOST:PORT, [IPV6]:PORT or unix:/PATH, several with commas. Port 0: any "
          "free one.");
ABSL_FLAG(bool, insecure_listen, false, "Allow plain TCP on addresses other than loopback.");
ABSL_FLAG(int, cq_threads, 1,
          "Threads that serve, each with a completion queue of its own; 1 to 64.");
ABSL_FLAG(
    bool, introspection, true,
    "Serve channelz: gRPC's view of its connections and calls. Reflection, which describes the "
    "API, is served in any case.");
ABSL_FLAG(int, drain_seconds, 10,
          "At SIGTERM or SIGINT, wait so long for calls to finish; 0 to 3600.");
ABSL_FLAG(
    std::string, store, "memory",
    "Where actions are kept: memory (gone when the server ends), or rocksdb:DIR (a directory, made "
    "when absent).");
ABSL_FLAG(
    std::string, durability, "sync",
    "What an answered change survives: sync (a power cut), os (kill -9) or memory (nothing that "
    "came within the last --stats-interval). No meaning with --store=memory.");
ABSL_FLAG(std::string, stats_durability, "interval",
          "interval: a crash loses the statistics of the last --stats-interval. acked: an answered "
          "update is as durable as a change.");
ABSL_FLAG(absl::Duration, stats_interval, absl::Seconds(1),
          "How often statistics are saved; 10ms to 1h.");
ABSL_FLAG(std::string, action_alloc, "slab-merged",
          "Where an action's per-CPU counters come from: per-object, slab or slab-merged.");
ABSL_FLAG(int, max_namespaces, 65536, "Namespaces that may exist at once; 1 to 1000000.");
ABSL_FLAG(std::string, devices, "any",
          "Which devices an action may name: any (a valid name), or host (one that is there).");
ABSL_FLAG(std::string, log_format, "text", "text or json, one line an event, to standard error.");
ABSL_FLAG(std::string, log_level, "info", "debug, info, warn, error or off.");

namespace tcact::server {
namespace {

constexpr int kUsageError = 2;

struct Group {
  const char* title;
  std::vector<const char*> flags;
};

const std::vector<Group>& Groups() {
  static const auto* groups = new std::vector<Group>{
      {"Serving", {"listen", "insecure_listen", "cq_threads", "introspection", "drain_seconds"}},
      {"Store",
       {"store", "durability", "stats_durability", "stats_interval", "action_alloc",
        "max_namespaces", "devices"}},
      {"Log", {"log_format", "log_level"}},
  };
  return *groups;
}

std::string Dashed(absl::string_view name) { return absl::StrReplaceAll(name, {{"_", "-"}}); }

std::string VariableOf(absl::string_view name) {
  return absl::StrCat("TCACT_", absl::AsciiStrToUpper(name));
}

absl::CommandLineFlag* FindOwn(absl::string_view name) {
  const std::string wanted = absl::StrReplaceAll(name, {{"-", "_"}});
  for (const Group& group : Groups()) {
    for (const char* flag : group.flags) {
      if (wanted == flag) return absl::FindCommandLineFlag(flag);
    }
  }
  return nullptr;
}

void PrintHelp() {
  std::puts(
      "tcactd serves the traffic-control action store over gRPC.\n\n"
      "Usage: tcactd [--FLAG=VALUE ...]\n");
  for (const Group& group : Groups()) {
    std::printf("%s:\n", group.title);
    for (const char* name : group.flags) {
      const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
      std::printf("  --%s=%s\n      %s\n      Also %s.\n", Dashed(name).c_str(),
                  flag->DefaultValue().c_str(), flag->Help().c_str(), VariableOf(name).c_str());
    }
    std::puts("");
  }
  std::puts("Other:\n  --help       This text.\n  --version    The version.");
}

bool Fail(const std::string& text) {
  std::fprintf(stderr, "tcactd: %s\n", text.c_str());
  return false;
}

// What a value of the flag looks like. Texts and lists take any.
absl::string_view FormOf(const absl::CommandLineFlag& flag) {
  return flag.IsOfType<bool>() ? "true or false" : "a whole number";
}

// `origin` is the flag or the variable as the user wrote it.
bool SetFlag(absl::string_view origin, absl::CommandLineFlag* flag, absl::string_view value) {
  std::string error;
  if (flag->ParseFrom(value, &error)) return true;
  return Fail(absl::StrCat(origin, "=", value, ": not ", FormOf(*flag), ". ", flag->Help()));
}

bool ReadEnvironment() {
  for (const Group& group : Groups()) {
    for (const char* name : group.flags) {
      const std::string variable = VariableOf(name);
      const char* value = std::getenv(variable.c_str());
      if (value != nullptr && !SetFlag(variable, absl::FindCommandLineFlag(name), value))
        return false;
    }
  }
  return true;
}

// One word of the command line, and the next one if that is its value.
bool ReadWord(const std::vector<absl::string_view>& words, size_t* at) {
  const absl::string_view word = words[*at];
  if (!absl::StartsWith(word, "--"))
    return Fail(absl::StrCat("\"", word, "\" is not a flag; see --help"));
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(word.substr(2), absl::MaxSplits('=', 1));
  absl::CommandLineFlag* flag = FindOwn(parts.first);
  const std::string shown = absl::StrCat("--", parts.first);
  if (flag == nullptr) return Fail(absl::StrCat(shown, ": no such flag; see --help"));
  if (absl::StrContains(word, '=')) return SetFlag(shown, flag, parts.second);
  if (flag->IsOfType<bool>()) return SetFlag(shown, flag, "true");
  if (*at + 1 == words.size()) return Fail(absl::StrCat(shown, ": needs a value; see --help"));
  return SetFlag(shown, flag, words[++*at]);
}

bool InRange(absl::string_view name, int value, int min, int max) {
  if (value >= min && value <= max) return true;
  return Fail(absl::StrCat("--", Dashed(name), "=", value, ": ", min, " to ", max, " are allowed"));
}

bool OneOf(absl::string_view name, absl::string_view value,
           const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return true;
  return Fail(absl::StrCat("--", Dashed(name), "=", value, ": one of ",
                           absl::StrJoin(allowed, ", "), " is allowed"));
}

bool ReadAllocMode(const std::string& name, act::AllocMode* mode) {
  std::vector<std::string> allowed;
  for (const act::AllocMode one :
       {act::AllocMode::kPerObject, act::AllocMode::kSlab, act::AllocMode::kSlabMerged}) {
    allowed.emplace_back(act::AllocModeName(one));
    if (name == allowed.back()) *mode = one;
  }
  return OneOf("action_alloc", name, allowed);
}

bool ReadListen(std::vector<std::string>* listen) {
  *listen = absl::GetFlag(FLAGS_listen);
  if (listen->empty()) return Fail("--listen: at least one address is needed");
  for (const std::string& address : *listen) {
    const absl::Status status =
        rpc::CheckListenAddress(address, absl::GetFlag(FLAGS_insecure_listen));
    if (!status.ok()) return Fail(absl::StrCat("--listen: ", status.message()));
  }
  return true;
}

bool ReadStore(Flags* flags) {
  flags->store = absl::GetFlag(FLAGS_store);
  absl::string_view directory = flags->store;
  if (flags->store == "memory") return true;
  if (!absl::ConsumePrefix(&directory, "rocksdb:") || directory.empty()) {
    return Fail(absl::StrCat("--store=", flags->store, ": memory or rocksdb:DIR is allowed"));
  }
  flags->store_directory = std::string(directory);
  return true;
}

bool ReadLevel(const std::string& name, durable::Level* level) {
  std::vector<std::string> allowed;
  for (const durable::Level one :
       {durable::Level::kSync, durable::Level::kOs, durable::Level::kMemory}) {
    allowed.emplace_back(durable::LevelName(one));
    if (name == allowed.back()) *level = one;
  }
  return OneOf("durability", name, allowed);
}

bool ReadStatsInterval(absl::Duration* interval) {
  *interval = absl::GetFlag(FLAGS_stats_interval);
  if (*interval >= absl::Milliseconds(10) && *interval <= absl::Hours(1)) return true;
  return Fail(absl::StrCat("--stats-interval=", absl::FormatDuration(*interval),
                           ": 10ms to 1h are allowed"));
}

bool Collect(Flags* flags) {
  flags->stats_acked = absl::GetFlag(FLAGS_stats_durability) == "acked";
  flags->log_level = absl::GetFlag(FLAGS_log_level);
  flags->log_json = absl::GetFlag(FLAGS_log_format) == "json";
  flags->cq_threads = absl::GetFlag(FLAGS_cq_threads);
  flags->max_namespaces = static_cast<uint32_t>(absl::GetFlag(FLAGS_max_namespaces));
  flags->drain = absl::Seconds(absl::GetFlag(FLAGS_drain_seconds));
  flags->host_devices = absl::GetFlag(FLAGS_devices) == "host";
  flags->introspection = absl::GetFlag(FLAGS_introspection);
  return ReadListen(&flags->listen) &&
         ReadAllocMode(absl::GetFlag(FLAGS_action_alloc), &flags->alloc_mode) && ReadStore(flags) &&
         ReadLevel(absl::GetFlag(FLAGS_durability), &flags->durability) &&
         OneOf("stats_durability", absl::GetFlag(FLAGS_stats_durability), {"interval", "acked"}) &&
         ReadStatsInterval(&flags->stats_interval) &&
         OneOf("devices", absl::GetFlag(FLAGS_devices), {"any", "host"}) &&
         OneOf("log_format", absl::GetFlag(FLAGS_log_format), {"text", "json"}) &&
         OneOf("log_level", flags->log_level, {"debug", "info", "warn", "error", "off"}) &&
         InRange("cq_threads", flags->cq_threads, 1, 64) &&
         InRange("max_namespaces", absl::GetFlag(FLAGS_max_namespaces), 1, 1'000'000) &&
         InRange("drain_seconds", absl::GetFlag(FLAGS_drain_seconds), 0, 3600);
}

}  // namespace

std::string Version() { return "0.1.0"; }

std::optional<Flags> ParseFlags(int argc, char** argv, int* exit_code) {
  const std::vector<absl::string_view> words(argv + 1, argv + argc);
  *exit_code = 0;
  for (const absl::string_view word : words) {
    if (word == "--help" || word == "-h") {
      PrintHelp();
      return std::nullopt;
    }
    if (word == "--version") {
      std::printf("tcactd %s\n", Version().c_str());
      return std::nullopt;
    }
  }
  *exit_code = kUsageError;
  if (!ReadEnvironment()) return std::nullopt;
  for (size_t at = 0; at < words.size(); ++at) {
    if (!ReadWord(words, &at)) return std::nullopt;
  }
  Flags flags;
  if (!Collect(&flags)) return std::nullopt;
  return flags;
}

}  // namespace tcact::server
