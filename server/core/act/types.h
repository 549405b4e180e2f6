// The plain words of the action store: what a command says, what a reader sees, how a command
// fails.
#ifndef TCACT_SERVER_CORE_ACT_TYPES_H_
#define TCACT_SERVER_CORE_ACT_TYPES_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tcact::act {

// A kind's number: the number of its field in tcact.v1.Action.params. 1 to kMaxKind - 1.
using Kind = uint16_t;
inline constexpr Kind kMaxKind = 128;

// Most commands of one transaction, save flushes.
inline constexpr size_t kMaxBatch = 4096;

// What the store must know of a kind; given to Store at start.
struct KindSpec {
  Kind kind = 0;
  std::string name;  // "gact"
  // Bytes of parameters that fit in the record itself; longer ones take a heap block. 8 to 1024.
  // Choose it so that nearly all actions of the kind fit.
  uint32_t inline_params = 24;
};

// Where per-CPU counters come from; DESIGN "allocation modes".
enum class AllocMode : uint8_t {
  kPerObject,   // three regions allocated at create, freed at destroy: the kernel before the RFC
  kSlab,        // three regions owned by the slab constructor: the RFC
  kSlabMerged,  // one 64-byte line owned by the slab constructor, a slab's lines in one allocation
};
absl::string_view AllocModeName(AllocMode mode);  // "per-object", "slab", "slab-merged"

inline constexpr size_t kMaxCookieBytes = 16;

struct Cookie {
  uint8_t size = 0;  // 0: none
  std::array<uint8_t, kMaxCookieBytes> bytes{};

  absl::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), size}; }
};

// Same numbers as tcact.v1.HwStats.
enum class HwStats : uint8_t { kAny = 0, kImmediate = 1, kDelayed = 2, kDisabled = 3 };

// What an action is to be. `params` is opaque to the core: the kind's canonical encoding.
struct Spec {
  Kind kind = 0;
  uint32_t index = 0;  // 0: the lowest free one (create, bind, replace)
  absl::string_view params;
  Cookie cookie;
  HwStats hw_stats = HwStats::kAny;
  bool no_percpu = false;
  bool skip_hw = false;
  // The kind and its parameters could be offloaded to hardware, so asking the hardware makes
  // used_hw_stats known.
  bool offloadable = false;
  // Bind only: binds what is there; an absent action is kNotFound and not made. Then only kind,
  // index and cookie are looked at.
  bool bind_only = false;
};

enum class OpType : uint8_t {
  kCreate,      // index free or 0
  kReplace,     // creates what is absent
  kDelete,      // kind and index only
  kBind,        // creates what is absent; else a reference, and the cookie if one is given
  kUnbind,      // kind and index only
  kResetStats,  // kind and index only
};

struct Op {
  OpType type = OpType::kCreate;
  Spec spec;
};

struct Counters {
  uint64_t bytes = 0;
  uint64_t packets = 0;
  uint64_t hw_bytes = 0;
  uint64_t hw_packets = 0;
  uint64_t drops = 0;
  uint32_t overlimits = 0;
  uint32_t requeues = 0;
  uint32_t qlen = 0;
  uint32_t backlog = 0;

  friend bool operator==(const Counters&, const Counters&) = default;
};

// One addition to an action's counters. hw_* are parts of bytes and packets that are added to those
// too by the caller. Sums stop at the largest value; gauges stop at 0.
struct StatsDelta {
  uint64_t bytes = 0;
  uint64_t packets = 0;
  uint64_t hw_bytes = 0;
  uint64_t hw_packets = 0;
  uint64_t drops = 0;
  uint32_t overlimits = 0;
  uint32_t requeues = 0;
  int32_t qlen = 0;
  int32_t backlog = 0;
};

// An action as a reader sees it: all fields are of one moment, counters are each exact at some
// moment of the call.
struct Snapshot {
  Kind kind = 0;
  uint32_t index = 0;
  uint64_t generation = 0;  // which life of the index; never 0, never the same twice in one store
  uint32_t refcnt = 0;
  uint32_t bindcnt = 0;
  Cookie cookie;
  HwStats hw_stats = HwStats::kAny;
  bool used_hw_stats_known = false;
  bool no_percpu = false;
  bool skip_hw = false;
  bool offloadable = false;
  bool stats_saved = false;  // SaveStats was called in this life
  // Unix time in milliseconds.
  int64_t installed_ms = 0;
  int64_t last_used_ms = 0;   // installed_ms if never used
  int64_t first_used_ms = 0;  // 0: never
  Counters counters;          // only where asked for
  std::string params;         // only where asked for
};

// Parts of a Snapshot that cost something.
enum SnapshotParts : uint8_t { kNoParts = 0, kWithParams = 1, kWithCounters = 2, kAllParts = 3 };

// An action as it was kept elsewhere, to be put back as it was.
struct SavedAction {
  Spec spec;                // index given
  uint64_t generation = 0;  // not 0
  bool standalone = false;  // holds a reference of its own; else it dies with its last bind
  uint32_t binds = 0;       // 0 to 2^28 - 1; not 0 unless standalone
  int64_t installed_ms = 0;
};

// The counters of one life and the moments of its use, to be put back as they were.
struct SavedStats {
  uint64_t generation = 0;
  int64_t last_used_ms = 0;
  int64_t first_used_ms = 0;  // 0: never
  Counters counters;
};

enum class Errc : uint16_t {
  kOk = 0,
  kExists,
  kNotFound,
  kBound,      // delete or flush of an action with binds
  kNotBound,   // unbind without binds
  kDuplicate,  // one index twice in one transaction
  kBusy,       // another transaction holds the action; retry
  kNoFreeIndex,
  kNoMemory,
  kQuota,  // the namespace's quota of actions
  kTooManyNetns,
  kTooManyBinds,  // of one action: 2^28 - 1
  kNetnsGone,     // deleted while the command ran
  kBadName,       // not a namespace name
  kUnknownKind,
};

// A failed command: why, and which action of which operation. Two whole words without a hole
// between: success is then returned in registers, where other layouts make the compiler assemble it
// in memory.
struct [[nodiscard]] Error {
  Errc code = Errc::kOk;
  Kind kind = 0;
  uint32_t index = 0;
  uint64_t position = 0;  // in the transaction

  bool ok() const { return code == Errc::kOk; }
};
static_assert(sizeof(Error) == 16);

}  // namespace tcact::act

#endif  // TCACT_SERVER_CORE_ACT_TYPES_H_
