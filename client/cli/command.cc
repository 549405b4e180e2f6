#include "client/cli/command.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/actions.h"
#include "client/cli/admin.h"
#include "client/cli/batch.h"
#include "client/cli/bind.h"
#include "client/cli/stats.h"

namespace tcact::cli {
namespace {

using kinds::Words;

Outcome RunHelp(Session* session, Words* /*words*/) {
  session->Out(Usage());
  return kOk;
}

struct Command {
  absl::string_view name;
  Outcome (*run)(Session* session, Words* words);
};

// The first that an abbreviation fits is meant: tc's own before ours.
constexpr Command kCommands[] = {
    {"actions", RunActions},   {"help", RunHelp},   {"bind", RunBind},
    {"unbind", RunUnbind},     {"stats", RunStats}, {"slabinfo", RunSlabinfo},
    {"lockstat", RunLockstat}, {"netns", RunNetns}, {"health", RunHealth},
};

}  // namespace

Outcome RunCommand(Session* session, const std::vector<std::string>& words) {
  Words cursor(words);
  for (const Command& command : kCommands) {
    if (cursor.Matches(command.name)) {
      cursor.Skip();
      return command.run(session, &cursor);
    }
  }
  session->Err(absl::StrCat("Object \"", cursor.Peek(), "\" is unknown, try \"tcact help\"."));
  return kFailed;
}

Outcome RunBatch(Session* session, absl::string_view name, std::istream* in) {
  BatchReader reader(in);
  Outcome result;
  while (true) {
    absl::StatusOr<std::vector<std::string>> words = reader.Next();
    if (!words.ok()) {
      session->Err(words.status().message());
      return {.code = 1};
    }
    if (words->empty()) break;
    const Outcome outcome = RunCommand(session, *words);
    if (outcome.exit) return outcome;
    if (outcome.ok()) continue;
    session->Err(absl::StrCat("Command failed ", name, ":", reader.line_number()));
    result.code = 1;
    if (!session->settings().force) return result;
  }
  if (reader.continuation_missing()) session->Err("Missing continuation line");
  return result;
}

int Run(const std::vector<std::string>& words, const Environment& environment, std::istream* in,
        std::ostream* out, std::ostream* err) {
  absl::StatusOr<Settings> settings = ParseOptions(words, environment);
  if (!settings.ok()) {
    *err << settings.status().message() << "\n";
    return kFailed.code;
  }
  Session session(*settings, out, err);
  if (settings->version) {
    session.Out(absl::StrCat("tcact utility, version ", kVersion, "\n"));
    return 0;
  }
  if (settings->help || (settings->command.empty() && !settings->batch.has_value())) {
    session.Out(Usage());
    return 0;
  }
  if (!settings->batch.has_value()) return RunCommand(&session, settings->command).code;
  if (*settings->batch == "-") return RunBatch(&session, "-", in).code;
  std::ifstream file(*settings->batch);
  if (!file) {
    session.Err(absl::StrCat("Cannot open file \"", *settings->batch,
                             "\" for reading: ", std::strerror(errno)));
    return 1;
  }
  return RunBatch(&session, *settings->batch, &file).code;
}

}  // namespace tcact::cli
