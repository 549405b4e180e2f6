#include "server/core/idr/idr.h"

#include <bit>
#include <new>
#include <utility>

#include "absl/base/optimization.h"
#include "server/core/base/check.h"
#include "server/core/rcu/rcu.h"

namespace tcact::idr {
namespace {

constexpr uint32_t kBits = 6;
constexpr uint32_t kFanout = 1 << kBits;
constexpr uint64_t kAllBits = ~uint64_t{0};
// The root of a table that spans all 32-bit indexes has this shift: its children span 2^30 indexes
// each.
constexpr uint32_t kTopShift = 5 * kBits;
// Empty leaves that wait for a use before they are removed: so many, and a quarter of all.
constexpr size_t kEmptyLeaves = 256;

uint64_t Bit(uint32_t slot) { return uint64_t{1} << slot; }

}  // namespace

// What leaves and inner nodes share. `bits` has a line of its own: it is the only one that threads
// taking and freeing indexes of one leaf must pass around.
struct Idr::Node {
  // Leaf: reserved or published. Inner: the child is full, and so is what is below it.
  alignas(64) std::atomic<uint64_t> bits{0};

  // Changes only when the root gets a parent.
  alignas(64) std::atomic<Inner*> parent{nullptr};
  uint32_t slot = 0;  // in the parent
  // An index of a child's span is (index >> shift) & 63; 0 in a leaf.
  uint32_t shift = 0;

  // Leaves only. Being removed: who reserved a bit in it must give the bit back and look again.
  std::atomic<bool> dead{false};
  // Leaves only. On the list of empty leaves, where it stays until the next pass, empty or not.
  std::atomic<bool> listed{false};
  uint32_t first = 0;           // a leaf's lowest index
  Leaf* next_listed = nullptr;  // guarded by the table's mutex

  bool Full() const { return bits.load(std::memory_order_seq_cst) == kAllBits; }
};

struct Idr::Leaf : Node {
  // Neighbouring indexes, which the lowest-free rule gives to different threads, lie in different
  // lines.
  std::atomic<void*>& Slot(uint32_t index) { return slots[Place(index)]; }
  const std::atomic<void*>& Slot(uint32_t index) const { return slots[Place(index)]; }

 private:
  static uint32_t Place(uint32_t index) {
    const uint32_t bit = index % kFanout;
    return bit % 8 * 8 + bit / 8;
  }
  alignas(64) std::atomic<void*> slots[kFanout] = {};
};

struct Idr::Inner : Node {
  alignas(64) std::atomic<Node*> children[kFanout] = {};

