// ReplayTable: the answers of changes that came with a request id, so that a retry gets the first
// answer and changes nothing.
//
// Invariants
//   - An id is new, running, or done with its answer. Only the request that found it new makes it
//     done or forgets it.
//   - A done id stays for kKeep, unless more than kMaxIds ids or kMaxAnswerBytes bytes of answers
//     came after it: then the oldest go first.
//   - With a journal an answer is recorded in the batch of the changes that it tells of.
//
// Thread safety: all methods, from any thread.
#ifndef TCACT_SERVER_DURABLE_REPLAY_TABLE_H_
#define TCACT_SERVER_DURABLE_REPLAY_TABLE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/lock/counted_mutex.h"
#include "server/durable/record_store.h"

namespace tcact::durable {

inline constexpr size_t kMaxRequestIdBytes = 128;

class ReplayTable {
 public:
  static constexpr int64_t kKeepMs = 10 * 60 * 1000;
  static constexpr size_t kMaxIds = 1'000'000;
  static constexpr size_t kMaxAnswerBytes = size_t{256} << 20;

  enum class Found {
    kNew,      // the caller runs it, then calls Finish or Forget
    kDone,     // *answer is what the first try was answered
    kRunning,  // the first try is not done yet
    kOther,    // the id belongs to a request with another fingerprint
  };

  // REQUIRES: id of 1 to kMaxRequestIdBytes bytes.
  Found Begin(absl::string_view id, uint64_t fingerprint, int64_t now_ms, std::string* answer);
  // `batch` may be null: nothing is recorded. Answers of more than kMaxValueBytes / 2 are
  // forgotten.
  void Finish(absl::string_view id, int64_t now_ms, absl::string_view answer, Batch* batch);
  // The try changed nothing: the next one is new.
  void Forget(absl::string_view id);

  // Reads what was recorded and is not too old; `batch` gets the deletion of the rest.
  absl::Status Load(RecordStore* store, int64_t now_ms, Batch* batch);
  // Undoes what a lost change of a "r" record did.
  void Undo(const Change& change);

  size_t size() const;

 private:
  struct Entry {
    uint64_t fingerprint = 0;
    bool done = false;
    int64_t done_ms = 0;
    std::string answer;
  };
  using Map = absl::flat_hash_map<std::string, Entry>;

  void Add(absl::string_view id, uint64_t fingerprint, int64_t done_ms, std::string answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Purge(int64_t now_ms, Batch* batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable lock::CountedMutex mutex_{"request_ids"};
  Map entries_ ABSL_GUARDED_BY(mutex_);
  // Done ids, the oldest first; an id that was done, lost and done again stands here twice.
  std::deque<std::pair<int64_t, std::string>> by_age_ ABSL_GUARDED_BY(mutex_);
  size_t answer_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tcact::durable

#endif  // TCACT_SERVER_DURABLE_REPLAY_TABLE_H_
