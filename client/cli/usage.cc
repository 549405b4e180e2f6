#include "client/cli/usage.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tcact::cli {
namespace {

constexpr HelpLine kTcCommands[] = {
    {"actions add ACTION...", "create; the index is chosen unless given"},
    {"actions change|replace ACTION...", "change, or create what is absent"},
    {"actions get KEY...", "show"},
    {"actions delete KEY...", "destroy; fails if one is bound"},
    {"actions ls|list|show action KIND [since MS]",
     "list a kind; only those used in the last MS milliseconds"},
    {"actions flush action KIND", "delete all of a kind that are not bound"},
    {"actions help", "tc's own words for these"},
};

constexpr HelpLine kOwnCommands[] = {
    {"bind ACTION...", "take a reference, as a filter does; creates what is absent"},
    {"unbind KEY...", "give one back"},
    {"stats add KEY COUNTER N... [hw]",
     "add to counters: bytes packets drops overlimits requeues qlen backlog; hw: hardware counted "
     "them"},
    {"stats reset KEY...", "set all counters to 0"},
    {"slabinfo", "the server's slab caches and per-CPU memory"},
    {"lockstat [reset]", "its locks: how often taken, how long waited for"},
    {"netns [ls]", "the namespaces and how many actions each holds"},
    {"netns del NAME", "destroy a namespace with all its actions"},
    {"netns quota NAME N", "most actions it may hold; 0: any number"},
    {"health", "whether the server serves, and since when"},
    {"help", "this text"},
};

constexpr HelpLine kTerms[] = {
    {"ACTION",
     "action KIND PARAMS [index INDEX] [cookie HEX] [hw_stats immediate|delayed|disabled] "
     "[no_percpu] [skip_hw|skip_sw]; at most 32 in a command"},
    {"KEY", "action KIND index INDEX"},
    {"PARAMS", "`tcact actions add action KIND help` tells those of a kind"},
};

constexpr HelpLine kExit[] = {
    {"0", "all was done"},
    {"1", "a line of a batch, or a flush, failed, or the server does not answer"},
    {"255", "any other failure"},
};

constexpr size_t kWidth = 96;
constexpr size_t kIndent = 36;

// "  WHAT    TEXT", wrapped.
void AppendLine(const HelpLine& line, std::string* out) {
  std::string row = absl::StrCat("  ", line.what);
  if (row.size() + 2 > kIndent) {
    absl::StrAppend(out, row, "\n");
    row.clear();
  }
  row.resize(kIndent, ' ');
  bool first = true;
  for (const absl::string_view word : absl::StrSplit(line.text, ' ')) {
    if (!first && row.size() + 1 + word.size() > kWidth) {
      absl::StrAppend(out, row, "\n");
      row.assign(kIndent, ' ');
      first = true;
    }
    if (!first) row += ' ';
    row.append(word.data(), word.size());
    first = false;
  }
  absl::StrAppend(out, row, "\n");
}

void AppendSection(absl::string_view title, absl::Span<const HelpLine> lines, std::string* out) {
  absl::StrAppend(out, "\n", title, "\n");
  for (const HelpLine& line : lines) AppendLine(line, out);
}

}  // namespace

absl::Span<const HelpLine> TcCommandHelp() { return kTcCommands; }
absl::Span<const HelpLine> OwnCommandHelp() { return kOwnCommands; }
absl::Span<const HelpLine> TermHelp() { return kTerms; }
absl::Span<const HelpLine> ExitHelp() { return kExit; }

std::string Usage() {
  std::string text =
      "tcact - traffic-control actions of a tcactd, with tc's commands\n\n"
      "Usage: tcact [OPTIONS] COMMAND\n"
      "       tcact [OPTIONS] [-force] -batch FILE\n";
  AppendSection("As in tc (and abbreviated as in tc):", kTcCommands, &text);
  AppendSection("Beyond tc:", kOwnCommands, &text);
  AppendSection("Where:", kTerms, &text);
  AppendSection("Options:", OptionHelp(), &text);
  AppendSection("Exit code:", kExit, &text);
  return text;
}

}  // namespace tcact::cli