  // Whether an index lies below, this being the root.
  bool Spans(uint32_t index) const { return (uint64_t{index} >> shift >> kBits) == 0; }
  uint32_t SlotOf(uint32_t index) const { return (index >> shift) & (kFanout - 1); }
  bool HasLeaves() const { return shift == kBits; }
};

Idr::Idr() = default;

Idr::~Idr() {
  if (Inner* root = root_.load(std::memory_order_relaxed)) DeleteBelow(root);
}

void Idr::DeleteBelow(Inner* inner) {
  for (std::atomic<Node*>& slot : inner->children) {
    Node* child = slot.load(std::memory_order_relaxed);
    if (child == nullptr) continue;
    if (inner->HasLeaves()) {
      delete static_cast<Leaf*>(child);
    } else {
      DeleteBelow(static_cast<Inner*>(child));
    }
  }
  delete inner;
}

Idr::Leaf* Idr::FindLeaf(uint32_t index) const {
  const Inner* inner = root_.load(std::memory_order_acquire);
  if (inner == nullptr || !inner->Spans(index)) return nullptr;
  for (;;) {
    Node* child = inner->children[inner->SlotOf(index)].load(std::memory_order_acquire);
    if (child == nullptr || inner->HasLeaves()) return static_cast<Leaf*>(child);
    inner = static_cast<const Inner*>(child);
  }
}

void* Idr::Find(uint32_t index) const {
  const Leaf* leaf = FindLeaf(index);
  if (leaf == nullptr) return nullptr;
  return leaf->Slot(index).load(std::memory_order_acquire);
}

// ---------- reserve ----------

// Takes a bit of a leaf. *lost: the leaf is being removed and the bit was given back.
Reservation Idr::TakeBit(Leaf* leaf, uint32_t bit, bool* lost) {
  *lost = false;
  const uint64_t before = leaf->bits.fetch_or(Bit(bit), std::memory_order_seq_cst);
  if ((before & Bit(bit)) != 0) {
    return leaf->Slot(bit).load(std::memory_order_acquire) != nullptr ? Reservation::kPublished
                                                                      : Reservation::kBusy;
  }
  // The remover sets `dead` and then looks at the bits; we set a bit and then look at `dead`. So it
  // sees our bit, or we see its mark (or both, and both step back).
  if (ABSL_PREDICT_FALSE(leaf->dead.load(std::memory_order_seq_cst))) {
    leaf->bits.fetch_and(~Bit(bit), std::memory_order_seq_cst);
    // The remover may have stepped back because of our bit; then the leaf waits for the next pass.
    // Its mutex also makes us wait until the remover is through.
    ListEmpty(leaf);
    *lost = true;
    return Reservation::kBusy;
  }
  return Reservation::kReserved;
}

Reservation Idr::Reserve(uint32_t index) {
  TCACT_DCHECK(index != 0, "index 0 is never reserved");
  for (;;) {
    Leaf* leaf = FindLeaf(index);
    if (ABSL_PREDICT_FALSE(leaf == nullptr)) {
      if (!AddLeaf(index)) return Reservation::kNoMemory;
      continue;
    }
    bool lost = false;
    const Reservation reservation = TakeBit(leaf, index % kFanout, &lost);
    if (!lost) return reservation;
  }
}

// kReserved, or kFull if the leaf has no bit left.
Reservation Idr::TakeLowestBit(Leaf* leaf, uint32_t* bit, bool* lost) {
  for (;;) {
    // To be written at once: fetch the line for that, not for reading first.
    __builtin_prefetch(&leaf->bits, 1);
    const uint64_t bits = leaf->bits.load(std::memory_order_acquire);
    if (bits == kAllBits) return Reservation::kFull;
    *bit = static_cast<uint32_t>(std::countr_one(bits));
    const Reservation reservation = TakeBit(leaf, *bit, lost);
    if (reservation == Reservation::kReserved || *lost) return reservation;
  }
}

Reservation Idr::ReserveLowest(uint32_t* index) {
  for (;;) {
    Inner* inner = root_.load(std::memory_order_acquire);
    if (inner == nullptr) {
      if (!AddLeaf(1)) return Reservation::kNoMemory;
      continue;
    }
    // Downwards by the lowest child that is not full. A node that turns out full is marked so, then
    // we start again.
    uint32_t first = 0;
    Leaf* leaf = nullptr;
    while (leaf == nullptr) {
      const uint64_t full = inner->bits.load(std::memory_order_acquire);
      if (full == kAllBits) break;
      const auto slot = static_cast<uint32_t>(std::countr_one(full));
      first |= slot << inner->shift;
      Node* child = inner->children[slot].load(std::memory_order_acquire);
      if (child == nullptr) break;
      if (inner->HasLeaves()) {
        leaf = static_cast<Leaf*>(child);
      } else {
        inner = static_cast<Inner*>(child);
      }
    }
    if (leaf == nullptr) {
      if (!inner->Full()) {
        if (!AddLeaf(first)) return Reservation::kNoMemory;
      } else if (inner->parent.load(std::memory_order_acquire) != nullptr) {
        MarkFull(inner);
      } else if (inner->shift == kTopShift) {
        return Reservation::kFull;
      } else if (!AddLeaf(uint32_t{1} << (inner->shift + kBits))) {
        return Reservation::kNoMemory;
      }
      continue;
    }
    uint32_t bit = 0;
    bool lost = false;
    const Reservation reservation = TakeLowestBit(leaf, &bit, &lost);
    if (reservation == Reservation::kReserved) {
      *index = first + bit;
      return reservation;
    }
    if (!lost) MarkFull(leaf);
  }
}

// ReserveLowest saw the node full: says so in its parent, and upwards as long as parents get full
// by it.
//
// A mark must not stay on a node that has a free bit. Marks are set first and checked after: if the
// node is not full any more, the mark is taken back. Who frees a bit looks for the mark after that.
// So of a mark and a free at the same time, either the marker sees the free bit or the freer sees
// the mark.
void Idr::MarkFull(Node* node) {
  for (;;) {
    Inner* parent = node->parent.load(std::memory_order_acquire);
    if (parent == nullptr || !node->Full()) return;
    const uint64_t before = parent->bits.fetch_or(Bit(node->slot), std::memory_order_seq_cst);
    if (!node->Full()) {
      MarkNotFull(node);
      return;
    }
    if ((before | Bit(node->slot)) != kAllBits) return;
    node = parent;
  }
}

// A bit below the node is free: takes its mark away, and all marks above it.
void Idr::MarkNotFull(Node* node) {
  for (Inner* parent = node->parent.load(std::memory_order_acquire); parent != nullptr;
       node = parent, parent = node->parent.load(std::memory_order_acquire)) {
    // Mostly there is no mark, and the line stays shared.
    if (ABSL_PREDICT_FALSE((parent->bits.load(std::memory_order_seq_cst) & Bit(node->slot)) != 0)) {
      parent->bits.fetch_and(~Bit(node->slot), std::memory_order_seq_cst);
    }
  }
}

// ---------- publish, free ----------

void Idr::Publish(uint32_t index, void* object) {
  Leaf* leaf = FindLeaf(index);
  TCACT_DCHECK(
      leaf != nullptr && (leaf->bits.load(std::memory_order_relaxed) & Bit(index % kFanout)) != 0,
      "only a reserved index is published");
  leaf->Slot(index).store(object, std::memory_order_release);
}

void Idr::Cancel(uint32_t index) { FreeBit(FindLeaf(index), index); }

void Idr::Erase(uint32_t index) {
  Leaf* leaf = FindLeaf(index);
  TCACT_CHECK(leaf != nullptr && leaf->Slot(index).load(std::memory_order_relaxed) != nullptr,
              "only a published index is erased");
  leaf->Slot(index).store(nullptr, std::memory_order_release);
  FreeBit(leaf, index);
}

void Idr::FreeBit(Leaf* leaf, uint32_t index) {
  const uint64_t before = leaf->bits.fetch_and(~Bit(index % kFanout), std::memory_order_seq_cst);
  TCACT_DCHECK((before & Bit(index % kFanout)) != 0, "only a taken index is freed");
  MarkNotFull(leaf);
  if (ABSL_PREDICT_FALSE(before == Bit(index % kFanout)) &&
      !leaf->listed.load(std::memory_order_seq_cst)) {
    ListEmpty(leaf);
  }
}

// ---------- walk ----------

uint32_t Idr::Walk(uint32_t first, absl::FunctionRef<bool(uint32_t, void*)> visit) const {
  uint64_t next = first;
  const uint64_t end = uint64_t{kMaxIndex} + 1;
  while (next < end) {
    // Down to the leaf that holds `next`, or past the span that is not there.
    const Inner* inner = root_.load(std::memory_order_acquire);
    if (inner == nullptr || !inner->Spans(static_cast<uint32_t>(next))) return 0;
    const Leaf* leaf = nullptr;
    while (leaf == nullptr) {
      Node* child = inner->children[inner->SlotOf(static_cast<uint32_t>(next))].load(
          std::memory_order_acquire);
      if (child == nullptr) break;
      if (inner->HasLeaves()) {
        leaf = static_cast<const Leaf*>(child);
      } else {
        inner = static_cast<const Inner*>(child);
      }
    }
    if (leaf == nullptr) {
      const uint64_t span = uint64_t{1} << inner->shift;
      next = (next / span + 1) * span;
      continue;
    }
    uint64_t bits = leaf->bits.load(std::memory_order_acquire) & (kAllBits << (next % kFanout));
    const uint64_t base = next - next % kFanout;
    for (; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<uint32_t>(std::countr_zero(bits));
      void* object = leaf->Slot(bit).load(std::memory_order_acquire);
      const auto index = static_cast<uint32_t>(base + bit);
      if (object == nullptr || index == 0) continue;
      if (!visit(index, object)) return index == kMaxIndex ? 0 : index + 1;
    }
    next = base + kFanout;
  }
  return 0;
}

uint64_t Idr::CountBelow(const Inner& inner) {
  uint64_t count = 0;
  for (const std::atomic<Node*>& slot : inner.children) {
    const Node* child = slot.load(std::memory_order_acquire);
    if (child == nullptr) continue;
    count += inner.HasLeaves()
                 ? static_cast<uint64_t>(std::popcount(child->bits.load(std::memory_order_relaxed)))
                 : CountBelow(*static_cast<const Inner*>(child));
  }
  return count;
}

uint64_t Idr::Count() const {
  const Inner* root = root_.load(std::memory_order_acquire);
  if (root == nullptr) return 0;
  // Index 0 is taken from the start and counts for nothing.
  return CountBelow(*root) - (FindLeaf(0) != nullptr ? 1 : 0);
}

// ---------- nodes ----------

template <typename T>
T* Idr::NewNode() {
  if (fail_nodes_after_ >= 0 && fail_nodes_after_-- == 0) {
    fail_nodes_after_ = 0;
    return nullptr;
  }
  return new (std::nothrow) T;
}

// Puts a new root above the present one (or the first one).
bool Idr::Grow() {
  Inner* old = root_.load(std::memory_order_relaxed);
  auto* root = NewNode<Inner>();
  if (root == nullptr) return false;
  root->shift = old == nullptr ? kBits : old->shift + kBits;
  // The top one spans 2^36; what lies beyond 2^32 is never free.
  if (root->shift == kTopShift) root->bits.store(kAllBits << 4, std::memory_order_relaxed);
  if (old != nullptr) root->children[0].store(old, std::memory_order_relaxed);
  root_.store(root, std::memory_order_release);
  if (old != nullptr) old->parent.store(root, std::memory_order_release);
  inners_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// Makes the leaf of an index and the nodes above it. False when memory is out: then what was made
// for it is gone again, save that the tree may have grown in height.
bool Idr::AddLeaf(uint32_t index) {
  lock::CountedLock lock(&mutex_);
  ReclaimIfMany();
  while (root_.load(std::memory_order_relaxed) == nullptr ||
         !root_.load(std::memory_order_relaxed)->Spans(index)) {
    if (!Grow()) return false;
  }
  Inner* inner = root_.load(std::memory_order_relaxed);
  for (;;) {
    const uint32_t slot = inner->SlotOf(index);
    std::atomic<Node*>& link = inner->children[slot];
    Node* child = link.load(std::memory_order_relaxed);
    if (inner->HasLeaves()) {
      if (child != nullptr) return true;  // somebody was faster
      auto* leaf = NewNode<Leaf>();
      if (leaf == nullptr) {
        Prune(inner);
        return false;
      }
      leaf->first = index - index % kFanout;
      leaf->slot = slot;
      leaf->parent.store(inner, std::memory_order_relaxed);
      if (leaf->first == 0) leaf->bits.store(Bit(0), std::memory_order_relaxed);
      leaves_.fetch_add(1, std::memory_order_relaxed);
      link.store(leaf, std::memory_order_release);
      // Empty as yet, and it may stay so if who wanted it finds a lower index.
      PushListed(leaf);
      return true;
    }
    if (child == nullptr) {
      auto* made = NewNode<Inner>();
      if (made == nullptr) {
        Prune(inner);
        return false;
      }
      made->shift = inner->shift - kBits;
      made->slot = slot;
      made->parent.store(inner, std::memory_order_relaxed);
      inners_.fetch_add(1, std::memory_order_relaxed);
      link.store(made, std::memory_order_release);
      child = made;
    }
    inner = static_cast<Inner*>(child);
  }
}

void Idr::PushListed(Leaf* leaf) {
  leaf->listed.store(true, std::memory_order_seq_cst);
  leaf->next_listed = listed_;
  listed_ = leaf;
  ++listed_count_;
}

void Idr::ListEmpty(Leaf* leaf) {
  lock::CountedLock lock(&mutex_);
  if (leaf->dead.load(std::memory_order_relaxed) || leaf->listed.load(std::memory_order_relaxed)) {
    return;
  }
  PushListed(leaf);
  ReclaimIfMany();
}

void Idr::ReclaimIfMany() {
  if (listed_count_ > kEmptyLeaves + leaves_.load(std::memory_order_relaxed) / 4) Reclaim();
}

// Removes the listed leaves that are empty; the others leave the list and come back when they are
// empty again.
uint64_t Idr::Reclaim() {
  uint64_t bytes = 0;
  Leaf* next = std::exchange(listed_, nullptr);
  listed_count_ = 0;
  while (next != nullptr) {
    Leaf* leaf = std::exchange(next, next->next_listed);
    // Off the list first, then a look: who empties it meanwhile sees that it must list it again, or
    // we see it empty.
    leaf->listed.store(false, std::memory_order_seq_cst);
    if (leaf->bits.load(std::memory_order_seq_cst) == 0 && Unlink(leaf)) bytes += sizeof(Leaf);
  }
  return bytes;
}

// Takes an empty leaf out of the tree, and the inner nodes that it leaves empty. False if it is not
// empty after all.
bool Idr::Unlink(Leaf* leaf) {
  leaf->dead.store(true, std::memory_order_seq_cst);
  if (leaf->bits.load(std::memory_order_seq_cst) != 0) {
    leaf->dead.store(false, std::memory_order_seq_cst);
    return false;
  }
  Inner* inner = leaf->parent.load(std::memory_order_relaxed);
  inner->children[leaf->slot].store(nullptr, std::memory_order_release);
  leaves_.fetch_sub(1, std::memory_order_relaxed);
  rcu::DeferDelete(leaf);
  Prune(inner);
  return true;
}

// Removes the node if it has no child, and those above it that have none then; the root stays.
void Idr::Prune(Inner* inner) {
  for (;;) {
    Inner* parent = inner->parent.load(std::memory_order_relaxed);
    if (parent == nullptr) return;
    for (const std::atomic<Node*>& slot : inner->children) {
      if (slot.load(std::memory_order_relaxed) != nullptr) return;
    }
    // Children are added under our mutex only, so it stays empty.
    parent->children[inner->slot].store(nullptr, std::memory_order_release);
    inners_.fetch_sub(1, std::memory_order_relaxed);
    rcu::DeferDelete(inner);
    inner = parent;
  }
}

uint64_t Idr::Shrink() {
  lock::CountedLock lock(&mutex_);
  return Reclaim();
}

uint64_t Idr::MemoryBytes() const {
  return leaves_.load(std::memory_order_relaxed) * sizeof(Leaf) +
         inners_.load(std::memory_order_relaxed) * sizeof(Inner);
}

// ---------- for tests ----------

void Idr::FailNodesAfter(int64_t successes) {
  lock::CountedLock lock(&mutex_);
  fail_nodes_after_ = successes;
}

void Idr::CheckBelow(const Inner& inner) {
  for (uint32_t slot = 0; slot < kFanout; ++slot) {
    const Node* child = inner.children[slot].load(std::memory_order_relaxed);
    const bool marked = (inner.bits.load(std::memory_order_relaxed) & Bit(slot)) != 0;
    if (child == nullptr) {
      TCACT_CHECK(!marked || (inner.shift == kTopShift && slot >= 4),
                  "what is not there is not full");
      continue;
    }
    TCACT_CHECK(!marked || child->Full(), "a mark stays only on a full node");
    TCACT_CHECK(child->parent.load(std::memory_order_relaxed) == &inner && child->slot == slot,
                "a node knows its place");
    if (!inner.HasLeaves()) {
      CheckBelow(*static_cast<const Inner*>(child));
      continue;
    }
    const auto* leaf = static_cast<const Leaf*>(child);
    TCACT_CHECK(!leaf->dead.load(std::memory_order_relaxed), "a dead leaf is not in the tree");
    for (uint32_t bit = 0; bit < kFanout; ++bit) {
      TCACT_CHECK(leaf->Slot(bit).load(std::memory_order_relaxed) == nullptr ||
                      (leaf->bits.load(std::memory_order_relaxed) & Bit(bit)) != 0,
                  "a filled slot has its bit");
    }
  }
}

void Idr::CheckInvariants() const {
  if (const Inner* root = root_.load(std::memory_order_acquire)) CheckBelow(*root);
}

}  // namespace tcact::idr
