// SourceTable: how far each source of statistics has been counted, so that an update that is sent
// again is not counted again.
//
// Invariants
//   - A source's sequence only grows. An update is counted if its sequence is greater, else it is
//     acknowledged and dropped.
//   - At most kMaxSources sources. A new one takes the place of the one unused longest, if that was
//     unused for kForgetMs; else it is refused: forgetting a live source would count twice.
//
// Thread safety: all methods, from any thread. Updates of one source run one after the other: each
// holds a Claim.
#ifndef TCACT_SERVER_DURABLE_SOURCE_TABLE_H_
#define TCACT_SERVER_DURABLE_SOURCE_TABLE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/durable/record_store.h"

namespace tcact::durable {

inline constexpr size_t kMaxSourceBytes = 128;

class SourceTable {
 public:
  static constexpr size_t kMaxSources = 65'536;
  static constexpr int64_t kForgetMs = 10 * 60 * 1000;

  // Keeps other updates of the same source away while it lives. Before a journal's turn in lock
  // order.
  class Claim {
   public:
    Claim(SourceTable* table, absl::string_view source);
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

   private:
    absl::Mutex* const mutex_;
  };

  enum class Verdict { kCount, kCounted, kTooMany };
  // Whether an update is to be counted. REQUIRES: a Claim; source of 1 to kMaxSourceBytes bytes.
  Verdict Look(absl::string_view source, uint64_t sequence, int64_t now_ms);
  // It was counted. `batch`, if not null, gets the record; else it comes with the next SaveChanged.
  void Note(absl::string_view source, uint64_t sequence, int64_t now_ms, Batch* batch);
  // Appends what was noted since the last call.
  void SaveChanged(Batch* batch);

  absl::Status Load(RecordStore* store);
  // Takes a source back to what is recorded, after a lost change of a "q" record.
  void Undo(const Change& change, RecordStore* store);

  size_t size() const;

 private:
  struct Entry {
    uint64_t sequence = 0;
    int64_t used_ms = 0;
    bool changed = false;
  };

  static constexpr size_t kStripes = 64;
  absl::Mutex* StripeOf(absl::string_view source);
  bool MakeRoom(int64_t now_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::array<absl::Mutex, kStripes> stripes_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // Forgotten since the last SaveChanged.
  std::vector<std::string> forgotten_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tcact::durable

#endif  // TCACT_SERVER_DURABLE_SOURCE_TABLE_H_
