// RecordStore: where the server's records lie: keys and values, bytes both.
//
// Three properties, the same for every implementation (tests/server/durable/record_store_test.cc
// holds each to them):
//   - A batch is atomic: after a crash all of it is there or nothing.
//   - Batches are ordered by commit, and the changes of one batch by their order in it: if a change
//     is there, all earlier ones are, save those that later ones undid.
//   - When Commit returns OK the batch is as durable as `level` says.
// And one rule for failure: after a Commit that failed, what it brought is not seen by Scan and Get
// of this process, but may be there after the next open: a disk that fails to sync does not tell.
// The store takes no further Commit then.
//
// The interface must also suit a replicated store with transactions and leases: keys are at most
// kMaxKeyBytes, values kMaxValueBytes, and nothing but Put, Delete and DeletePrefix is asked of it.
//
// Thread safety: Commit from one thread at a time; Scan and Get from any thread, also meanwhile.
#ifndef TCACT_SERVER_DURABLE_RECORD_STORE_H_
#define TCACT_SERVER_DURABLE_RECORD_STORE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tcact::durable {

inline constexpr size_t kMaxKeyBytes = 512;
inline constexpr size_t kMaxValueBytes = size_t{1} << 20;

// What an answered change survives.
enum class Level : uint8_t {
  kSync,    // a power cut
  kOs,      // the end of the process (kill -9), not of the operating system
  kMemory,  // nothing; it is written soon
};
absl::string_view LevelName(Level level);  // "sync", "os", "memory"

enum class ChangeType : uint8_t { kPut = 1, kDelete = 2, kDeletePrefix = 3 };

// One change of a batch, as it is seen by a visitor.
struct Change {
  ChangeType type = ChangeType::kPut;
  absl::string_view key;    // of kDeletePrefix: the prefix, not empty, not ending in '\xff'
  absl::string_view value;  // of kPut
  bool fresh = false;       // of kPut: PutNew
};

// Changes in order; later ones win. One buffer, so that adding one allocates nothing most of the
// time and clearing keeps the memory.
class Batch {
 public:
  // REQUIRES: key of 1 to kMaxKeyBytes, value of at most kMaxValueBytes (checked: aborts).
  void Put(absl::string_view key, absl::string_view value) { Add(ChangeType::kPut, key, value); }
  // The same for a key that is not there when the batch is committed, or was deleted earlier in it.
  void PutNew(absl::string_view key, absl::string_view value) {
    Add(ChangeType::kPut, key, value, /*fresh=*/true);
  }
  void Delete(absl::string_view key) { Add(ChangeType::kDelete, key, {}); }
  void DeletePrefix(absl::string_view prefix) { Add(ChangeType::kDeletePrefix, prefix, {}); }

  bool empty() const { return changes_ == 0; }
  size_t changes() const { return changes_; }
  size_t bytes() const { return buffer_.size(); }
  // Gives memory back if it is much.
  void Clear();
  // Drops changes that later ones of the batch make void; what the batch does stays the same. What
  // was made and deleted in it vanishes.
  void Compact();

  // In order.
  void ForEach(absl::FunctionRef<void(const Change& change)> visit) const;

 private:
  void Add(ChangeType type, absl::string_view key, absl::string_view value, bool fresh = false);

  // For each change: type and fresh (1 byte), size of the key (2), size of the value (4), key,
  // value.
  std::string buffer_;
  size_t changes_ = 0;
};

class RecordStore {
 public:
  virtual ~RecordStore() = default;

  // Writes all of the batch or, with an error, nothing that this process will see.
  virtual absl::Status Commit(const Batch& batch, Level level) = 0;

  // Visits what starts with `prefix`, ascending by key (bytes compare unsigned), as it was at one
  // moment. An error from `visit` ends the scan and is returned; a damaged record is DATA_LOSS, and
  // names the file.
  virtual absl::Status Scan(
      absl::string_view prefix,
      absl::FunctionRef<absl::Status(absl::string_view key, absl::string_view value)> visit) = 0;

  // NOT_FOUND if there is none.
  virtual absl::Status Get(absl::string_view key, std::string* value) = 0;

  // Bytes on disk, about; 0 for a store in memory.
  virtual uint64_t DiskBytes() = 0;

  // Makes everything that was committed survive a power cut and gives the store free for another
  // process. REQUIRES: no other call then or later, but destruction.
  virtual absl::Status Close() = 0;
};

}  // namespace tcact::durable

#endif  // TCACT_SERVER_DURABLE_RECORD_STORE_H_
