// Record: one action in memory, and the three ways of touching one.
//
// Records live in a KmemCache per kind, are type-stable, and are found through the index table
// inside a ReadGuard. So whoever holds a Record* may read it at any time, but what it holds may be
// another life of the record. Hence:
//
//   1. `state` is one atomic word that says who holds the action (see below). All rules about
//      references, binds and claims are one compare-and-swap on it.
//   2. The body (generation, key, cookie, flags, parameters) is written by one writer at a time
//      (the creator before it publishes, else the holder of the claim) under a sequence lock. A
//      reader copies it and takes the copy only if `seq` did not move; the copy then says which
//      life it is of.
//   3. Counters are in per-CPU lines stamped with the generation they count for (counters.h).
//
// Invariants
//   - state == 0: dead. No life is found through this record, and no line takes an update for one.
//   - bindcnt = binds, refcnt = binds + standalone; pending <= binds.
//   - A record whose state is the claim bit alone is dying: the claim's holder destroys it when it
//     lets go.
//   - A lookup may find a record that is another action by the time its state is changed. Who
//     changes a state so first does it, then looks whether it is still the action meant, and else
//     undoes it as any holder would: with the duty to destroy what has lost its last reference
//     meanwhile. record->netns says where it belongs.
//   - generation never repeats in one process.
#ifndef TCACT_SERVER_CORE_ACT_RECORD_H_
#define TCACT_SERVER_CORE_ACT_RECORD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "server/core/act/backoff.h"
#include "server/core/act/types.h"
#include "server/core/percpu/percpu.h"

namespace tcact::act {

// The state word: bit 0 claim, bit 1 standalone reference, 28 bits binds, 28 bits pending. Pending
// are binds that belong to an open transaction: being made, or being given back; no other may give
// those back.
namespace state {
inline constexpr uint64_t kClaim = 1;
inline constexpr uint64_t kStandalone = 2;
inline constexpr uint64_t kOneBind = 4;
inline constexpr int kBindShift = 2;
inline constexpr int kPendingShift = 30;
inline constexpr uint64_t kOnePending = uint64_t{1} << kPendingShift;
inline constexpr uint64_t kMaxBinds = (uint64_t{1} << 28) - 1;

inline uint32_t Binds(uint64_t word) { return (word >> kBindShift) & kMaxBinds; }
inline uint32_t Pending(uint64_t word) { return (word >> kPendingShift) & kMaxBinds; }
inline uint32_t Refs(uint64_t word) { return Binds(word) + ((word & kStandalone) != 0 ? 1 : 0); }
inline bool Alive(uint64_t word) { return Refs(word) != 0; }
}  // namespace state

// The fixed part of the body, packed into words so that readers can copy it with plain atomic
// loads.
struct Body {
  // installed_ms (48 bits), then cookie size (5), hw_stats (2), no_percpu, skip_hw, offloadable,
  // stats_saved (1 each).
  uint64_t packed = 0;
  uint64_t cookie[2] = {0, 0};

  static Body Make(const Spec& spec, int64_t installed_ms) {
    Body body;
    body.packed = static_cast<uint64_t>(installed_ms) & kInstalledMask;
    body.SetFlags(spec.no_percpu, spec.skip_hw, spec.offloadable);
    body.SetHwStats(spec.hw_stats);
    body.SetCookie(spec.cookie);
    return body;
  }

  int64_t installed_ms() const { return static_cast<int64_t>(packed & kInstalledMask); }
  uint8_t cookie_size() const { return (packed >> 48) & 31; }
  HwStats hw_stats() const { return static_cast<HwStats>((packed >> 53) & 3); }
  bool no_percpu() const { return ((packed >> 55) & 1) != 0; }
  bool skip_hw() const { return ((packed >> 56) & 1) != 0; }
  bool offloadable() const { return ((packed >> 57) & 1) != 0; }
  bool stats_saved() const { return ((packed >> 58) & 1) != 0; }

  void SetHwStats(HwStats hw_stats) {
    packed = (packed & ~(uint64_t{3} << 53)) | (static_cast<uint64_t>(hw_stats) << 53);
  }
  void SetFlags(bool no_percpu, bool skip_hw, bool offloadable) {
    packed = (packed & ~(uint64_t{7} << 55)) | (uint64_t{no_percpu} << 55) |
             (uint64_t{skip_hw} << 56) | (uint64_t{offloadable} << 57);
  }
  void SetStatsSaved() { packed |= uint64_t{1} << 58; }
  void SetCookie(const Cookie& value) {
    packed = (packed & ~(uint64_t{31} << 48)) | (uint64_t{value.size} << 48);
    std::memcpy(cookie, value.bytes.data(), sizeof(cookie));
  }
  Cookie GetCookie() const {
    Cookie value;
    value.size = cookie_size();
    std::memcpy(value.bytes.data(), cookie, sizeof(cookie));
    return value;
  }

 private:
  static constexpr uint64_t kInstalledMask = (uint64_t{1} << 48) - 1;
};
static_assert(sizeof(Body) == 24);

// A moment (Unix ms, 48 bits) that belongs to one life: the upper 16 bits are the generation's low
// ones, so that a write by a late updater of an earlier life is not taken for this one's.
namespace moment {
inline constexpr uint64_t kTimeMask = (uint64_t{1} << 48) - 1;
inline uint64_t Make(uint64_t generation, int64_t ms) {
  return (generation << 48) | (static_cast<uint64_t>(ms) & kTimeMask);
}
inline bool Of(uint64_t word, uint64_t generation) { return (word >> 48) == (generation & 0xFFFF); }
inline int64_t Ms(uint64_t word) { return static_cast<int64_t>(word & kTimeMask); }
}  // namespace moment

class Netns;

struct Record {
  static constexpr uint32_t kSharedCounters = uint32_t{1} << 31;

