// A store with two kinds for tests: kSmall, whose parameters fit the record, and kLarge, whose do
// not.
#ifndef TCACT_TESTS_SERVER_CORE_ACT_STORE_FIXTURE_H_
#define TCACT_TESTS_SERVER_CORE_ACT_STORE_FIXTURE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/act/store.h"

namespace tcact::act {

inline constexpr Kind kSmall = 16;
inline constexpr Kind kLarge = 17;

inline StoreOptions TestOptions(AllocMode mode, uint32_t max_netns = 1000) {
  StoreOptions options;
  options.alloc_mode = mode;
  options.kinds = {{kSmall, "small", 24}, {kLarge, "large", 8}};
  options.max_netns = max_netns;
  options.cpus = 2;
  return options;
}

inline Op MakeOp(OpType type, uint32_t index, absl::string_view params = "p", Kind kind = kSmall) {
  Op op;
  op.type = type;
  op.spec.kind = kind;
  op.spec.index = index;
  op.spec.params = params;
  return op;
}

inline Cookie MakeCookie(absl::string_view bytes) {
  Cookie cookie;
  cookie.size = static_cast<uint8_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), cookie.bytes.begin());
  return cookie;
}

// Shorthand for a store with one open namespace.
class TestStore {
 public:
  explicit TestStore(AllocMode mode = AllocMode::kSlabMerged) : store_(TestOptions(mode)) {
    (void)store_.OpenNetns("", &netns_);
  }

  // Prepares and commits; the error of Prepare.
  Error Run(std::vector<Op> ops, int64_t now_ms = 1000) {
    Transaction txn;
    const Error error = store_.Prepare(netns_, ops, now_ms, &txn);
    if (error.ok()) store_.Commit(&txn);
    return error;
  }
  Errc Run1(const Op& op, int64_t now_ms = 1000) { return Run({op}, now_ms).code; }

  // The snapshot of an index; refcnt 0 if there is none.
  Snapshot Get(uint32_t index, Kind kind = kSmall) {
    Snapshot snapshot;
    if (!store_.Get(netns_, kind, index, kAllParts, &snapshot).ok()) snapshot = Snapshot();
    return snapshot;
  }
  bool Exists(uint32_t index, Kind kind = kSmall) { return Get(index, kind).refcnt != 0; }

  std::vector<uint32_t> Indexes(Kind kind = kSmall) {
    std::vector<uint32_t> indexes;
    store_.Dump(netns_, kind, 1, {}, [&](Snapshot& snapshot) {
      indexes.push_back(snapshot.index);
      return true;
    });
    return indexes;
  }

  uint64_t RecordsInUse(Kind kind = kSmall) {
    return store_.cache_for_test(kind)->stats().objects_in_use;
  }

  Store* operator->() { return &store_; }
  Store& store() { return store_; }
  const NetnsRef& netns() const { return netns_; }
  void DropNetns() { netns_ = NetnsRef(); }

 private:
  Store store_;
  NetnsRef netns_;
};

}  // namespace tcact::act

#endif  // TCACT_TESTS_SERVER_CORE_ACT_STORE_FIXTURE_H_
