// Where the comparison's figures come from: the core in this process, or tcactd behind its RPCs.
#ifndef TCACT_CLIENT_LOAD_COMPARE_RUN_H_
#define TCACT_CLIENT_LOAD_COMPARE_RUN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/load/compare.h"

namespace tcact::load {

struct CompareOptions {
  int rounds = 5;            // 1 to 1000
  int threads = 0;           // of the in-process churn; 0: the CPUs, then four times as many
  int64_t pairs = 1000000;   // in-process: pairs of each mode and round, over all threads
  int ops_per_message = 32;  // how many actions are created before they are destroyed
  bool through_rpc = false;
  // Through RPC:
  std::string tcactd;                          // path; "": beside this binary
  absl::Duration duration = absl::Seconds(3);  // of each mode and round
  int connections = 1;
};

// INVALID_ARGUMENT that names the flag, its value and the allowed range.
absl::Status CheckCompareOptions(const CompareOptions& options);

using OnStep = std::function<void(const std::string& what)>;

// Churn by `threads` threads in one table of a Store of that mode (an index into kModeNames), made
// for it and destroyed after it. REQUIRES: nothing else in this process takes counted locks
// meanwhile.
absl::StatusOr<ModeFigures> ChurnCore(size_t mode, int threads, int64_t pairs, int batch);

// Churn over Apply against a tcactd of that mode, started for it and ended after it.
absl::StatusOr<ModeFigures> ChurnRpc(size_t mode, const std::string& tcactd,
                                     const CompareOptions& options);

// Modes take turns in each round, so that a slow minute of the machine meets all of them.
absl::StatusOr<std::vector<Case>> Compare(const CompareOptions& options, const OnStep& on_step);

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_COMPARE_RUN_H_
