// Idr: the index table. A radix tree of 64-way nodes from a 32-bit index to a pointer (the twin of
// lib/idr.c).
//
// States of an index and what moves it
//   free --Reserve/ReserveLowest--> reserved --Publish--> published --Erase--> free
//                                   reserved --Cancel--> free
//
// Invariants
//   - Each leaf has a bitmap word (bit set: reserved or published) and 64 slots (non-null:
//     published). So a non-null slot implies a set bit.
//   - ReserveLowest takes the lowest index >= 1 that is free for the whole call, with one
//     exception: a free index may be passed over while another ReserveLowest is just marking the
//     node above it as full. Index 0 is never free.
//   - Leaf words and slots change by atomic operations without a lock; nodes are added and removed
//     under the table's mutex "idr_lock", which no operation takes while the nodes on its path
//     exist.
//   - A "full" bit in an inner node may be stale only on the side of "not full" (costs a step,
//     never an index).
//   - A node is unlinked only when it holds no set bit, and freed after an RCU grace period. The
//     tree grows in height when an index asks for it and never shrinks in height.
//   - Memory is bounded by what is in use: at most about one quarter more leaves than leaves in
//     use, plus 256.
//
// Concurrency (who may run together for one index):
//   | | Find | Reserve | Publish | Erase | Walk |
//   |---|---|---|---|---|---|
//   | Find, Walk | yes | yes | yes | yes | yes |
//   | Reserve | yes | yes | yes | yes | yes |
//   | Publish, Cancel | yes | yes | the one that reserved | no | yes |
//   | Erase | yes | yes | no | one only | yes |
// All methods need an open rcu::ReadGuard, but the destructor.
#ifndef TCACT_SERVER_CORE_IDR_IDR_H_
#define TCACT_SERVER_CORE_IDR_IDR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "server/core/lock/counted_mutex.h"

namespace tcact::idr {

inline constexpr uint32_t kMaxIndex = 0xFFFFFFFFu;

enum class Reservation {
  kReserved,   // the caller holds the index and must Publish or Cancel it
  kPublished,  // in use
  kBusy,       // reserved by somebody who has not yet published or cancelled, or just being freed
  kNoMemory,
  kFull,  // ReserveLowest only: no free index
};

class Idr {
 public:
  Idr();
  // REQUIRES: no reader or writer any more. Does not touch what the slots point to.
  ~Idr();
  Idr(const Idr&) = delete;
  Idr& operator=(const Idr&) = delete;

  // REQUIRES: index >= 1.
  Reservation Reserve(uint32_t index);

  // Reserves the lowest free index and stores it in *index.
  Reservation ReserveLowest(uint32_t* index);

  // Makes a reserved index found. Release: what the caller wrote to *object before is seen by who
  // finds it.
  void Publish(uint32_t index, void* object);

  // Gives a reserved index back.
  void Cancel(uint32_t index);

  // Takes a published index out and frees it at once. REQUIRES: published, and the caller alone
  // erases it.
  void Erase(uint32_t index);

  // The published object, or null. Never waits.
  void* Find(uint32_t index) const;

  // Visits published objects with index >= first, ascending, until `visit` returns false. An object
  // that stays published throughout is visited exactly once. Returns the index after the last
  // visited, 0 when the end of the table was reached: give it back as `first` to go on.
  uint32_t Walk(uint32_t first, absl::FunctionRef<bool(uint32_t index, void* object)> visit) const;

  // Set bits, that is published and reserved. Walks the leaves; exact when nothing runs meanwhile.
  uint64_t Count() const;

  // Removes all empty nodes. Returns bytes that go back after a grace period.
  uint64_t Shrink();

  // Bytes of all nodes.
  uint64_t MemoryBytes() const;

  // For tests: after `successes` further nodes, making one fails as if memory were out; negative:
  // never.
  void FailNodesAfter(int64_t successes);
  // For tests: aborts, naming the rule, if an invariant does not hold. REQUIRES: nothing runs
  // meanwhile.
  void CheckInvariants() const;

 private:
  struct Node;
  struct Leaf;
  struct Inner;

  Leaf* FindLeaf(uint32_t index) const;
  Reservation TakeBit(Leaf* leaf, uint32_t bit, bool* lost);
  Reservation TakeLowestBit(Leaf* leaf, uint32_t* bit, bool* lost);
  void FreeBit(Leaf* leaf, uint32_t index);
  static void MarkFull(Node* node);
  static void MarkNotFull(Node* node);

  template <typename T>
  T* NewNode() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool AddLeaf(uint32_t index);
  bool Grow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ListEmpty(Leaf* leaf);
  void PushListed(Leaf* leaf) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Prune(Inner* inner) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReclaimIfMany() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t Reclaim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Unlink(Leaf* leaf) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static uint64_t CountBelow(const Inner& inner);
  static void CheckBelow(const Inner& inner);
  static void DeleteBelow(Inner* inner);

  // Read by every call, so it shares no line with what changes.
  alignas(64) std::atomic<Inner*> root_{nullptr};
  alignas(64) std::atomic<uint64_t> leaves_{0};
  std::atomic<uint64_t> inners_{0};
  mutable lock::CountedMutex mutex_{"idr_lock"};
  // Leaves that were empty when they came here, linked by next_listed.
  Leaf* listed_ ABSL_GUARDED_BY(mutex_) = nullptr;
  size_t listed_count_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t fail_nodes_after_ ABSL_GUARDED_BY(mutex_) = -1;
};

}  // namespace tcact::idr

#endif  // TCACT_SERVER_CORE_IDR_IDR_H_