  // First cache line: what lookups and statistics touch.
  std::atomic<uint64_t> state{0};
  std::atomic<uint64_t> generation{0};
  std::atomic<uint32_t> seq{0};  // odd while the body is written
  std::atomic<uint32_t> index{0};
  std::atomic<Netns*> netns{nullptr};
  std::atomic<percpu::Region> basic{nullptr};  // BasicStats
  std::atomic<percpu::Region> hw{nullptr};     // HwStatsPart
  std::atomic<percpu::Region> queue{nullptr};  // QueueStats
  std::atomic<uint32_t> used_hw_tag{0};  // low bits of the generation whose used_hw_stats are known
  // Bytes of parameters, and kSharedCounters: all CPUs share the counters of unit 0 (no_percpu).
  std::atomic<uint32_t> size_and_flags{0};

  // Second cache line.
  std::atomic<uint64_t> last_used{0};   // a moment
  std::atomic<uint64_t> first_used{0};  // a moment; time 0: never
  std::atomic<uint64_t> body[3] = {};
  // Followed by the kind's inline_params bytes, in words; where params_size is larger, the first
  // word is the address of a heap block.

  std::atomic<uint64_t>* params_words() {
    return reinterpret_cast<std::atomic<uint64_t>*>(reinterpret_cast<std::byte*>(this) +
                                                    sizeof(Record));
  }
  const std::atomic<uint64_t>* params_words() const {
    return const_cast<Record*>(this)->params_words();
  }

  static uint32_t ParamsSize(uint32_t size_and_flags) { return size_and_flags & ~kSharedCounters; }
  bool shared_counters() const {
    return (size_and_flags.load(std::memory_order_acquire) & kSharedCounters) != 0;
  }
  bool Alive() const { return state::Alive(state.load(std::memory_order_acquire)); }
};
// One action of a kind with up to 24 bytes of parameters is two cache lines.
static_assert(sizeof(Record) == 104);

// Writes the body of a record that no other writer touches. Reads are atomic, so a reader meanwhile
// sees either seq move or the whole.
class BodyWriter {
 public:
  explicit BodyWriter(Record* record) : record_(record) {
    const uint32_t seq = record->seq.load(std::memory_order_relaxed);
    record->seq.store(seq + 1, std::memory_order_relaxed);
    // The stores below must not be seen before the odd seq: release on each of them carries it.
  }
  ~BodyWriter() {
    record_->seq.store(record_->seq.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  BodyWriter(const BodyWriter&) = delete;
  BodyWriter& operator=(const BodyWriter&) = delete;

  template <typename T>
  void Set(std::atomic<T>* field, T value) {
    field->store(value, std::memory_order_release);
  }
  void SetBody(const Body& body) {
    Set(&record_->body[0], body.packed);
    Set(&record_->body[1], body.cookie[0]);
    Set(&record_->body[2], body.cookie[1]);
  }
  // REQUIRES: params fits inline.
  void SetInlineParams(absl::string_view params, bool shared_counters) {
    SetSize(params.size(), shared_counters);
    std::atomic<uint64_t>* words = record_->params_words();
    const char* from = params.data();
    size_t left = params.size();
    for (; left >= 8; left -= 8, from += 8) {
      uint64_t word;
      std::memcpy(&word, from, 8);
      Set(words++, word);
    }
    // The rest byte by byte in a register: a copy into a wider word on the stack would stall its
    // load.
    if (left != 0) {
      uint64_t word = 0;
      for (size_t i = 0; i < left; ++i) word |= uint64_t{static_cast<uint8_t>(from[i])} << (8 * i);
      Set(words, word);
    }
  }
  // The record now owns `block`, which holds `size` bytes.
  void SetBlockParams(std::byte* block, size_t size, bool shared_counters) {
    SetSize(size, shared_counters);
    Set(&record_->params_words()[0], reinterpret_cast<uint64_t>(block));
  }

 private:
  void SetSize(size_t size, bool shared_counters) {
    Set(&record_->size_and_flags,
        static_cast<uint32_t>(size) | (shared_counters ? Record::kSharedCounters : 0));
  }
  Record* record_;
};

inline Body ReadBody(const Record& record) {
  Body body;
  body.packed = record.body[0].load(std::memory_order_acquire);
  body.cookie[0] = record.body[1].load(std::memory_order_acquire);
  body.cookie[1] = record.body[2].load(std::memory_order_acquire);
  return body;
}

// Reads a consistent body: calls `copy` (which only loads) until seq did not move around it.
// REQUIRES: ReadGuard.
template <typename Copy>
void ReadConsistently(const Record& record, Copy copy) {
  for (Backoff backoff;; backoff.Pause()) {
    const uint32_t before = record.seq.load(std::memory_order_acquire);
    if ((before & 1) != 0) continue;
    copy();
    // The loads of `copy` are acquires, so this one comes after them.
    if (record.seq.load(std::memory_order_relaxed) == before) return;
  }
}

}  // namespace tcact::act

#endif  // TCACT_SERVER_CORE_ACT_RECORD_H_
