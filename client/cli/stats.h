// `tcact stats ...`: counters, which in the kernel only packets can change.
#ifndef TCACT_CLIENT_CLI_STATS_H_
#define TCACT_CLIENT_CLI_STATS_H_

#include <vector>

#include "client/cli/session.h"
#include "proto/kinds/words.h"
#include "proto/tcact/v1/action_store.pb.h"

namespace tcact::cli {

// The cursor stands behind "stats". add prints nothing if all were counted (in JSON how many), and
// fails if some action is absent; the others are counted then.
Outcome RunStats(Session* session, kinds::Words* words);

// "action gact index 5 bytes 100 packets 1 hw action gact index 6 ..." to one request for each kind
// and each of hardware and software.
kinds::ParseError ParseUpdates(kinds::Words* words, std::vector<v1::UpdateStatsRequest>* requests);

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_STATS_H_
