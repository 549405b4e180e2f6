// The core's rows of DESIGN section 9, ours and peer in the same process and the same run,
// alternating, five rounds, medians. Prints one line a row and, with --json=FILE, the same as JSON.
//
//   pair    create + destroy of one gact-sized action by explicit index, every thread on indexes of
//   its own in ONE
//           table. Peers do the same work with what a careful engineer would take: the record and
//           its counters (a line for each CPU) from the allocator, a hash map from index to record,
//           a lock where the map wants one. The allocator is the one this binary is linked with:
//           run the four binaries core_bench_<allocator>. lowest the same with automatic (lowest
//           free) indexes, ours alone. stats statistics updates of all threads on ONE action,
//           against two shared atomics. size the pair with 1 k and with 10 M actions resident.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "nlohmann/json.hpp"
#include "server/core/act/store.h"
#include "tbb/concurrent_hash_map.h"

ABSL_FLAG(std::string, json, "", "also write the rows to this file");
ABSL_FLAG(std::string, only, "", "run only the group pair, lowest, stats or size");
ABSL_FLAG(int, rounds, 5, "rounds, 1 to 99; medians are printed");
ABSL_FLAG(int, ms, 300, "milliseconds of one measurement, 10 to 10000");
ABSL_FLAG(std::string, allocator, "glibc",
          "the allocator this binary is linked with, for the report");

namespace tcact::act {
namespace {

constexpr Kind kGact = 16;

double Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Nanoseconds of one call of `body`, as each thread sees it, with `threads` threads running it.
double NsPerCall(
    int threads,
    const std::function<void(int thread, std::atomic<bool>* stop, uint64_t* calls)>& body) {
  std::atomic<bool> stop{false};
  std::atomic<int> ready{0};
  std::vector<std::thread> workers;
  std::vector<uint64_t> calls(static_cast<size_t>(threads) * 16);
  std::vector<double> seconds(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      ++ready;
      while (ready.load() < threads) {
      }
      const double start = Now();
      body(i, &stop, &calls[static_cast<size_t>(i) * 16]);
      seconds[static_cast<size_t>(i)] = Now() - start;
    });
  }
  while (ready.load() < threads) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(absl::GetFlag(FLAGS_ms)));
  stop = true;
  for (std::thread& worker : workers) worker.join();
  double rate = 0;
  for (int i = 0; i < threads; ++i) {
    rate +=
        static_cast<double>(calls[static_cast<size_t>(i) * 16]) / seconds[static_cast<size_t>(i)];
  }
  return 1e9 / rate;
}

// ---------- ours ----------

class Ours {
 public:
  explicit Ours(AllocMode mode = AllocMode::kSlabMerged) {
    StoreOptions options;
    options.alloc_mode = mode;
    options.kinds = {{kGact, "gact", 24}};
    store_ = std::make_unique<Store>(options);
    (void)store_->OpenNetns("", &netns_);
  }

  double Pair(int threads, bool lowest) {
    return NsPerCall(threads, [&](int thread, std::atomic<bool>* stop, uint64_t* calls) {
      const uint32_t base = lowest ? 0 : 1 + static_cast<uint32_t>(thread) * 1000000;
      Op create;
      create.spec.kind = kGact;
      create.spec.params = absl::string_view("\x0a\x02\x08\x03", 4);
      Op destroy = create;
      destroy.type = OpType::kDelete;
      Step step;
      uint64_t n = 0;
      for (; !stop->load(std::memory_order_relaxed); ++n) {
        create.spec.index = lowest ? 0 : base + n % 4096;
        if (!store_->Execute(netns_, create, 1000, &step).ok()) std::abort();
        destroy.spec.index = step.index;
        if (!store_->Execute(netns_, destroy, 1000, &step).ok()) std::abort();
      }
      *calls = n;
    });
  }

  double Stats(int threads) {
    Op create;
    create.spec.kind = kGact;
    create.spec.index = 1;
    Step step;
    (void)store_->Execute(netns_, create, 1000, &step);
    return NsPerCall(threads, [&](int, std::atomic<bool>* stop, uint64_t* calls) {
      const std::vector<uint32_t> indexes(1024, 1);
      const std::vector<uint64_t> packets(1024, 1);
      const std::vector<uint64_t> bytes(1024, 64);
      std::vector<uint32_t> missing;
      StatsColumns columns;
      columns.indexes = indexes;
      columns.packets = packets;
      columns.bytes = bytes;
      uint64_t n = 0;
      while (!stop->load(std::memory_order_relaxed)) {
        n += store_->UpdateStatsBatch(netns_, kGact, columns, 1000, &missing);
      }
      *calls = n;
    });
  }

  void Fill(uint32_t actions) {
    Op create;
    create.spec.kind = kGact;
    create.spec.params = absl::string_view("\x0a\x02\x08\x03", 4);
    Step step;
    for (uint32_t i = 0; i < actions; ++i) {
      create.spec.index = 10000000 + i;
      if (!store_->Execute(netns_, create, 1000, &step).ok()) std::abort();
    }
  }

