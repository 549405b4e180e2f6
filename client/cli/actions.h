// `tcact actions ...`: tc's own commands on actions.
#ifndef TCACT_CLIENT_CLI_ACTIONS_H_
#define TCACT_CLIENT_CLI_ACTIONS_H_

#include "client/cli/kernel_text.h"
#include "client/cli/session.h"
#include "proto/kinds/words.h"
#include "proto/tcact/v1/action_store.pb.h"

namespace tcact::cli {

// At most so many actions in one add; get and delete see the first so many.
inline constexpr size_t kMaxActions = 32;

// Runs the commands that stand behind "actions", one after the other as tc does, until one fails.
Outcome RunActions(Session* session, kinds::Words* words);

// A command as an operation of Apply.
struct Change {
  Request request = Request::kOther;
  v1::Operation operation;
};

// Reads the words behind "actions" if they are one add, change, replace or delete that one
// operation of Apply does in the same way, and that breaks no rule. False for all else: RunActions
// runs it, and tells what is wrong. Prints nothing, sends nothing.
bool ReadChange(kinds::Words words, Change* change);

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_ACTIONS_H_
