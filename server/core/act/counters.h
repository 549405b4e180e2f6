// An action's counters: one line for each CPU (or one for all, no_percpu), stamped with the life it
// counts for.
//
// A line is three parts: BasicStats, HwStatsPart and QueueStats. In the mode slab-merged they lie
// side by side in 64 bytes, else in three per-CPU regions; the code is the same.
//
// The stamp is generation << 1, with bit 0 as the line's lock.
//   - An updater takes the lock, looks whether the record still lives the life it found, zeroes the
//     line if it was stamped for another life, adds, and lets go by storing the stamp of this life.
//     So creating an action touches no line: a line of an old life is made new by its first update,
//     and skipped by readers until then.
//   - Who ends a life first makes the state word dead, then reads the lines, waiting for locked
//     ones. Lock and state are sequentially consistent, so either the updater sees the death (and
//     says "not counted") or the reader sees the update: an update that was answered as counted is
//     in the final sum.
//   - The lock is held for some ten instructions and taken by a thread running on the line's own
//     CPU, so it is free but for the rare case that its holder was moved or preempted inside;
//     others then yield.
//
// Cost of an update: one compare-and-swap on a line that this CPU wrote last, and plain stores.
#ifndef TCACT_SERVER_CORE_ACT_COUNTERS_H_
#define TCACT_SERVER_CORE_ACT_COUNTERS_H_

#include <atomic>
#include <cstdint>

#include "server/core/act/record.h"
#include "server/core/act/types.h"

namespace tcact::act {

struct BasicStats {
  std::atomic<uint64_t> stamp;
  std::atomic<uint64_t> bytes;
  std::atomic<uint64_t> packets;
};
struct HwStatsPart {
  std::atomic<uint64_t> bytes;
  std::atomic<uint64_t> packets;
};
struct QueueStats {
  std::atomic<uint64_t> drops;
  std::atomic<uint32_t> overlimits;
  std::atomic<uint32_t> requeues;
  // Differences seen on this CPU; may be below 0 where another CPU saw the rise.
  std::atomic<int32_t> qlen;
  std::atomic<int32_t> backlog;
};

inline constexpr size_t kMergedLineBytes = 64;
inline constexpr size_t kMergedHwOffset = sizeof(BasicStats);
inline constexpr size_t kMergedQueueOffset = sizeof(BasicStats) + sizeof(HwStatsPart);
static_assert(kMergedQueueOffset + sizeof(QueueStats) == kMergedLineBytes);

// Adds to the line of `cpu`. False, and nothing added, if the record does not live `generation` any
// more. `cpu` should be the caller's; any below the number of units is right. REQUIRES: ReadGuard
// since the record was found.
bool AddToCounters(Record* record, uint64_t generation, uint32_t cpu, const StatsDelta& delta);

// Notes a use of that life. Writes at most once a millisecond. REQUIRES: as above.
void NoteUse(Record* record, uint64_t generation, int64_t now_ms);

// Sums the lines of `generation` over `cpus` units. Exact when the life has ended or nothing
// updates it. REQUIRES: ReadGuard, or that the caller alone may destroy the record.
Counters SumCounters(const Record& record, uint64_t generation, uint32_t cpus);

// Zeroes the lines of that life.
void ZeroCounters(Record* record, uint64_t generation, uint32_t cpus);

}  // namespace tcact::act

#endif  // TCACT_SERVER_CORE_ACT_COUNTERS_H_
