// The commands of tcact, by their first word; one, or a batch.
#ifndef TCACT_CLIENT_CLI_COMMAND_H_
#define TCACT_CLIENT_CLI_COMMAND_H_

#include <istream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/cli/session.h"

namespace tcact::cli {

// Runs one command; not empty.
Outcome RunCommand(Session* session, const std::vector<std::string>& words);

// Runs the commands of *in one after the other. The first that fails ends the batch, or with -force
// only those that end tc. `name` stands for the file in errors: "Command failed -:2". The exit code
// is 1 if any failed.
Outcome RunBatch(Session* session, absl::string_view name, std::istream* in);

// All of tcact but for the process: reads `words` (those behind the program's name) and runs them.
// Returns the exit code.
int Run(const std::vector<std::string>& words, const Environment& environment, std::istream* in,
        std::ostream* out, std::ostream* err);

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_COMMAND_H_
