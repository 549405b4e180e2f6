#include "server/core/slab/sheaf.h"

#include <cstdlib>
#include <new>

namespace tcact::slab {

Sheaf* Sheaf::New(size_t capacity) {
  // Lines of their own: neighbours may be held by different CPUs.
  const size_t bytes = (sizeof(Sheaf) + capacity * sizeof(void*) + 63) / 64 * 64;
  void* const memory = std::aligned_alloc(64, bytes);
  if (memory == nullptr) return nullptr;
  return new (memory) Sheaf{nullptr, 0, static_cast<uint32_t>(capacity)};
}

void Sheaf::Delete(Sheaf* sheaf) { std::free(sheaf); }

Depot::Depot(const std::string& cache_name, size_t limit)
    : limit_(limit), mu_(cache_name + ":depot") {}

Depot::~Depot() {
  for (Sheaf* sheaf = TakeAll(); sheaf != nullptr;) {
    Sheaf* const next = sheaf->next;
    Sheaf::Delete(sheaf);
    sheaf = next;
  }
}

Sheaf* Depot::TakeFilled(Sheaf* empty) {
  Sheaf* excess = nullptr;
  Sheaf* filled = nullptr;
  {
    lock::CountedLock lock(&mu_);
    if (filled_.size == 0) return nullptr;
    filled = filled_.Pop();
    if (empty != nullptr && empty_.size < limit_) {
      empty_.Push(empty);
    } else {
      excess = empty;
    }
  }
  if (excess != nullptr) Sheaf::Delete(excess);
  return filled;
}

Sheaf* Depot::TakeEmpty(Sheaf* filled) {
  lock::CountedLock lock(&mu_);
  if (filled != nullptr) {
    if (filled_.size >= limit_) return filled;
    filled_.Push(filled);
  }
  return empty_.size == 0 ? nullptr : empty_.Pop();
}

bool Depot::Put(Sheaf* sheaf) {
  lock::CountedLock lock(&mu_);
  Stack& stack = sheaf->empty() ? empty_ : filled_;
  if (stack.size >= limit_) return false;
  stack.Push(sheaf);
  return true;
}

Sheaf* Depot::TakeAll() {
  lock::CountedLock lock(&mu_);
  while (empty_.size > 0) filled_.Push(empty_.Pop());
  Sheaf* const all = filled_.top;
  filled_ = Stack();
  return all;
}

uint64_t Depot::Objects() const {
  lock::CountedLock lock(&mu_);
  uint64_t objects = 0;
  for (const Sheaf* sheaf = filled_.top; sheaf != nullptr; sheaf = sheaf->next) {
    objects += sheaf->count;
  }
  return objects;
}

}  // namespace tcact::slab
