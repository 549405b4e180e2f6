#include "client/cli/man_page.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/cli/options.h"
#include "client/cli/usage.h"
#include "proto/kinds/kind.h"

namespace tcact::cli {
namespace {

// Text for troff: no dash becomes a hyphen, and no line begins a macro.
std::string Escape(absl::string_view text) {
  std::string out = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  if (absl::StartsWith(out, ".") || absl::StartsWith(out, "'")) out.insert(0, "\\&");
  return out;
}

void AppendTable(absl::Span<const HelpLine> lines, std::string* out) {
  for (const HelpLine& line : lines) {
    absl::StrAppend(out, ".TP\n.B ", Escape(line.what), "\n", Escape(line.text), "\n");
  }
}

// As it stands, line for line.
void AppendVerbatim(absl::string_view text, std::string* out) {
  absl::StrAppend(out, ".nf\n");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::StrAppend(out, line.empty() ? "" : Escape(line), "\n");
  }
  while (absl::EndsWith(*out, "\n\n")) out->pop_back();
  absl::StrAppend(out, ".fi\n");
}

void AppendKind(const kinds::Kind& kind, std::string* out) {
  absl::StrAppend(out, ".SS ", kind.name(), "\n");
  AppendVerbatim(kind.help(), out);
  absl::StrAppend(out, ".PP\nExamples:\n.PP\n");
  std::string examples;
  for (const std::string& example : kind.examples()) {
    absl::StrAppend(&examples, "  action ", kind.name(), " ", example, "\n");
  }
  AppendVerbatim(examples, out);
}

}  // namespace

std::string ManPage() {
  std::string out = absl::StrCat(
      ".\\\" Made by `tcact --print-man`; do not edit.\n"
      ".TH TCACT 1 \"\" \"tcact ",
      kVersion, R"(" "User Commands"
.SH NAME
tcact \- traffic\-control actions of a tcactd, with tc's commands
.SH SYNOPSIS
.B tcact
.RI [ OPTIONS ] " COMMAND"
.br
.B tcact
.RI [ OPTIONS ]
.RB [ \-force ]
.B \-batch
.I FILE
.SH DESCRIPTION
.B tcact
speaks the grammar of
.B tc actions
to a
.B tcactd
and prints what tc prints. Words may be abbreviated where tc lets them be.
Below an error a line shows the command with a mark under the word that is wrong.
.SH COMMANDS OF TC
)");
  AppendTable(TcCommandHelp(), &out);
  absl::StrAppend(&out, ".SH COMMANDS BEYOND TC\n");
  AppendTable(OwnCommandHelp(), &out);
  absl::StrAppend(&out, ".SH TERMS\n");
  AppendTable(TermHelp(), &out);
  absl::StrAppend(&out, ".SH OPTIONS\n");
  AppendTable(OptionHelp(), &out);
  absl::StrAppend(&out, R"(.SH BATCHES
A file has a command a line, without the word tcact. A # begins a comment, a backslash at the end
continues a line, words with blanks stand in quotation marks. Changes are sent ahead of their
answers; what a user sees is as if each line had waited for the one before. Without
.B \-force
the first line that fails ends the batch and nothing behind it is done; the failure names the file
and the line. A connection that breaks ends the batch in any case.
.SH ACTION KINDS
)");
  for (const kinds::Kind* kind : kinds::AllKinds()) AppendKind(*kind, &out);
  absl::StrAppend(&out, ".SH EXIT STATUS\n");
  AppendTable(ExitHelp(), &out);
  absl::StrAppend(&out, R"(.SH ENVIRONMENT
.TP
.B TCACT_SERVER
the server's address, unless
.B \-\-server
is given
.TP
.B TCACT_NETNS
the namespace, unless
.B \-netns
is given
.SH SEE ALSO
.BR tc (8),
.BR tc\-actions (8)
)");
  return out;
}

}  // namespace tcact::cli
