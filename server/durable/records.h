// The keys and values that make the server's state, in format version 1.
//
//   key                              value
//   "f"                              the format: "tcact " and the version in digits
//   "g"                              8 bytes: generations below it may have been given out
//   "n" NAME                         quota (varint; 0: none): the namespace exists
//   "a" NAME 00 KIND INDEX           the action: EncodeAction
//   "s" NAME 00 KIND INDEX           its counters: EncodeStats
//   "q" SOURCE                       sequence (varint), time (varint): see source_table.h
//   "r" REQUEST_ID                   see replay_table.h
// NAME is a namespace's name, which holds no byte 00; KIND is 2 bytes and INDEX 4, high byte first,
// so that a scan ascends as a dump does. Other numbers: low byte first; varint as in protobuf.
// Times are Unix milliseconds.
//
// Invariants
//   - Every "a" has its "n".
//   - An "s" without an "a" of the same key and generation means nothing.
//   - Each value is written whole: none depends on an earlier one.
#ifndef TCACT_SERVER_DURABLE_RECORDS_H_
#define TCACT_SERVER_DURABLE_RECORDS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/act/store.h"
#include "server/durable/record_store.h"

namespace tcact::durable {

inline constexpr uint32_t kFormatVersion = 1;

// What a key begins with.
inline constexpr char kFormatKey = 'f';
inline constexpr char kGenerationKey = 'g';
inline constexpr char kNetnsKey = 'n';
inline constexpr char kActionKey = 'a';
inline constexpr char kStatsKey = 's';
inline constexpr char kSourceKey = 'q';
inline constexpr char kReplayKey = 'r';

// Numbers and bytes, appended.
void AppendFixed64(uint64_t value, std::string* out);
void AppendVarint(uint64_t value, std::string* out);
void AppendBytes(absl::string_view bytes, std::string* out);  // length first

// Takes numbers and bytes from the front of a value. Once one was cut off or too long, ok() is
// false and everything reads as 0.
class Reader {
 public:
  explicit Reader(absl::string_view from) : rest_(from) {}
  uint8_t Byte();
  uint64_t Fixed64();
  uint64_t Varint();
  absl::string_view Bytes();
  // Everything that is left.
  absl::string_view Rest();
  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }

 private:
  void Fail();
  absl::string_view rest_;
  bool ok_ = true;
};

// "a" or "s" (`type`) of an action. Reuses *key.
void MakeKey(char type, absl::string_view netns, act::Kind kind, uint32_t index, std::string* key);
// What all such keys of a namespace begin with.
std::string NetnsPrefix(char type, absl::string_view netns);
std::string NetnsKey(absl::string_view netns);

struct ActionKey {
  absl::string_view netns;
  act::Kind kind = 0;
  uint32_t index = 0;
};
// False if it is no such key.
bool ParseKey(absl::string_view key, ActionKey* parsed);

// REQUIRES: the snapshot is of a live action, with parameters.
void EncodeAction(const act::Snapshot& snapshot, std::string* value);
// False if the value is damaged. saved->spec.params points into `value`; kind and index are left
// alone.
bool DecodeAction(absl::string_view value, act::SavedAction* saved);

// REQUIRES: with counters.
void EncodeStats(const act::Snapshot& snapshot, std::string* value);
bool DecodeStats(absl::string_view value, act::SavedStats* saved);

// Notes what a committed step made of its action. REQUIRES: `snapshot` is that step's, with
// parameters unless it was destroyed.
void RecordStep(absl::string_view netns, const act::Step& step, const act::Snapshot& snapshot,
                Batch* batch);
// Notes an action's counters. REQUIRES: with counters.
void RecordStats(absl::string_view netns, const act::Snapshot& snapshot, Batch* batch);
// That a namespace exists, with its quota.
void RecordNetns(absl::string_view netns, uint64_t max_actions, Batch* batch);
// That it and its actions are gone.
void RecordNetnsGone(absl::string_view netns, Batch* batch);
// That generations below `bound` may have been given out.
void RecordGenerationBound(uint64_t bound, Batch* batch);

// Writes the format of an empty store; refuses a newer one (FAILED_PRECONDITION) and what is not
// ours (DATA_LOSS). There is no older format yet. `writable` false: an empty store is NOT_FOUND.
absl::Status OpenFormat(RecordStore* store, bool writable);

// A key for people. Kinds are shown by their numbers: names are not known here.
std::string ShowKey(absl::string_view key);

}  // namespace tcact::durable

#endif  // TCACT_SERVER_DURABLE_RECORDS_H_
