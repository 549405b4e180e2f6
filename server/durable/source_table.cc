#include "server/durable/source_table.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "server/durable/records.h"

namespace tcact::durable {
namespace {

std::string KeyOf(absl::string_view source) {
  return absl::StrCat(absl::string_view(&kSourceKey, 1), source);
}

void PutRecord(absl::string_view source, uint64_t sequence, int64_t used_ms, Batch* batch) {
  std::string value;
  AppendVarint(sequence, &value);
  AppendVarint(static_cast<uint64_t>(std::max<int64_t>(used_ms, 0)), &value);
  batch->Put(KeyOf(source), value);
}

bool ReadRecord(absl::string_view value, uint64_t* sequence, int64_t* used_ms) {
  Reader reader(value);
  *sequence = reader.Varint();
  *used_ms = static_cast<int64_t>(reader.Varint());
  return reader.done();
}

}  // namespace

SourceTable::Claim::Claim(SourceTable* table,
                          absl::string_view source) ABSL_NO_THREAD_SAFETY_ANALYSIS
    : mutex_(table->StripeOf(source)) {
  mutex_->Lock();
}

SourceTable::Claim::~Claim() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_->Unlock(); }

absl::Mutex* SourceTable::StripeOf(absl::string_view source) {
  return &stripes_[absl::HashOf(source) % kStripes];
}

SourceTable::Verdict SourceTable::Look(absl::string_view source, uint64_t sequence,
                                       int64_t now_ms) {
  absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(source);
  if (found != entries_.end())
    return sequence > found->second.sequence ? Verdict::kCount : Verdict::kCounted;
  return entries_.size() < kMaxSources || MakeRoom(now_ms) ? Verdict::kCount : Verdict::kTooMany;
}

bool SourceTable::MakeRoom(int64_t now_ms) {
  // Rare, and one pass makes room for many.
  std::vector<std::string> old;
  for (const auto& [source, entry] : entries_) {
    if (entry.used_ms + kForgetMs < now_ms) old.push_back(source);
  }
  for (const std::string& source : old) {
    entries_.erase(source);
    forgotten_.push_back(source);
  }
  return !old.empty();
}

void SourceTable::Note(absl::string_view source, uint64_t sequence, int64_t now_ms, Batch* batch) {
  absl::MutexLock lock(&mutex_);
  Entry& entry = entries_[std::string(source)];
  entry = {sequence, now_ms, batch == nullptr};
  if (batch != nullptr) PutRecord(source, sequence, now_ms, batch);
}

void SourceTable::SaveChanged(Batch* batch) {
  absl::MutexLock lock(&mutex_);
  for (const std::string& source : forgotten_) {
    if (!entries_.contains(source)) batch->Delete(KeyOf(source));
  }
  forgotten_.clear();
  for (auto& [source, entry] : entries_) {
    if (!entry.changed) continue;
    entry.changed = false;
    PutRecord(source, entry.sequence, entry.used_ms, batch);
  }
}

absl::Status SourceTable::Load(RecordStore* store) {
  absl::MutexLock lock(&mutex_);
  return store->Scan(
      {&kSourceKey, 1},
      [this](absl::string_view key, absl::string_view value) ABSL_NO_THREAD_SAFETY_ANALYSIS {
        Entry entry;
        if (key.size() < 2 || !ReadRecord(value, &entry.sequence, &entry.used_ms))
          return absl::DataLossError(absl::StrCat(ShowKey(key), ": the record is damaged"));
        entries_[std::string(key.substr(1))] = entry;
        return absl::OkStatus();
      });
}

void SourceTable::Undo(const Change& change, RecordStore* store) {
  const absl::string_view source = change.key.substr(1);
  std::string value;
  Entry entry;
  const absl::Status status = store->Get(change.key, &value);
  absl::MutexLock lock(&mutex_);
  if (absl::IsNotFound(status)) {
    entries_.erase(source);
  } else if (status.ok() && ReadRecord(value, &entry.sequence, &entry.used_ms)) {
    entries_[std::string(source)] = entry;
  }
}

size_t SourceTable::size() const {
  absl::MutexLock lock(&mutex_);
  return entries_.size();
}

}  // namespace tcact::durable
