#include "server/core/act/netns.h"

#include <new>
#include <utility>

#include "absl/hash/hash.h"
#include "server/core/rcu/rcu.h"

namespace tcact::act {

Netns::~Netns() {
  ForEachTable([](Kind, idr::Idr* table) { delete table; });
}

idr::Idr* Netns::MakeTable(Kind kind) {
  if (idr::Idr* table = FindTable(kind)) return table;
  auto table = std::unique_ptr<idr::Idr>(new (std::nothrow) idr::Idr);
  idr::Idr* expected = nullptr;
  if (table != nullptr &&
      tables_[kind].compare_exchange_strong(expected, table.get(), std::memory_order_acq_rel)) {
    return table.release();
  }
  return expected;  // somebody else's, or null when memory is out
}

uint64_t Netns::CountActions() const {
  uint64_t count = 0;
  ForEachTable([&count](Kind, const idr::Idr* table) { count += table->Count(); });
  return count;
}

bool Netns::TryHold() {
  uint64_t holds = holds_.load(std::memory_order_relaxed);
  while (holds != 0) {
    if (holds_.compare_exchange_weak(holds, holds + 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void Netns::EndTransaction(bool* last_open, bool* last_hold) {
  const uint64_t before = holds_.fetch_sub(kOneOpen + 1, std::memory_order_seq_cst);
  *last_open = (before >> 32) == 1;
  *last_hold = before == kOneOpen + 1;
}

void Netns::SetMaxActions(uint64_t max_actions) {
  lock::CountedLock lock(&quota_mutex_);
  max_actions_.store(max_actions, std::memory_order_relaxed);
  headroom_ = 0;
}

NetnsMap::~NetnsMap() {
  for (auto& shard : shards_) delete shard.load(std::memory_order_relaxed);
  lock::CountedLock lock(&mutex_);
  for (auto& [name, netns] : ordered_) delete netns;
}

size_t NetnsMap::ShardOf(absl::string_view name) { return absl::HashOf(name) % kShards; }

Netns* NetnsMap::FindInShard(absl::string_view name) const {
  const Shard* shard = shards_[ShardOf(name)].load(std::memory_order_acquire);
  if (shard == nullptr) return nullptr;
  const auto found = shard->find(name);
  return found == shard->end() ? nullptr : found->second;
}

template <typename Change>
void NetnsMap::ReplaceShard(absl::string_view name, Change change) {
  auto& slot = shards_[ShardOf(name)];
  const Shard* old = slot.load(std::memory_order_relaxed);
  auto* copy = old == nullptr ? new Shard : new Shard(*old);
  change(copy);
  slot.store(copy, std::memory_order_release);
  if (old != nullptr) rcu::DeferDelete(const_cast<Shard*>(old));
}

Netns* NetnsMap::Find(absl::string_view name) const {
  rcu::ReadGuard guard;
  Netns* netns = FindInShard(name);
  return netns != nullptr && netns->TryHold() ? netns : nullptr;
}

Errc NetnsMap::Open(absl::string_view name, Netns** netns) {
  if ((*netns = Find(name)) != nullptr) return Errc::kOk;
  lock::CountedLock lock(&mutex_);
  const auto found = ordered_.find(name);
  if (found != ordered_.end()) {
    *netns = found->second;
    (*netns)->Hold();
    return Errc::kOk;
  }
  if (ordered_.size() >= max_netns_) return Errc::kTooManyNetns;
  auto* made = new Netns(std::string(name));
  made->Hold();
  ordered_.emplace(name, made);
  ReplaceShard(name, [&](Shard* shard) { shard->emplace(name, made); });
  *netns = made;
  return Errc::kOk;
}

Netns* NetnsMap::Remove(absl::string_view name) {
  lock::CountedLock lock(&mutex_);
  const auto found = ordered_.find(name);
  if (found == ordered_.end()) return nullptr;
  Netns* netns = found->second;
  netns->MarkGone();
  ordered_.erase(found);
  ReplaceShard(name, [&](Shard* shard) { shard->erase(name); });
  return netns;
}

std::vector<Netns*> NetnsMap::List(bool from_start, absl::string_view after, size_t limit) const {
  lock::CountedLock lock(&mutex_);
  std::vector<Netns*> list;
  auto next = from_start ? ordered_.begin() : ordered_.upper_bound(after);
  for (; next != ordered_.end() && list.size() < limit; ++next) {
    next->second->Hold();
    list.push_back(next->second);
  }
  return list;
}

uint64_t NetnsMap::size() const {
  lock::CountedLock lock(&mutex_);
  return ordered_.size();
}

}  // namespace tcact::act
