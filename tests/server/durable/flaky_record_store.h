// A record store in memory whose commits can be made to wait and to fail; and one that is shared,
// so that a test can open it again after its keeper is gone.
#ifndef TCACT_TESTS_SERVER_DURABLE_FLAKY_RECORD_STORE_H_
#define TCACT_TESTS_SERVER_DURABLE_FLAKY_RECORD_STORE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "server/durable/memory_record_store.h"

namespace tcact::durable {

class FlakyRecordStore final : public RecordStore {
 public:
  explicit FlakyRecordStore(
      std::shared_ptr<RecordStore> inner = std::make_shared<MemoryRecordStore>())
      : inner_(std::move(inner)) {}

  // Commits wait until Release.
  void Hold() {
    absl::MutexLock lock(&mutex_);
    held_ = true;
  }
  void Release() {
    absl::MutexLock lock(&mutex_);
    held_ = false;
    changed_.SignalAll();
  }
  // From now on commits fail.
  void Break() {
    absl::MutexLock lock(&mutex_);
    broken_ = true;
  }
  int commits() {
    absl::MutexLock lock(&mutex_);
    return commits_;
  }
  Level last_level() {
    absl::MutexLock lock(&mutex_);
    return last_level_;
  }

  absl::Status Commit(const Batch& batch, Level level) override {
    {
      absl::MutexLock lock(&mutex_);
      while (held_) changed_.Wait(&mutex_);
      if (broken_) return absl::ResourceExhaustedError("no space left on device");
      ++commits_;
      last_level_ = level;
    }
    return inner_->Commit(batch, level);
  }
  absl::Status Scan(absl::string_view prefix,
                    absl::FunctionRef<absl::Status(absl::string_view key, absl::string_view value)>
                        visit) override {
    return inner_->Scan(prefix, visit);
  }
  absl::Status Get(absl::string_view key, std::string* value) override {
    return inner_->Get(key, value);
  }
  uint64_t DiskBytes() override { return 0; }
  absl::Status Close() override { return absl::OkStatus(); }

 private:
  const std::shared_ptr<RecordStore> inner_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  bool held_ = false;
  bool broken_ = false;
  int commits_ = 0;
  Level last_level_ = Level::kMemory;
};

}  // namespace tcact::durable

#endif  // TCACT_TESTS_SERVER_DURABLE_FLAKY_RECORD_STORE_H_