  // Destroys and creates again an action anywhere among the resident ones.
  double PairAmong(uint32_t actions) {
    return NsPerCall(1, [&](int, std::atomic<bool>* stop, uint64_t* calls) {
      Op create;
      create.spec.kind = kGact;
      create.spec.params = absl::string_view("\x0a\x02\x08\x03", 4);
      Op destroy = create;
      destroy.type = OpType::kDelete;
      Step step;
      uint64_t n = 0;
      for (; !stop->load(std::memory_order_relaxed); ++n) {
        // In order, as flows are churned; a random order is bounded by memory latency alone.
        create.spec.index = destroy.spec.index = 10000000 + static_cast<uint32_t>(n % actions);
        if (!store_->Execute(netns_, destroy, 1000, &step).ok()) std::abort();
        if (!store_->Execute(netns_, create, 1000, &step).ok()) std::abort();
      }
      *calls = n;
    });
  }

 private:
  std::unique_ptr<Store> store_;
  NetnsRef netns_;
};

// ---------- peers ----------

// What a record of ours holds, and a line of counters for each CPU.
struct PeerRecord {
  uint64_t words[16];
  char* lines;
};

PeerRecord* NewPeerRecord(uint32_t index, uint32_t cpus) {
  auto* record = static_cast<PeerRecord*>(std::aligned_alloc(64, 192));
  std::memset(record, 0, sizeof(*record));
  record->words[0] = 1;
  record->words[1] = index;
  record->lines = static_cast<char*>(std::aligned_alloc(64, size_t{64} * cpus));
  std::memset(record->lines, 0, size_t{64} * cpus);
  return record;
}

void FreePeerRecord(PeerRecord* record) {
  std::free(record->lines);
  std::free(record);
}

double FlatMapPair(int threads) {
  const uint32_t cpus = percpu::UsableCpus();
  absl::Mutex mu;
  absl::flat_hash_map<uint32_t, PeerRecord*> map;
  return NsPerCall(threads, [&](int thread, std::atomic<bool>* stop, uint64_t* calls) {
    const uint32_t base = 1 + static_cast<uint32_t>(thread) * 1000000;
    uint64_t n = 0;
    for (; !stop->load(std::memory_order_relaxed); ++n) {
      const uint32_t index = base + n % 4096;
      PeerRecord* record = NewPeerRecord(index, cpus);
      {
        absl::MutexLock lock(&mu);
        if (!map.emplace(index, record).second) std::abort();
      }
      {
        absl::MutexLock lock(&mu);
        const auto found = map.find(index);
        record = found->second;
        map.erase(found);
      }
      FreePeerRecord(record);
    }
    *calls = n;
  });
}

double TbbMapPair(int threads) {
  const uint32_t cpus = percpu::UsableCpus();
  using Map = tbb::concurrent_hash_map<uint32_t, PeerRecord*>;
  Map map;
  return NsPerCall(threads, [&](int thread, std::atomic<bool>* stop, uint64_t* calls) {
    const uint32_t base = 1 + static_cast<uint32_t>(thread) * 1000000;
    uint64_t n = 0;
    for (; !stop->load(std::memory_order_relaxed); ++n) {
      const uint32_t index = base + n % 4096;
      if (!map.insert({index, NewPeerRecord(index, cpus)})) std::abort();
      PeerRecord* record = nullptr;
      {
        Map::accessor found;
        if (!map.find(found, index)) std::abort();
        record = found->second;
        map.erase(found);
      }
      FreePeerRecord(record);
    }
    *calls = n;
  });
}

double SharedAtomics(int threads) {
  struct alignas(64) Shared {
    std::atomic<uint64_t> packets{0};
    std::atomic<uint64_t> bytes{0};
  } shared;
  return NsPerCall(threads, [&](int, std::atomic<bool>* stop, uint64_t* calls) {
    uint64_t n = 0;
    for (; !stop->load(std::memory_order_relaxed); ++n) {
      shared.packets.fetch_add(1, std::memory_order_relaxed);
      shared.bytes.fetch_add(64, std::memory_order_relaxed);
    }
    *calls = n;
  });
}

// ---------- report ----------

