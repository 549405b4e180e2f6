// MemoryRecordStore: a RecordStore without a disk, for tests and for embedding: records end with
// it. What it costs a server is not paid by `--store=memory`, which has no record store at all.
#ifndef TCACT_SERVER_DURABLE_MEMORY_RECORD_STORE_H_
#define TCACT_SERVER_DURABLE_MEMORY_RECORD_STORE_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/synchronization/mutex.h"
#include "server/durable/record_store.h"

namespace tcact::durable {

class MemoryRecordStore final : public RecordStore {
 public:
  absl::Status Commit(const Batch& batch, Level level) override;
  // Visits a copy: `visit` may call the store.
  absl::Status Scan(absl::string_view prefix,
                    absl::FunctionRef<absl::Status(absl::string_view key, absl::string_view value)>
                        visit) override;
  absl::Status Get(absl::string_view key, std::string* value) override;
  uint64_t DiskBytes() override { return 0; }
  absl::Status Close() override { return absl::OkStatus(); }

 private:
  absl::Mutex mutex_;
  absl::btree_map<std::string, std::string> records_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tcact::durable

#endif  // TCACT_SERVER_DURABLE_MEMORY_RECORD_STORE_H_
