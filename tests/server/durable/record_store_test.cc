// The contract of RecordStore, held by every implementation.
#include "server/durable/record_store.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/durable/memory_record_store.h"
#include "server/durable/rocksdb_record_store.h"

namespace tcact::durable {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

// A directory that goes away with the test.
class Directory {
 public:
  Directory() {
    std::string name = absl::StrCat(::testing::TempDir(), "/tcact_XXXXXX");
    path_ = mkdtemp(name.data());
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::unique_ptr<RecordStore> OpenIn(const std::string& directory) {
  RocksDbOptions options;
  options.directory = directory;
  auto store = OpenRocksDb(options);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? std::move(*store) : nullptr;
}

Rows All(RecordStore* store, absl::string_view prefix) {
  Rows rows;
  const absl::Status status =
      store->Scan(prefix, [&](absl::string_view key, absl::string_view value) {
        rows.emplace_back(key, value);
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  return rows;
}

struct Implementation {
  const char* name;
  std::unique_ptr<RecordStore> (*open)(const std::string& directory);
};

class RecordStoreTest : public ::testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override { store_ = GetParam().open(directory_.path()); }

  void Commit(const Batch& batch) {
    for (const Level level : {Level::kSync, Level::kOs, Level::kMemory})
      ASSERT_TRUE(store_->Commit(batch, level).ok());
  }

  Directory directory_;
  std::unique_ptr<RecordStore> store_;
};

TEST_P(RecordStoreTest, StartsEmpty) {
  EXPECT_EQ(All(store_.get(), "a"), Rows());
  std::string value;
  EXPECT_TRUE(absl::IsNotFound(store_->Get("a", &value)));
}

TEST_P(RecordStoreTest, KeepsWhatWasPutLast) {
  Batch batch;
  batch.Put("a1", "one");
  batch.Put("a1", "two");
  Commit(batch);
  std::string value;
  ASSERT_TRUE(store_->Get("a1", &value).ok());
  EXPECT_EQ(value, "two");
}

TEST_P(RecordStoreTest, ScansAPrefixAscendingByUnsignedBytes) {
  Batch batch;
  batch.Put("b", "not it");
  batch.Put("a\xff", "3");
  batch.Put("a", "1");
  batch.Put(absl::string_view("a\0b", 3), "2");
  Commit(batch);
  EXPECT_EQ(All(store_.get(), "a"),
            (Rows{{"a", "1"}, {std::string("a\0b", 3), "2"}, {"a\xff", "3"}}));
}

TEST_P(RecordStoreTest, ChangesOfABatchHappenInOrder) {
  Batch batch;
  batch.Put("a1", "gone");
  batch.Put("a2", "gone");
  batch.Put("b1", "stays");
  batch.DeletePrefix("a");
  batch.Put("a2", "came later");
  batch.Delete("b2");
  Commit(batch);
  EXPECT_EQ(All(store_.get(), "a"), (Rows{{"a2", "came later"}}));
  EXPECT_EQ(All(store_.get(), "b"), (Rows{{"b1", "stays"}}));
}

TEST_P(RecordStoreTest, DeletesAcrossBatches) {
  Batch first;
  for (int i = 0; i < 100; ++i) first.Put(absl::StrCat("a", i), "x");
  Commit(first);
  Batch second;
  second.Delete("a7");
  second.DeletePrefix("a1");
  Commit(second);
  EXPECT_EQ(All(store_.get(), "a").size(), 100u - 1 - 11);
}

TEST_P(RecordStoreTest, TakesEmptyValuesAndLargeOnes) {
  Batch batch;
  batch.Put("a", "");
  batch.Put(std::string(kMaxKeyBytes, 'k'), std::string(kMaxValueBytes, 'v'));
  Commit(batch);
  std::string value = "something";
  ASSERT_TRUE(store_->Get("a", &value).ok());
  EXPECT_EQ(value, "");
  ASSERT_TRUE(store_->Get(std::string(kMaxKeyBytes, 'k'), &value).ok());
  EXPECT_EQ(value.size(), kMaxValueBytes);
}

TEST_P(RecordStoreTest, AnErrorOfTheVisitorEndsTheScan) {
  Batch batch;
  batch.Put("a1", "");
  batch.Put("a2", "");
  Commit(batch);
  int seen = 0;
  const absl::Status status = store_->Scan("a", [&](absl::string_view, absl::string_view) {
    ++seen;
    return absl::AbortedError("enough");
  });
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_EQ(seen, 1);
}

TEST_P(RecordStoreTest, AnEmptyBatchIsNoChange) { Commit(Batch()); }

INSTANTIATE_TEST_SUITE_P(
    All, RecordStoreTest,
    ::testing::Values(Implementation{"memory",
                                     [](const std::string&) -> std::unique_ptr<RecordStore> {
                                       return std::make_unique<MemoryRecordStore>();
                                     }},
                      Implementation{"rocksdb", &OpenIn}),
    [](const auto& test) { return test.param.name; });

// ---------- batches ----------

std::string Show(const Batch& batch) {
  std::string all;
  batch.ForEach([&all](const Change& change) {
    absl::StrAppend(&all, change.type == ChangeType::kPut ? "+" : "-", change.key,
                    change.value.empty() ? "" : "=", change.value, " ");
  });
  return all;
}

TEST(Batch, CompactedKeepsTheLastChangeOfEachKey) {
  Batch batch;
  batch.Put("a", "1");
  batch.Put("b", "1");
  batch.Put("a", "2");
  batch.Delete("b");
  batch.Compact();
  EXPECT_EQ(Show(batch), "+a=2 -b ");
}

TEST(Batch, CompactedForgetsWhatWasMadeAndDeletedInIt) {
  Batch batch;
  batch.PutNew("a", "1");
  batch.Put("a", "2");
  batch.Delete("a");
  batch.PutNew("b", "1");
  batch.Delete("b");
  batch.PutNew("b", "2");
  batch.Compact();
  EXPECT_EQ(Show(batch), "+b=2 ");
}

TEST(Batch, CompactedStillDeletesWhatWasThereBefore) {
  Batch batch;
  batch.Delete("a");
  batch.PutNew("a", "1");
  batch.Delete("a");
  batch.Compact();
  EXPECT_EQ(Show(batch), "-a ");
}

TEST(Batch, WithAPrefixItStaysAsItIs) {
  Batch batch;
  batch.PutNew("ab", "1");
  batch.DeletePrefix("a");
  batch.PutNew("ab", "2");
  batch.Compact();
  EXPECT_EQ(batch.changes(), 3u);
}

// ---------- the directory ----------

TEST(RocksDb, IsMadeWithItsParentsAndOpensAgain) {
  Directory directory;
  const std::string path = directory.path() + "/not/there/yet";
  {
    auto store = OpenIn(path);
    Batch batch;
    batch.Put("a", "kept");
    ASSERT_TRUE(store->Commit(batch, Level::kSync).ok());
    ASSERT_TRUE(store->Close().ok());
  }
  EXPECT_EQ(All(OpenIn(path).get(), "a"), (Rows{{"a", "kept"}}));
}

TEST(RocksDb, ASecondServerIsRefused) {
  Directory directory;
  const auto store = OpenIn(directory.path());
  RocksDbOptions options;
  options.directory = directory.path();
  const auto second = OpenRocksDb(options);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_TRUE(absl::StrContains(second.status().message(), "Another tcactd")) << second.status();
}

TEST(RocksDb, ReadingOnlyNeedsAStoreAndMakesNone) {
  Directory directory;
  RocksDbOptions options;
  options.directory = directory.path() + "/none";
  options.writable = false;
  EXPECT_TRUE(absl::IsNotFound(OpenRocksDb(options).status()));
  EXPECT_FALSE(std::filesystem::exists(options.directory));
}

std::string LogOf(const std::string& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".log" && entry.file_size() > 0) return entry.path();
  }
  return "";
}

// Two batches in the log of a store that was closed.
void WriteTwoBatches(const std::string& directory) {
  auto store = OpenIn(directory);
  for (const char* name : {"first", "second"}) {
    Batch batch;
    for (int i = 0; i < 100; ++i) batch.Put(absl::StrCat("a", name, i), std::string(100, 'x'));
    ASSERT_TRUE(store->Commit(batch, Level::kSync).ok());
  }
  ASSERT_TRUE(store->Close().ok());
}

TEST(RocksDb, ABatchThatWasCutOffDisappearsWhole) {
  Directory directory;
  WriteTwoBatches(directory.path());
  const std::string log = LogOf(directory.path());
  std::filesystem::resize_file(log, std::filesystem::file_size(log) * 3 / 4);
  const auto store = OpenIn(directory.path());
  EXPECT_EQ(All(store.get(), "afirst").size(), 100u);
  EXPECT_EQ(All(store.get(), "asecond").size(), 0u);
}

TEST(RocksDb, DamageInTheMiddleIsRefusedByName) {
  Directory directory;
  WriteTwoBatches(directory.path());
  const std::string log = LogOf(directory.path());
  {
    std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1000);
    file.write("damage", 6);
  }
  RocksDbOptions options;
  options.directory = directory.path();
  const auto store = OpenRocksDb(options);
  ASSERT_TRUE(absl::IsDataLoss(store.status())) << store.status();
  EXPECT_TRUE(absl::StrContains(store.status().message(), directory.path()));
  EXPECT_TRUE(absl::StrContains(store.status().message(), "--check")) << store.status();
}

}  // namespace
}  // namespace tcact::durable
