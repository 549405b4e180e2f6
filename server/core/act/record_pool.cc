#include "server/core/act/record_pool.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/act/counters.h"
#include "server/core/rcu/rcu.h"

namespace tcact::act {
namespace {

constexpr size_t kRetiredBatch = 256;
constexpr int kMaxBatchesWaiting = 64;
constexpr uint64_t kGenerationBlock = 4096;

size_t RoundUp8(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

Record* AsRecord(void* object) { return static_cast<Record*>(object); }

percpu::Region RegionOf(const std::atomic<percpu::Region>& region) {
  return region.load(std::memory_order_relaxed);
}

}  // namespace

namespace {

std::atomic<uint64_t> next_block{1};

}  // namespace

uint64_t NewGeneration() {
  // Threads take blocks, so that no counter is shared on the path of a create.
  thread_local uint64_t next = 0;
  thread_local uint64_t end = 0;
  if (next == end) {
    next = next_block.fetch_add(kGenerationBlock, std::memory_order_relaxed);
    end = next + kGenerationBlock;
  }
  return next++;
}

void RaiseGenerations(uint64_t above) {
  uint64_t next = next_block.load(std::memory_order_relaxed);
  while (next <= above &&
         !next_block.compare_exchange_weak(next, above + 1, std::memory_order_relaxed)) {
  }
}

uint64_t GenerationBound() { return next_block.load(std::memory_order_relaxed); }

std::byte* NewParamsBlock(absl::string_view params) {
  auto* block = static_cast<std::byte*>(std::malloc(RoundUp8(params.size())));
  if (block != nullptr) std::memcpy(block, params.data(), params.size());
  return block;
}

void FreeParamsBlockNow(std::byte* block) { std::free(block); }

void FreeParamsBlockLater(std::byte* block) {
  rcu::Defer([](void* arg) { std::free(arg); }, block);
}

size_t RecordPool::Life::ConstructMerged(absl::Span<void* const> objects) {
  std::vector<percpu::Region> lines(objects.size());
  if (!percpu_->AllocBatch(kMergedLineBytes, absl::MakeSpan(lines))) return 0;
  for (size_t i = 0; i < objects.size(); ++i) {
    auto* record = new (objects[i]) Record;
    record->basic.store(lines[i], std::memory_order_relaxed);
    record->hw.store(lines[i] + kMergedHwOffset, std::memory_order_relaxed);
    record->queue.store(lines[i] + kMergedQueueOffset, std::memory_order_relaxed);
  }
  return objects.size();
}

// Three allocations for each object, as in the RFC.
size_t RecordPool::Life::ConstructSeparate(absl::Span<void* const> objects) {
  for (size_t i = 0; i < objects.size(); ++i) {
    const percpu::Region basic = percpu_->Alloc(sizeof(BasicStats));
    const percpu::Region hw = basic == nullptr ? nullptr : percpu_->Alloc(sizeof(HwStatsPart));
    const percpu::Region queue = hw == nullptr ? nullptr : percpu_->Alloc(sizeof(QueueStats));
    if (queue == nullptr) {
      if (hw != nullptr) percpu_->Free(hw, sizeof(HwStatsPart));
      if (basic != nullptr) percpu_->Free(basic, sizeof(BasicStats));
      return i;
    }
    auto* record = new (objects[i]) Record;
    record->basic.store(basic, std::memory_order_relaxed);
    record->hw.store(hw, std::memory_order_relaxed);
    record->queue.store(queue, std::memory_order_relaxed);
  }
  return objects.size();
}

size_t RecordPool::Life::Construct(absl::Span<void* const> objects) {
  switch (mode_) {
    case AllocMode::kSlabMerged:
      return ConstructMerged(objects);
    case AllocMode::kSlab:
      return ConstructSeparate(objects);
    case AllocMode::kPerObject:
      for (void* object : objects) new (object) Record;
      return objects.size();
  }
  return 0;
}

void RecordPool::Life::Destruct(absl::Span<void* const> objects) {
  if (mode_ == AllocMode::kSlabMerged) {
    std::vector<percpu::Region> lines;
    lines.reserve(objects.size());
    for (void* object : objects) lines.push_back(RegionOf(AsRecord(object)->basic));
    percpu_->FreeBatch(kMergedLineBytes, lines);
  } else if (mode_ == AllocMode::kSlab) {
    for (void* object : objects) {
      percpu_->Free(RegionOf(AsRecord(object)->queue), sizeof(QueueStats));
      percpu_->Free(RegionOf(AsRecord(object)->hw), sizeof(HwStatsPart));
      percpu_->Free(RegionOf(AsRecord(object)->basic), sizeof(BasicStats));
    }
  }
}

RecordPool::RecordPool(const KindSpec& spec, AllocMode mode, percpu::Allocator* percpu,
                       slab::KmemCache* shared_stats)
    : kind_(spec.kind),
      mode_(mode),
      inline_params_(RoundUp8(spec.inline_params)),
      percpu_(percpu),
      shared_stats_(shared_stats),
      life_(mode, percpu),
      cache_({.name = absl::StrCat("act_", spec.name),
              .object_size = sizeof(Record) + RoundUp8(spec.inline_params),
              .align = 64,
              .life = &life_}) {
  if (mode == AllocMode::kPerObject) retired_ = std::make_unique<Retired[]>(percpu->units());
}

RecordPool::~RecordPool() { Settle(); }

bool RecordPool::TakeRegions(Record* record, bool no_percpu) {
  percpu::Region basic = nullptr;
  percpu::Region hw = nullptr;
  percpu::Region queue = nullptr;
  if (no_percpu) {
    basic = static_cast<percpu::Region>(shared_stats_->Alloc());
    if (basic == nullptr) return false;
    reinterpret_cast<BasicStats*>(basic)->stamp.store(0, std::memory_order_relaxed);
    hw = basic + kMergedHwOffset;
    queue = basic + kMergedQueueOffset;
  } else {
    basic = percpu_->Alloc(sizeof(BasicStats));
    hw = basic == nullptr ? nullptr : percpu_->Alloc(sizeof(HwStatsPart));
    queue = hw == nullptr ? nullptr : percpu_->Alloc(sizeof(QueueStats));
    if (queue == nullptr) {
      if (hw != nullptr) percpu_->Free(hw, sizeof(HwStatsPart));
      if (basic != nullptr) percpu_->Free(basic, sizeof(BasicStats));
      return false;
    }
  }
  record->basic.store(basic, std::memory_order_release);
  record->hw.store(hw, std::memory_order_release);
  record->queue.store(queue, std::memory_order_release);
  return true;
}

void RecordPool::GiveRegions(Record* record) {
  if (record->shared_counters()) {
    shared_stats_->Free(RegionOf(record->basic));
    return;
  }
  percpu_->Free(RegionOf(record->queue), sizeof(QueueStats));
  percpu_->Free(RegionOf(record->hw), sizeof(HwStatsPart));
  percpu_->Free(RegionOf(record->basic), sizeof(BasicStats));
}

Record* RecordPool::Make(const Spec& spec, Netns* netns, uint32_t index, uint64_t state_word,
                         int64_t now_ms, uint64_t generation) {
  std::byte* block = nullptr;
  if (!FitsInline(spec.params.size())) {
    block = NewParamsBlock(spec.params);
    if (block == nullptr) return nullptr;
  }
  void* object = cache_.Alloc();
  if (object == nullptr) {
    FreeParamsBlockNow(block);
    return nullptr;
  }
  Record* record = AsRecord(object);
  if (mode_ == AllocMode::kPerObject && !TakeRegions(record, spec.no_percpu)) {
    cache_.Free(record);
    FreeParamsBlockNow(block);
    return nullptr;
  }
  if (generation == 0) generation = NewGeneration();
  BodyWriter writer(record);
  writer.Set(&record->generation, generation);
  writer.Set(&record->index, index);
  writer.Set(&record->netns, netns);
  writer.Set(&record->last_used, moment::Make(generation, now_ms));
  writer.Set(&record->first_used, moment::Make(generation, 0));
  writer.SetBody(Body::Make(spec, now_ms));
  if (block != nullptr) {
    writer.SetBlockParams(block, spec.params.size(), spec.no_percpu);
  } else {
    writer.SetInlineParams(spec.params, spec.no_percpu);
  }
  record->state.store(state_word, std::memory_order_release);
  return record;
}

void RecordPool::Unmake(Record* record) {
  if (std::byte* block = ParamsBlock(*record)) FreeParamsBlockLater(block);
  if (mode_ == AllocMode::kPerObject) {
    Retire(record);
  } else {
    cache_.Free(record);
  }
}

void RecordPool::Retire(Record* record) {
  Retired& retired = retired_[percpu::CurrentCpu() % percpu_->units()];
  std::vector<Record*> full;
  {
    absl::MutexLock lock(&retired.mu);
    if (retired.records.capacity() == 0) retired.records.reserve(kRetiredBatch);
    retired.records.push_back(record);
    if (retired.records.size() < kRetiredBatch) return;
    full.reserve(kRetiredBatch);
    full.swap(retired.records);
  }
  ReleaseAfterGrace(std::move(full));
}

struct RecordPool::RetiredBatch {
  RecordPool* pool;
  std::vector<Record*> records;
};

void RecordPool::ReleaseAfterGrace(std::vector<Record*> records) {
  batches_waiting_.fetch_add(1, std::memory_order_relaxed);
  rcu::Defer(
      [](void* arg) {
        std::unique_ptr<RetiredBatch> batch(static_cast<RetiredBatch*>(arg));
        batch->pool->Release(batch->records);
        batch->pool->batches_waiting_.fetch_sub(1, std::memory_order_release);
      },
      new RetiredBatch{this, std::move(records)});
}

void RecordPool::Release(const std::vector<Record*>& records) {
  for (Record* record : records) {
    GiveRegions(record);
    cache_.Free(record);
  }
}

bool RecordPool::TooManyWaiting() const {
  return batches_waiting_.load(std::memory_order_relaxed) > kMaxBatchesWaiting;
}

std::byte* RecordPool::ParamsBlock(const Record& record) const {
  if (FitsInline(Record::ParamsSize(record.size_and_flags.load(std::memory_order_relaxed))))
    return nullptr;
  return reinterpret_cast<std::byte*>(record.params_words()[0].load(std::memory_order_relaxed));
}

Netns* RecordPool::Read(const Record& record, bool with_params, Snapshot* snapshot) const {
  Netns* netns = nullptr;
  uint32_t params_size = 0;
  uint64_t state_word = 0;
  uint64_t block = 0;
  Body body;
  ReadConsistently(record, [&] {
    snapshot->generation = record.generation.load(std::memory_order_acquire);
    snapshot->index = record.index.load(std::memory_order_acquire);
    netns = record.netns.load(std::memory_order_acquire);
    state_word = record.state.load(std::memory_order_acquire);
    body = ReadBody(record);
    if (!with_params) return;
    params_size = Record::ParamsSize(record.size_and_flags.load(std::memory_order_acquire));
    const std::atomic<uint64_t>* words = record.params_words();
    if (!FitsInline(params_size)) {
      block = words[0].load(std::memory_order_acquire);
      return;
    }
    snapshot->params.resize(params_size);
    for (uint32_t at = 0; at < params_size; at += 8) {
      const uint64_t word = words[at / 8].load(std::memory_order_acquire);
      std::memcpy(snapshot->params.data() + at, &word, std::min(params_size - at, 8u));
    }
  });
  // Only now is it sure that the word was a block's address; it lives until a grace period after
  // its last use.
  if (with_params && !FitsInline(params_size)) {
    snapshot->params.assign(reinterpret_cast<const char*>(block), params_size);
  }
  snapshot->kind = kind_;
  snapshot->refcnt = state::Refs(state_word);
  snapshot->bindcnt = state::Binds(state_word);
  snapshot->cookie = body.GetCookie();
  snapshot->hw_stats = body.hw_stats();
  snapshot->no_percpu = body.no_percpu();
  snapshot->skip_hw = body.skip_hw();
  snapshot->offloadable = body.offloadable();
  snapshot->stats_saved = body.stats_saved();
  snapshot->installed_ms = body.installed_ms();
  const uint64_t last = record.last_used.load(std::memory_order_relaxed);
  const uint64_t first = record.first_used.load(std::memory_order_relaxed);
  const uint64_t generation = snapshot->generation;
  snapshot->last_used_ms = moment::Of(last, generation) ? moment::Ms(last) : snapshot->installed_ms;
  snapshot->first_used_ms = moment::Of(first, generation) ? moment::Ms(first) : 0;
  snapshot->used_hw_stats_known =
      record.used_hw_tag.load(std::memory_order_relaxed) == static_cast<uint32_t>(generation);
  return netns;
}

void RecordPool::Settle() {
  if (mode_ == AllocMode::kPerObject) {
    for (uint32_t cpu = 0; cpu < percpu_->units(); ++cpu) {
      std::vector<Record*> rest;
      {
        absl::MutexLock lock(&retired_[cpu].mu);
        rest.swap(retired_[cpu].records);
      }
      if (!rest.empty()) ReleaseAfterGrace(std::move(rest));
    }
  }
  rcu::Barrier();
}

}  // namespace tcact::act
