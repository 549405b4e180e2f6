// `tcact actions ...`: tc's own commands on actions.
#ifndef TCACT_CLIENT_CLI_ACTIONS_H_
#define TCACT_CLIENT_CLI_ACTIONS_H_

#include "client/cli/session.h"
#include "proto/kinds/words.h"

namespace tcact::cli {

// At most so many actions in one add; get and delete see the first so many.
inline constexpr size_t kMaxActions = 32;

// Runs the commands that stand behind "actions", one after the other as tc does, until one fails.
Outcome RunActions(Session* session, kinds::Words* words);

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_ACTIONS_H_