// Measurements that run in turn, round by round.
class Rows {
 public:
  void Add(const std::string& name, std::function<double()> measure) {
    rows_.push_back({name, std::move(measure), {}});
  }
  void Run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (Row& row : rows_) row.ns.push_back(row.measure());
    }
    for (Row& row : rows_) std::sort(row.ns.begin(), row.ns.end());
  }
  void Print(nlohmann::ordered_json* json) const {
    for (const Row& row : rows_) {
      std::printf("  %-36s %9.2f ns  (%.2f to %.2f)\n", row.name.c_str(), row.ns[row.ns.size() / 2],
                  row.ns.front(), row.ns.back());
      json->push_back({{"row", row.name},
                       {"allocator", absl::GetFlag(FLAGS_allocator)},
                       {"ns_median", row.ns[row.ns.size() / 2]},
                       {"ns_min", row.ns.front()},
                       {"ns_max", row.ns.back()}});
    }
  }
  double Median(const std::string& name) const {
    for (const Row& row : rows_) {
      if (row.name == name) return row.ns[row.ns.size() / 2];
    }
    std::abort();
  }

 private:
  struct Row {
    std::string name;
    std::function<double()> measure;
    std::vector<double> ns;
  };
  std::vector<Row> rows_;
};

bool Wanted(const char* group) {
  const std::string only = absl::GetFlag(FLAGS_only);
  return only.empty() || only == group;
}

void PairGroup(nlohmann::ordered_json* json) {
  Ours ours;
  Rows rows;
  for (int threads : {1, 2}) {
    const std::string suffix = absl::StrCat(", ", threads, " thread", threads == 1 ? "" : "s");
    rows.Add("pair ours" + suffix, [&ours, threads] { return ours.Pair(threads, false); });
    rows.Add("pair flat_hash_map+lock" + suffix, [threads] { return FlatMapPair(threads); });
    rows.Add("pair tbb map" + suffix, [threads] { return TbbMapPair(threads); });
  }
  rows.Run(absl::GetFlag(FLAGS_rounds));
  rows.Print(json);
  for (const char* suffix : {", 1 thread", ", 2 threads"}) {
    const double best = std::min(rows.Median(absl::StrCat("pair flat_hash_map+lock", suffix)),
                                 rows.Median(absl::StrCat("pair tbb map", suffix)));
    std::printf("  ratio best peer / ours%s: %.2f\n", suffix,
                best / rows.Median(absl::StrCat("pair ours", suffix)));
  }
  std::printf("  one table, rate of 2 threads over 1: %.2f\n",
              rows.Median("pair ours, 1 thread") / rows.Median("pair ours, 2 threads"));
}

void LowestGroup(nlohmann::ordered_json* json) {
  Ours ours;
  Rows rows;
  rows.Add("lowest-free pair, 1 thread", [&] { return ours.Pair(1, true); });
  rows.Add("lowest-free pair, 2 threads", [&] { return ours.Pair(2, true); });
  rows.Run(absl::GetFlag(FLAGS_rounds));
  rows.Print(json);
  std::printf(
      "  one table, automatic indexes, rate of 2 threads over 1: %.2f\n",
      rows.Median("lowest-free pair, 1 thread") / rows.Median("lowest-free pair, 2 threads"));
}

void StatsGroup(nlohmann::ordered_json* json) {
  Ours ours;
  Rows rows;
  for (int threads : {1, 2}) {
    const std::string suffix = absl::StrCat(", ", threads, " thread", threads == 1 ? "" : "s");
    rows.Add("stats ours" + suffix, [&ours, threads] { return ours.Stats(threads); });
    rows.Add("stats shared atomics" + suffix, [threads] { return SharedAtomics(threads); });
  }
  rows.Run(absl::GetFlag(FLAGS_rounds));
  rows.Print(json);
  std::printf(
      "  ratio shared atomics / ours, 2 threads: %.2f\n",
      rows.Median("stats shared atomics, 2 threads") / rows.Median("stats ours, 2 threads"));
  std::printf("  rate of 2 threads over 1: %.2f\n",
              rows.Median("stats ours, 1 thread") / rows.Median("stats ours, 2 threads"));
}

void SizeGroup(nlohmann::ordered_json* json) {
  Ours small;
  Ours large;
  small.Fill(1000);
  large.Fill(10000000);
  Rows rows;
  rows.Add("pair among 1 k", [&] { return small.PairAmong(1000); });
  rows.Add("pair among 10 M", [&] { return large.PairAmong(10000000); });
  rows.Run(absl::GetFlag(FLAGS_rounds));
  rows.Print(json);
  std::printf("  ratio 10 M / 1 k: %.2f\n",
              rows.Median("pair among 10 M") / rows.Median("pair among 1 k"));
}

}  // namespace
}  // namespace tcact::act

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  std::printf("allocator %s, %u CPUs\n", absl::GetFlag(FLAGS_allocator).c_str(),
              tcact::percpu::UsableCpus());
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  if (tcact::act::Wanted("pair")) tcact::act::PairGroup(&json);
  if (tcact::act::Wanted("lowest")) tcact::act::LowestGroup(&json);
  if (tcact::act::Wanted("stats")) tcact::act::StatsGroup(&json);
  if (tcact::act::Wanted("size")) tcact::act::SizeGroup(&json);
  if (!absl::GetFlag(FLAGS_json).empty())
    std::ofstream(absl::GetFlag(FLAGS_json)) << json.dump(2) << "\n";
  return 0;
}
