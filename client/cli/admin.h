// Commands about the server itself: slabinfo, lockstat, netns, health.
#ifndef TCACT_CLIENT_CLI_ADMIN_H_
#define TCACT_CLIENT_CLI_ADMIN_H_

#include "client/cli/session.h"
#include "proto/kinds/words.h"

namespace tcact::cli {

// The cursor stands behind the command.
Outcome RunSlabinfo(Session* session, kinds::Words* words);
Outcome RunLockstat(Session* session, kinds::Words* words);
Outcome RunNetns(Session* session, kinds::Words* words);
Outcome RunHealth(Session* session, kinds::Words* words);

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_ADMIN_H_
