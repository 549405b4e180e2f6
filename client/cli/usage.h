// The help of tcact: what `tcact --help` prints, and the tables that the man page shares with it.
//
// Thread safety: free functions without state.
#ifndef TCACT_CLIENT_CLI_USAGE_H_
#define TCACT_CLIENT_CLI_USAGE_H_

#include <string>

#include "absl/types/span.h"
#include "client/cli/options.h"

namespace tcact::cli {

// tc's own commands, and those that tc does not have.
absl::Span<const HelpLine> TcCommandHelp();
absl::Span<const HelpLine> OwnCommandHelp();
// What the capitals in them stand for.
absl::Span<const HelpLine> TermHelp();
absl::Span<const HelpLine> ExitHelp();

// Fits 100 columns.
std::string Usage();

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_USAGE_H_
