#include "server/durable/memory_record_store.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"

namespace tcact::durable {

absl::Status MemoryRecordStore::Commit(const Batch& batch, Level) {
  absl::MutexLock lock(&mutex_);
  batch.ForEach([this](const Change& change) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    switch (change.type) {
      case ChangeType::kPut:
        records_[std::string(change.key)] = std::string(change.value);
        break;
      case ChangeType::kDelete:
        records_.erase(std::string(change.key));
        break;
      case ChangeType::kDeletePrefix: {
        const auto first = records_.lower_bound(std::string(change.key));
        auto last = first;
        while (last != records_.end() && absl::StartsWith(last->first, change.key)) ++last;
        records_.erase(first, last);
        break;
      }
    }
  });
  return absl::OkStatus();
}

absl::Status MemoryRecordStore::Scan(
    absl::string_view prefix,
    absl::FunctionRef<absl::Status(absl::string_view key, absl::string_view value)> visit) {
  std::vector<std::pair<std::string, std::string>> found;
  {
    absl::MutexLock lock(&mutex_);
    for (auto at = records_.lower_bound(std::string(prefix));
         at != records_.end() && absl::StartsWith(at->first, prefix); ++at) {
      found.emplace_back(at->first, at->second);
    }
  }
  for (const auto& [key, value] : found) {
    if (absl::Status status = visit(key, value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status MemoryRecordStore::Get(absl::string_view key, std::string* value) {
  absl::MutexLock lock(&mutex_);
  const auto found = records_.find(std::string(key));
  if (found == records_.end()) return absl::NotFoundError("no such record");
  *value = found->second;
  return absl::OkStatus();
}

}  // namespace tcact::durable
