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
#include "client/cli/complete.h"
#include "client/cli/man_page.h"
#include "client/cli/pipeline.h"
#include "client/cli/stats.h"
#include "client/cli/usage.h"

namespace tcact::cli {
namespace {

using kinds::Words;

// As in tc, to standard error.
Outcome RunHelp(Session* session, Words* /*words*/) {
  session->ErrText(Usage());
  return kOk;
}

struct Command {
  absl::string_view name;
  Outcome (*run)(Session* session, Words* words);
};

// The first that an abbreviation fits is meant: tc's own before ours, and actions first.
constexpr Command kCommands[] = {
    {"actions", RunActions},   {"help", RunHelp},   {"bind", RunBind},
    {"unbind", RunUnbind},     {"stats", RunStats}, {"slabinfo", RunSlabinfo},
    {"lockstat", RunLockstat}, {"netns", RunNetns}, {"health", RunHealth},
};

// Whether the words are a change that can be sent ahead.
bool IsChange(const std::vector<std::string>& words, Change* change) {
  Words cursor(words);
  if (!cursor.Matches(kCommands[0].name)) return false;
  cursor.Skip();
  return ReadChange(std::move(cursor), change);
}

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
  Pipeline pipeline(session, name);
  Outcome result;
  constexpr Outcome kBatchFailed = {.code = 1};
  while (true) {
    // Before a read that may wait, what was read is done: on a terminal or a slow pipe each line
    // is answered at once.
    if (in->rdbuf()->in_avail() <= 0 && !pipeline.Drain()) return kBatchFailed;
    absl::StatusOr<std::vector<std::string>> words = reader.Next();
    Change change;
    if (words.ok() && IsChange(*words, &change)) {
      if (!pipeline.Add(std::move(change), reader.line_number())) return kBatchFailed;
      continue;
    }
    if (!pipeline.Drain()) return kBatchFailed;
    if (!words.ok()) {
      session->Err(words.status().message());
      return kBatchFailed;
    }
    if (words->empty()) break;
    session->set_place(absl::StrCat(name, ":", reader.line_number()));
    const Outcome outcome = RunCommand(session, *words);
    if (outcome.exit) return outcome;
    if (outcome.ok()) continue;
    session->Err(absl::StrCat("Command failed ", session->place()));
    result = kBatchFailed;
    if (!session->settings().force) return result;
  }
  if (reader.continuation_missing()) session->Err("Missing continuation line");
  return pipeline.failed() ? kBatchFailed : result;
}

int Run(const std::vector<std::string>& words, const Environment& environment, std::istream* in,
        std::ostream* out, std::ostream* err) {
  // Not in the help: for the completion of shells, and for those who build the man page.
  if (!words.empty() && words[0] == "--complete") {
    for (const std::string& word : Complete({words.begin() + 1, words.end()})) *out << word << "\n";
    return 0;
  }
  if (words == std::vector<std::string>{"--print-man"}) {
    *out << ManPage();
    return 0;
  }
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
  if (settings->help_is_output) {
    session.Out(Usage());
    return 0;
  }
  if (settings->help || (settings->command.empty() && !settings->batch.has_value())) {
    return RunHelp(&session, nullptr).code;
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
