// What tcactd asks of the operating system for itself: signals, file descriptors, the log.
#ifndef TCACT_SERVER_PROCESS_H_
#define TCACT_SERVER_PROCESS_H_

#include <string>

namespace tcact::server {

// Blocks SIGTERM and SIGINT in this thread and those it makes from now on, so that WaitForEnd gets
// them; ignores SIGPIPE.
void HoldSignals();

// Waits for SIGTERM or SIGINT and returns its name.
std::string WaitForEnd();

// Raises the limit of open files to what the system allows: each connection is one.
void RaiseFileLimit();

// Turns off the search for deadlocks that Debian's build of Abseil does at every lock, gRPC's
// included: it costs more than all else that an uncontended lock does (docs/performance.md).
void StopDeadlockSearch();

// Sets spdlog up: to standard error, in lines of text or of JSON.
void StartLog(bool json, const std::string& level);

}  // namespace tcact::server

#endif  // TCACT_SERVER_PROCESS_H_
