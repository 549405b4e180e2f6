#include "server/core/act/counters.h"

#include <algorithm>
#include <limits>

#include "server/core/act/backoff.h"

namespace tcact::act {
namespace {

constexpr uint64_t kLocked = 1;

uint64_t StampOf(uint64_t generation) { return generation << 1; }

struct Line {
  BasicStats* basic;
  HwStatsPart* hw;
  QueueStats* queue;
};

Line LineOf(const Record& record, uint32_t cpu) {
  const uint32_t unit = record.shared_counters() ? 0 : cpu;
  const auto part = [unit](const std::atomic<percpu::Region>& region) {
    return percpu::Ptr(region.load(std::memory_order_acquire), unit);
  };
  return {reinterpret_cast<BasicStats*>(part(record.basic)),
          reinterpret_cast<HwStatsPart*>(part(record.hw)),
          reinterpret_cast<QueueStats*>(part(record.queue))};
}

// Takes the line's lock; returns the stamp it had.
uint64_t LockLine(BasicStats* basic) {
  Backoff backoff;
  uint64_t stamp = basic->stamp.load(std::memory_order_relaxed);
  for (;;) {
    if ((stamp & kLocked) != 0) {
      backoff.Pause();
      stamp = basic->stamp.load(std::memory_order_relaxed);
    } else if (basic->stamp.compare_exchange_weak(stamp, stamp | kLocked, std::memory_order_seq_cst,
                                                  std::memory_order_relaxed)) {
      return stamp;
    }
  }
}

void UnlockLine(BasicStats* basic, uint64_t stamp) {
  basic->stamp.store(stamp, std::memory_order_release);
}

bool Lives(const Record& record, uint64_t generation) {
  return record.generation.load(std::memory_order_seq_cst) == generation &&
         state::Alive(record.state.load(std::memory_order_seq_cst));
}

void ZeroLine(const Line& line) {
  line.basic->bytes.store(0, std::memory_order_relaxed);
  line.basic->packets.store(0, std::memory_order_relaxed);
  line.hw->bytes.store(0, std::memory_order_relaxed);
  line.hw->packets.store(0, std::memory_order_relaxed);
  line.queue->drops.store(0, std::memory_order_relaxed);
  line.queue->overlimits.store(0, std::memory_order_relaxed);
  line.queue->requeues.store(0, std::memory_order_relaxed);
  line.queue->qlen.store(0, std::memory_order_relaxed);
  line.queue->backlog.store(0, std::memory_order_relaxed);
}

template <typename T>
T SaturatingSum(T a, T b) {
  T sum;
  if (__builtin_add_overflow(a, b, &sum)) {
    return b < T{0} ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
  return sum;
}

// Only the holder of the line's lock writes, so a load and a store do.
template <typename T>
void Add(std::atomic<T>* counter, T delta) {
  if (delta == 0) return;
  counter->store(SaturatingSum(counter->load(std::memory_order_relaxed), delta),
                 std::memory_order_relaxed);
}

void AddToLine(const Line& line, const StatsDelta& delta) {
  Add(&line.basic->bytes, delta.bytes);
  Add(&line.basic->packets, delta.packets);
  Add(&line.hw->bytes, delta.hw_bytes);
  Add(&line.hw->packets, delta.hw_packets);
  Add(&line.queue->drops, delta.drops);
  Add(&line.queue->overlimits, delta.overlimits);
  Add(&line.queue->requeues, delta.requeues);
  Add(&line.queue->qlen, delta.qlen);
  Add(&line.queue->backlog, delta.backlog);
}

uint32_t Gauge(int64_t sum) {
  return static_cast<uint32_t>(std::clamp<int64_t>(sum, 0, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

bool AddToCounters(Record* record, uint64_t generation, uint32_t cpu, const StatsDelta& delta) {
  const Line line = LineOf(*record, cpu);
  const uint64_t stamp = LockLine(line.basic);
  if (!Lives(*record, generation)) {
    UnlockLine(line.basic, stamp);
    return false;
  }
  if (stamp != StampOf(generation)) ZeroLine(line);
  AddToLine(line, delta);
  UnlockLine(line.basic, StampOf(generation));
  return true;
}

void NoteUse(Record* record, uint64_t generation, int64_t now_ms) {
  const uint64_t now = moment::Make(generation, now_ms);
  uint64_t last = record->last_used.load(std::memory_order_relaxed);
  // A failed exchange means that another updater noted its use: as good, or that this life ended.
  if (moment::Of(last, generation) && last < now) {
    record->last_used.compare_exchange_strong(last, now, std::memory_order_relaxed);
  }
  uint64_t first = record->first_used.load(std::memory_order_relaxed);
  if (moment::Of(first, generation) && moment::Ms(first) == 0) {
    record->first_used.compare_exchange_strong(first, now, std::memory_order_relaxed);
  }
}

Counters SumCounters(const Record& record, uint64_t generation, uint32_t cpus) {
  Counters sum;
  int64_t qlen = 0;
  int64_t backlog = 0;
  const uint32_t units = record.shared_counters() ? 1 : cpus;
  for (uint32_t cpu = 0; cpu < units; ++cpu) {
    const Line line = LineOf(record, cpu);
    Backoff backoff;
    uint64_t stamp = line.basic->stamp.load(std::memory_order_seq_cst);
    while ((stamp & kLocked) != 0) {
      backoff.Pause();
      stamp = line.basic->stamp.load(std::memory_order_acquire);
    }
    if (stamp != StampOf(generation)) continue;
    const auto add = [](auto* total, const auto& counter) {
      *total = SaturatingSum(*total, counter.load(std::memory_order_relaxed));
    };
    add(&sum.bytes, line.basic->bytes);
    add(&sum.packets, line.basic->packets);
    add(&sum.hw_bytes, line.hw->bytes);
    add(&sum.hw_packets, line.hw->packets);
    add(&sum.drops, line.queue->drops);
    add(&sum.overlimits, line.queue->overlimits);
    add(&sum.requeues, line.queue->requeues);
    qlen += line.queue->qlen.load(std::memory_order_relaxed);
    backlog += line.queue->backlog.load(std::memory_order_relaxed);
  }
  sum.qlen = Gauge(qlen);
  sum.backlog = Gauge(backlog);
  return sum;
}

void ZeroCounters(Record* record, uint64_t generation, uint32_t cpus) {
  const uint32_t units = record->shared_counters() ? 1 : cpus;
  for (uint32_t cpu = 0; cpu < units; ++cpu) {
    const Line line = LineOf(*record, cpu);
    const uint64_t stamp = LockLine(line.basic);
    if (stamp == StampOf(generation)) ZeroLine(line);
    UnlockLine(line.basic, stamp);
  }
}

}  // namespace tcact::act
