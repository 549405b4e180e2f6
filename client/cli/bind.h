// `tcact bind ...` and `tcact unbind ...`: references, which in tc only filters can take.
#ifndef TCACT_CLIENT_CLI_BIND_H_
#define TCACT_CLIENT_CLI_BIND_H_

#include "client/cli/session.h"
#include "proto/kinds/words.h"

namespace tcact::cli {

// The cursor stands behind the command. Both print a line for each action, "gact index 5 ref 2 bind
// 1", so that a chosen index is known.
Outcome RunBind(Session* session, kinds::Words* words);
Outcome RunUnbind(Session* session, kinds::Words* words);

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_BIND_H_
