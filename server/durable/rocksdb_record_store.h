// RocksDbRecordStore: records in a directory, by RocksDB inside this process.
//
// The directory is locked by whoever has it open, holds one column family, and is read with every
// checksum checked. A log whose last batch was cut off by a crash is taken without that batch; any
// other damage refuses to open, with the file and what to do in the error.
#ifndef TCACT_SERVER_DURABLE_ROCKSDB_RECORD_STORE_H_
#define TCACT_SERVER_DURABLE_ROCKSDB_RECORD_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/durable/record_store.h"

namespace tcact::durable {

struct RocksDbOptions {
  // Made when absent, with its parents.
  std::string directory;
  // False: the directory must be there, nothing is written to it, and a server may have it open.
  bool writable = true;
};

// Errors: UNAVAILABLE (another process has the directory open), DATA_LOSS (damaged), NOT_FOUND
// (only when not writable), INTERNAL (cannot be read or made).
absl::StatusOr<std::unique_ptr<RecordStore>> OpenRocksDb(const RocksDbOptions& options);

// Reads every block of every file and checks its checksum. REQUIRES: the store is of OpenRocksDb.
absl::Status VerifyFiles(RecordStore* store);

}  // namespace tcact::durable

#endif  // TCACT_SERVER_DURABLE_ROCKSDB_RECORD_STORE_H_
