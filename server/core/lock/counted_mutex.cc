#include "server/core/lock/counted_mutex.h"

#include <time.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/base/internal/raw_logging.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace tcact::lock {
namespace {

constexpr size_t kMaxNameBytes = 63;

// The minimum of no waits.
constexpr uint64_t kNoWait = UINT64_MAX;

// Number of resets so far. Extremes that were noted under an older number count no more.
std::atomic<uint64_t> reset_number{0};

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

// The mutexes of one name, and the sums of those that are gone. All methods: with the registry's
// mutex held.
class LockRow {
 public:
  void Add(CountedMutex* mutex) {
    mutex->row_ = this;
    mutex->next_ = first_;
    if (first_ != nullptr) first_->previous_ = mutex;
    first_ = mutex;
  }

  void Remove(CountedMutex* mutex) {
    AddTo(*mutex, &gone_);
    if (mutex->next_ != nullptr) mutex->next_->previous_ = mutex->previous_;
    (mutex->previous_ != nullptr ? mutex->previous_->next_ : first_) = mutex->next_;
  }

  LockStat Sum() const {
    LockStat sum = gone_;
    for (const CountedMutex* mutex = first_; mutex != nullptr; mutex = mutex->next_) {
      AddTo(*mutex, &sum);
    }
    if (sum.wait_min_ns == kNoWait) sum.wait_min_ns = 0;
    return sum;
  }

  void Reset() {
    gone_ = Nothing();
    for (CountedMutex* mutex = first_; mutex != nullptr; mutex = mutex->next_) {
      mutex->base_uncontended_ = mutex->uncontended_.load(std::memory_order_relaxed);
      mutex->base_contended_ = mutex->contended_.load(std::memory_order_relaxed);
      mutex->base_wait_total_ns_ = mutex->wait_total_ns_.load(std::memory_order_relaxed);
    }
  }

 private:
  static LockStat Nothing() {
    LockStat nothing;
    nothing.wait_min_ns = kNoWait;
    return nothing;
  }

  static void AddTo(const CountedMutex& mutex, LockStat* sum) {
    // Contended first: its holder wrote the waits before it, so a contended acquisition is seen
    // with its wait.
    const uint64_t contended =
        mutex.contended_.load(std::memory_order_acquire) - mutex.base_contended_;
    sum->contended += contended;
    sum->acquired +=
        contended + mutex.uncontended_.load(std::memory_order_relaxed) - mutex.base_uncontended_;
    sum->wait_total_ns +=
        mutex.wait_total_ns_.load(std::memory_order_relaxed) - mutex.base_wait_total_ns_;
    if (contended == 0) return;
    if (mutex.extremes_since_.load(std::memory_order_acquire) !=
        reset_number.load(std::memory_order_relaxed)) {
      return;
    }
    sum->wait_max_ns =
        std::max(sum->wait_max_ns, mutex.wait_max_ns_.load(std::memory_order_relaxed));
    sum->wait_min_ns =
        std::min(sum->wait_min_ns, mutex.wait_min_ns_.load(std::memory_order_relaxed));
  }

  CountedMutex* first_ = nullptr;
  LockStat gone_ = Nothing();
};

namespace {

// All rows by name. Its mutex is a plain one: it would count itself.
struct Registry {
  absl::Mutex mu;
  absl::flat_hash_map<std::string, std::unique_ptr<LockRow>> rows ABSL_GUARDED_BY(mu);
};

Registry& TheRegistry() {
  static auto* const registry = new Registry;  // never destroyed: mutexes of static lifetime use it
  return *registry;
}

}  // namespace

CountedMutex::CountedMutex(absl::string_view name)
    : extremes_since_(reset_number.load(std::memory_order_relaxed)) {
  if (name.empty() || name.size() > kMaxNameBytes) {
    ABSL_RAW_LOG(FATAL, "CountedMutex: a name of %zu bytes, must be 1 to %zu", name.size(),
                 kMaxNameBytes);
  }
  Registry& registry = TheRegistry();
  absl::MutexLock lock(&registry.mu);
  std::unique_ptr<LockRow>& row = registry.rows[name];
  if (row == nullptr) row = std::make_unique<LockRow>();
  row->Add(this);
}

CountedMutex::~CountedMutex() {
  {
    absl::MutexLock lock(&TheRegistry().mu);
    row_->Remove(this);
  }
  pthread_mutex_destroy(&mu_);
}

void CountedMutex::LockContended() {
  const uint64_t start = NowNs();
  pthread_mutex_lock(&mu_);
  const uint64_t waited = NowNs() - start;
  const uint64_t resets = reset_number.load(std::memory_order_relaxed);
  if (extremes_since_.load(std::memory_order_relaxed) != resets) {
    wait_max_ns_.store(0, std::memory_order_relaxed);
    wait_min_ns_.store(kNoWait, std::memory_order_relaxed);
  }
  if (waited > wait_max_ns_.load(std::memory_order_relaxed)) {
    wait_max_ns_.store(waited, std::memory_order_relaxed);
  }
  if (waited < wait_min_ns_.load(std::memory_order_relaxed)) {
    wait_min_ns_.store(waited, std::memory_order_relaxed);
  }
  extremes_since_.store(resets, std::memory_order_release);
  Bump(&wait_total_ns_, waited);
  contended_.store(contended_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

std::vector<LockStat> LockStats() {
  std::vector<LockStat> stats;
  Registry& registry = TheRegistry();
  {
    absl::MutexLock lock(&registry.mu);
    stats.reserve(registry.rows.size());
    for (const auto& [name, row] : registry.rows) {
      stats.push_back(row->Sum());
      stats.back().name = name;
    }
  }
  std::sort(stats.begin(), stats.end(), [](const LockStat& a, const LockStat& b) {
    return std::tie(b.wait_total_ns, a.name) < std::tie(a.wait_total_ns, b.name);
  });
  return stats;
}

void ResetLockStats() {
  Registry& registry = TheRegistry();
  absl::MutexLock lock(&registry.mu);
  reset_number.fetch_add(1, std::memory_order_relaxed);
  for (const auto& [name, row] : registry.rows) row->Reset();
}

}  // namespace tcact::lock
