// What one thread of the load tester has seen; added up at the end.
//
// Thread safety: a Tally belongs to one thread. Live counters may be read by any while it runs.
#ifndef TCACT_CLIENT_LOAD_TALLY_H_
#define TCACT_CLIENT_LOAD_TALLY_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/load/histogram.h"

namespace tcact::load {

// (code, reason) -> how often, and one text as an example. Reason is "" where the server gave none.
struct ErrorCount {
  uint64_t count = 0;
  std::string example;
};
using ErrorTable = std::map<std::pair<absl::StatusCode, std::string>, ErrorCount>;

// What completed in one second of the measured time.
struct Second {
  uint64_t operations = 0;
  uint64_t messages = 0;
  uint64_t errors = 0;
  uint64_t max_latency_ns = 0;

  void Add(const Second& other) {
    operations += other.operations;
    messages += other.messages;
    errors += other.errors;
    max_latency_ns = std::max(max_latency_ns, other.max_latency_ns);
  }
};

// Readable while the thread runs; only that thread writes.
struct LiveCounters {
  std::atomic<uint64_t> operations{0};
  std::atomic<uint64_t> errors{0};
};

// Outcome of one message, filled by its Slot.
struct Outcome {
  uint64_t operations = 0;  // that succeeded
  std::vector<absl::Status> errors;
};

struct Tally {
  Histogram latency_ns;  // of messages whose (intended) start lies in the measured time
  std::vector<Second> seconds;
  ErrorTable errors;        // of the whole run, warm-up and drain included
  uint64_t unfinished = 0;  // messages that were given up at the end
  uint64_t never_sent = 0;  // open loop: due, and not sent before the drain ended
};

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_TALLY_H_
