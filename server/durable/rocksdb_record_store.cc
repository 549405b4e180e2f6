#include "server/durable/rocksdb_record_store.h"

#include <sys/stat.h>

#include <cstdarg>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/write_batch.h"
#include "server/core/base/check.h"

namespace tcact::durable {
namespace {

constexpr size_t kMemtableBytes = size_t{64} << 20;
// The log is what a start replays before it scans.
constexpr uint64_t kMaxLogBytes = uint64_t{256} << 20;
constexpr size_t kBlockBytes = size_t{32} << 10;

rocksdb::Slice SliceOf(absl::string_view text) { return {text.data(), text.size()}; }

absl::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

absl::Status ToStatus(const std::string& directory, absl::string_view doing,
                      const rocksdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const std::string text = absl::StrCat(directory, ": ", doing, ": ", status.ToString());
  if (status.IsNotFound()) return absl::NotFoundError(text);
  if (status.IsCorruption()) {
    return absl::DataLossError(absl::StrCat(
        text,
        ". The store is damaged and was not loaded. Restore a backup (tcact restore) into a new "
        "directory, or find out with tcactd --check what can still be read"));
  }
  if (status.IsIOError() && absl::StrContains(text, "lock")) {
    return absl::UnavailableError(absl::StrCat(
        text, ". Another tcactd has this directory open; end it or give another directory"));
  }
  if (status.IsNoSpace()) return absl::ResourceExhaustedError(text);
  return absl::InternalError(text);
}

// RocksDB's own log is a file beside the data, written by a logger that aborts the process when the
// disk is full. What matters of it is in the errors that it returns.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::Options MakeOptions(bool writable) {
  rocksdb::Options options;
  options.create_if_missing = writable;
  options.paranoid_checks = true;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // Nothing is read while the server runs: appending is all that a write needs.
  options.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>(1 << 16);
  options.allow_concurrent_memtable_write = false;
  options.write_buffer_size = kMemtableBytes;
  options.max_write_buffer_number = 4;
  options.max_total_wal_size = kMaxLogBytes;
  options.avoid_flush_during_shutdown = true;
  options.max_background_jobs = 2;
  options.bytes_per_sync = 1 << 20;
  // The server turns read-only at the first error; a store that heals itself behind its back would
  // be of another opinion.
  options.max_bgerror_resume_count = 0;
  options.compression = rocksdb::kNoCompression;
  options.level_compaction_dynamic_level_bytes = true;
  options.max_open_files = 256;
  options.info_log = std::make_shared<NoLog>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  table.block_size = kBlockBytes;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// The first key after all that start with `prefix`.
std::string EndOf(absl::string_view prefix) {
  std::string end(prefix);
  TCACT_CHECK(!end.empty() && end.back() != '\xff', "a prefix has an end");
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

class RocksDbRecordStore final : public RecordStore {
 public:
  RocksDbRecordStore(std::string directory, std::unique_ptr<rocksdb::DB> db)
      : directory_(std::move(directory)), db_(std::move(db)) {}

  absl::Status Commit(const Batch& batch, Level level) override {
    writes_.Clear();
    batch.ForEach([this](const Change& change) {
      rocksdb::Status status;
      switch (change.type) {
        case ChangeType::kPut:
          status = writes_.Put(SliceOf(change.key), SliceOf(change.value));
          break;
        case ChangeType::kDelete:
          status = writes_.Delete(SliceOf(change.key));
          break;
        case ChangeType::kDeletePrefix:
          status = writes_.DeleteRange(SliceOf(change.key), EndOf(change.key));
          break;
      }
      TCACT_CHECK(status.ok(), "a write batch in memory takes every change");
    });
    rocksdb::WriteOptions options;
    options.sync = level == Level::kSync;
    const rocksdb::Status status = db_->Write(options, &writes_);
    if (writes_.GetDataSize() > kMemtableBytes) writes_ = rocksdb::WriteBatch();
    return ToStatus(directory_, "write", status);
  }

  absl::Status Scan(absl::string_view prefix,
                    absl::FunctionRef<absl::Status(absl::string_view key, absl::string_view value)>
                        visit) override {
    rocksdb::ReadOptions options;
    options.verify_checksums = true;
    options.fill_cache = false;
    options.readahead_size = 4 << 20;
    std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options));
    for (at->Seek(SliceOf(prefix)); at->Valid(); at->Next()) {
      if (!absl::StartsWith(ViewOf(at->key()), prefix)) break;
      if (absl::Status status = visit(ViewOf(at->key()), ViewOf(at->value())); !status.ok())
        return status;
    }
    return ToStatus(directory_, "read", at->status());
  }

  absl::Status Get(absl::string_view key, std::string* value) override {
    return ToStatus(directory_, "read", db_->Get(rocksdb::ReadOptions(), SliceOf(key), value));
  }

  uint64_t DiskBytes() override {
    uint64_t bytes = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
      struct stat info {};
      // Blocks, not length: logs are preallocated.
      if (stat(entry.path().c_str(), &info) == 0)
        bytes += static_cast<uint64_t>(info.st_blocks) * 512;
    }
    return bytes;
  }

  absl::Status Close() override {
    if (closed_) return absl::OkStatus();
    closed_ = true;
    rocksdb::Status status = db_->SyncWAL();
    if (status.IsNotSupported()) status = rocksdb::Status::OK();  // opened for reading only
    const rocksdb::Status close_status = db_->Close();
    return ToStatus(directory_, "close", status.ok() ? close_status : status);
  }

  ~RocksDbRecordStore() override { (void)Close(); }

  absl::Status Verify() {
    rocksdb::ReadOptions options;
    options.readahead_size = 4 << 20;
    return ToStatus(directory_, "check", db_->VerifyChecksum(options));
  }

 private:
  const std::string directory_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteBatch writes_;
  bool closed_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordStore>> OpenRocksDb(const RocksDbOptions& options) {
  const std::string& directory = options.directory;
  std::error_code error;
  if (options.writable) {
    std::filesystem::create_directories(directory, error);
    if (error)
      return absl::InternalError(absl::StrCat(directory, ": cannot make it: ", error.message()));
  } else if (!std::filesystem::exists(std::filesystem::path(directory) / "CURRENT", error)) {
    return absl::NotFoundError(absl::StrCat(directory, ": no store in this directory"));
  }
  rocksdb::DB* db = nullptr;
  const rocksdb::Options db_options = MakeOptions(options.writable);
  const rocksdb::Status status = options.writable
                                     ? rocksdb::DB::Open(db_options, directory, &db)
                                     : rocksdb::DB::OpenForReadOnly(db_options, directory, &db);
  if (!status.ok()) return ToStatus(directory, "open", status);
  return std::make_unique<RocksDbRecordStore>(directory, std::unique_ptr<rocksdb::DB>(db));
}

absl::Status VerifyFiles(RecordStore* store) {
  return static_cast<RocksDbRecordStore*>(store)->Verify();
}

}  // namespace tcact::durable
