// Sheaf: an array of free objects that moves as a whole. Depot: the sheaves that no CPU holds.
#ifndef TCACT_SERVER_CORE_SLAB_SHEAF_H_
#define TCACT_SERVER_CORE_SLAB_SHEAF_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/types/span.h"
#include "server/core/lock/counted_mutex.h"

namespace tcact::slab {

// Not thread safe: a sheaf has one holder at a time.
struct Sheaf {
  Sheaf* next = nullptr;  // in the depot's lists
  uint32_t count = 0;
  uint32_t capacity = 0;

  // Null when memory is out.
  static Sheaf* New(size_t capacity);
  static void Delete(Sheaf* sheaf);

  bool empty() const { return count == 0; }
  bool full() const { return count == capacity; }
  void** slots() { return reinterpret_cast<void**>(this + 1); }
  absl::Span<void*> objects() { return {slots(), count}; }

  // REQUIRES: not empty.
  void* Pop() { return slots()[--count]; }
  // REQUIRES: not full.
  void Push(void* object) { slots()[count++] = object; }

  // Moves as many as there are and fit; returns how many. Moving none writes nothing.
  size_t PopMany(absl::Span<void*> to) {
    const size_t n = std::min<size_t>(count, to.size());
    if (n == 0) return 0;
    count -= static_cast<uint32_t>(n);
    std::memcpy(to.data(), slots() + count, n * sizeof(void*));
    return n;
  }
  size_t PushMany(absl::Span<void* const> from) {
    const size_t n = std::min<size_t>(capacity - count, from.size());
    if (n == 0) return 0;
    std::memcpy(slots() + count, from.data(), n * sizeof(void*));
    count += static_cast<uint32_t>(n);
    return n;
  }
};
static_assert(sizeof(Sheaf) == 16);

// The sheaves between the CPUs: filled ones (not always to the brim) and empty ones, each up to
// `limit`, so that free objects go on to their slabs rather than pile up here.
//
// Thread safety: all methods but the destructor, from any thread. The mutex is "<name>:depot", a
// leaf lock. Sheaves handed over change their holder.
class Depot {
 public:
  Depot(const std::string& cache_name, size_t limit);
  // Deletes its sheaves; what is in them is forgotten.
  ~Depot();
  Depot(const Depot&) = delete;
  Depot& operator=(const Depot&) = delete;

  // A filled sheaf, for which `empty` (may be null) is handed over; or null, then `empty` remains
  // the caller's.
  Sheaf* TakeFilled(Sheaf* empty);

  // Hands `filled` (may be null) over and returns an empty one, or null if there is none. When
  // there is no room for `filled`, returns it as it is.
  Sheaf* TakeEmpty(Sheaf* filled);

  // Hands a sheaf over. False if there was no room for it: then it remains the caller's.
  bool Put(Sheaf* sheaf);

  // Hands all sheaves out, linked by next.
  Sheaf* TakeAll();

  // Objects in the filled sheaves.
  uint64_t Objects() const;

 private:
  struct Stack {
    Sheaf* top = nullptr;
    size_t size = 0;
    void Push(Sheaf* sheaf) {
      sheaf->next = top;
      top = sheaf;
      ++size;
    }
    Sheaf* Pop() {
      Sheaf* const sheaf = top;
      top = sheaf->next;
      --size;
      return sheaf;
    }
  };

  const size_t limit_;
  mutable lock::CountedMutex mu_;
  Stack filled_ ABSL_GUARDED_BY(mu_);
  Stack empty_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tcact::slab

#endif  // TCACT_SERVER_CORE_SLAB_SHEAF_H_
