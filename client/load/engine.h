// The engine: keeps slots busy over asynchronous gRPC calls and measures them.
//
// Invariants
//   - A slot has at most one message under way.
//   - Closed loop: a message starts when the slot's last one ended. Open loop: messages are due at
//     the moments of a Poisson process and take the first free slot; latency counts from the moment
//     the message was due, so a stalled server cannot hide the messages that it kept waiting.
//   - Latencies are those of messages that were due in the measured time; rates count what
//     completed in it. After it nothing new begins but what makes slots clean, for at most `drain`.
//   - A stream that breaks is not opened again: its slots rest from then on and the break is an
//     error.
#ifndef TCACT_CLIENT_LOAD_ENGINE_H_
#define TCACT_CLIENT_LOAD_ENGINE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/load/slot.h"
#include "client/load/tally.h"
#include "grpcpp/channel.h"

namespace tcact::load {

enum class Transport : uint8_t {
  kUnary,   // a call for each message
  kStream,  // one bidirectional stream for each connection, answers in order
  kDump,    // a server stream for each message
};

// One connection and its slots.
struct Lane {
  std::shared_ptr<grpc::Channel> channel;
  std::vector<std::unique_ptr<Slot>> slots;
};

struct EnginePlan {
  Transport transport = Transport::kUnary;
  std::string stream_method;  // kStream only
  int threads = 1;            // 1 to the number of lanes
  absl::Duration warmup = absl::ZeroDuration();
  absl::Duration duration = absl::Seconds(1);
  absl::Duration drain = absl::Seconds(10);
  double messages_per_second = 0;  // 0: closed loop
  uint64_t seed = 1;
};

// What the engine tells while it runs, about once in 100 ms, and exactly at the beginning and the
// end of the measured time. Called from the caller's thread.
struct Progress {
  enum class Phase : uint8_t { kWarmup, kMeasureBegins, kMeasure, kMeasureEnds, kDrain };
  Phase phase = Phase::kWarmup;
  absl::Duration elapsed;  // since the start of the run
  uint64_t operations = 0;
  uint64_t errors = 0;
};

// Runs the plan to its end and adds up all threads. Blocks.
Tally RunEngine(const EnginePlan& plan, std::vector<Lane> lanes,
                const std::function<void(const Progress&)>& on_progress);

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_ENGINE_H_
