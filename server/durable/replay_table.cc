#include "server/durable/replay_table.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/base/check.h"
#include "server/durable/records.h"

namespace tcact::durable {
namespace {

constexpr size_t kMaxAnswer = kMaxValueBytes / 2;

std::string KeyOf(absl::string_view id) {
  return absl::StrCat(absl::string_view(&kReplayKey, 1), id);
}

}  // namespace

ReplayTable::Found ReplayTable::Begin(absl::string_view id, uint64_t fingerprint, int64_t now_ms,
                                      std::string* answer) {
  lock::CountedLock lock(&mutex_);
  const auto found = entries_.find(id);
  if (found != entries_.end()) {
    const Entry& entry = found->second;
    const bool expired = entry.done && entry.done_ms + kKeepMs < now_ms;
    if (!expired) {
      if (entry.fingerprint != fingerprint) return Found::kOther;
      if (!entry.done) return Found::kRunning;
      *answer = entry.answer;
      return Found::kDone;
    }
    answer_bytes_ -= entry.answer.size();
    entries_.erase(found);
  }
  entries_[std::string(id)].fingerprint = fingerprint;
  return Found::kNew;
}

void ReplayTable::Finish(absl::string_view id, int64_t now_ms, absl::string_view answer,
                         Batch* batch) {
  if (answer.size() > kMaxAnswer) return Forget(id);
  lock::CountedLock lock(&mutex_);
  const auto found = entries_.find(id);
  TCACT_CHECK(found != entries_.end() && !found->second.done, "an id is finished once");
  const uint64_t fingerprint = found->second.fingerprint;
  Add(id, fingerprint, now_ms, std::string(answer));
  if (batch != nullptr) {
    std::string value;
    AppendVarint(static_cast<uint64_t>(std::max<int64_t>(now_ms, 0)), &value);
    AppendFixed64(fingerprint, &value);
    value.append(answer.data(), answer.size());
    batch->Put(KeyOf(id), value);
  }
  Purge(now_ms, batch);
}

void ReplayTable::Forget(absl::string_view id) {
  lock::CountedLock lock(&mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  answer_bytes_ -= found->second.answer.size();
  entries_.erase(found);
}

void ReplayTable::Add(absl::string_view id, uint64_t fingerprint, int64_t done_ms,
                      std::string answer) {
  answer_bytes_ += answer.size();
  entries_[std::string(id)] = {fingerprint, true, done_ms, std::move(answer)};
  by_age_.emplace_back(done_ms, id);
}

void ReplayTable::Purge(int64_t now_ms, Batch* batch) {
  while (!by_age_.empty()) {
    const auto& [done_ms, id] = by_age_.front();
    const bool old = done_ms + kKeepMs < now_ms;
    if (!old && by_age_.size() <= kMaxIds && answer_bytes_ <= kMaxAnswerBytes) return;
    const auto found = entries_.find(id);
    // Else it was lost, or done again since.
    if (found != entries_.end() && found->second.done && found->second.done_ms == done_ms) {
      answer_bytes_ -= found->second.answer.size();
      if (batch != nullptr) batch->Delete(KeyOf(id));
      entries_.erase(found);
    }
    by_age_.pop_front();
  }
}

absl::Status ReplayTable::Load(RecordStore* store, int64_t now_ms, Batch* batch) {
  struct Row {
    int64_t done_ms;
    std::string id;
    uint64_t fingerprint;
    std::string answer;
  };
  std::vector<Row> rows;
  const absl::Status status =
      store->Scan({&kReplayKey, 1}, [&](absl::string_view key, absl::string_view value) {
        Reader reader(value);
        const auto done_ms = static_cast<int64_t>(reader.Varint());
        const uint64_t fingerprint = reader.Fixed64();
        const absl::string_view answer = reader.Rest();
        if (!reader.ok() || key.size() < 2)
          return absl::DataLossError(absl::StrCat(ShowKey(key), ": the record is damaged"));
        if (done_ms + kKeepMs < now_ms) {
          batch->Delete(key);
        } else {
          rows.push_back({done_ms, std::string(key.substr(1)), fingerprint, std::string(answer)});
        }
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.done_ms < b.done_ms; });
  lock::CountedLock lock(&mutex_);
  for (Row& row : rows) Add(row.id, row.fingerprint, row.done_ms, std::move(row.answer));
  Purge(now_ms, batch);
  return absl::OkStatus();
}

void ReplayTable::Undo(const Change& change) {
  // A lost deletion needs nothing: the id is too old either way.
  if (change.type == ChangeType::kPut) Forget(change.key.substr(1));
}

size_t ReplayTable::size() const {
  lock::CountedLock lock(&mutex_);
  return entries_.size();
}

}  // namespace tcact::durable
