// What the calls of all loops share: the context, the worker, and the counts behind the server-wide
// limits.
#ifndef TCACT_SERVER_RPC_SHARED_H_
#define TCACT_SERVER_RPC_SHARED_H_

#include <atomic>
#include <cstddef>

#include "server/rpc/context.h"
#include "server/rpc/limits.h"
#include "server/rpc/worker.h"

namespace tcact::rpc {

struct Shared {
  explicit Shared(const Context& c) : context(c) {}

  const Context& context;
  // Bytes of replies that gRPC has not yet sent; see kMaxUnsentBytes.
  std::atomic<size_t> unsent_bytes{0};
  std::atomic<int> dumps{0};
  std::atomic<int> apply_streams{0};
  std::atomic<int> health_watches{0};
  Worker worker{kMaxWorkerQueue};
};

// One of at most `max` seats, held while it lives. Not thread safe; the count is shared.
class Seat {
 public:
  Seat() = default;
  ~Seat() {
    if (taken_ != nullptr) taken_->fetch_sub(1, std::memory_order_relaxed);
  }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // False if all are taken. REQUIRES: called once.
  bool Take(std::atomic<int>* taken, int max) {
    if (taken->fetch_add(1, std::memory_order_relaxed) >= max) {
      taken->fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    taken_ = taken;
    return true;
  }

 private:
  std::atomic<int>* taken_ = nullptr;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_SHARED_H_
