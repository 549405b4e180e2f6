#include "server/durable/records.h"

#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tcact::durable {
namespace {

constexpr size_t kKeyTailBytes = 6;  // kind and index
constexpr absl::string_view kFormatName = "tcact ";

// Bits of an action's flags; the two lowest are hw_stats.
constexpr uint8_t kHwStatsMask = 3;
constexpr uint8_t kStandalone = 1 << 2;
constexpr uint8_t kNoPercpu = 1 << 3;
constexpr uint8_t kSkipHw = 1 << 4;
constexpr uint8_t kOffloadable = 1 << 5;
constexpr uint8_t kKnownFlags = (1 << 6) - 1;

constexpr uint64_t kMaxTimeMs = (uint64_t{1} << 48) - 1;
constexpr uint64_t kMaxBinds = (uint64_t{1} << 28) - 1;

uint64_t TimeOf(int64_t ms) { return ms > 0 ? static_cast<uint64_t>(ms) & kMaxTimeMs : 0; }

bool ReadTime(Reader* reader, int64_t* ms) {
  const uint64_t value = reader->Varint();
  *ms = static_cast<int64_t>(value);
  return value <= kMaxTimeMs;
}

bool ReadU32(Reader* reader, uint32_t* value) {
  const uint64_t wide = reader->Varint();
  *value = static_cast<uint32_t>(wide);
  return wide <= UINT32_MAX;
}

}  // namespace

void AppendFixed64(uint64_t value, std::string* out) {
  char bytes[8];
  std::memcpy(bytes, &value, sizeof(bytes));
  out->append(bytes, sizeof(bytes));
}

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void AppendBytes(absl::string_view bytes, std::string* out) {
  AppendVarint(bytes.size(), out);
  out->append(bytes.data(), bytes.size());
}

void Reader::Fail() {
  ok_ = false;
  rest_ = {};
}

uint8_t Reader::Byte() {
  if (rest_.empty()) {
    Fail();
    return 0;
  }
  const auto byte = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return byte;
}

uint64_t Reader::Fixed64() {
  uint64_t value = 0;
  if (rest_.size() < sizeof(value)) {
    Fail();
    return 0;
  }
  std::memcpy(&value, rest_.data(), sizeof(value));
  rest_.remove_prefix(sizeof(value));
  return value;
}

uint64_t Reader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = Byte();
    value |= uint64_t{byte & 0x7Fu} << shift;
    if ((byte & 0x80) == 0) return ok_ ? value : 0;
  }
  Fail();
  return 0;
}

absl::string_view Reader::Bytes() {
  const uint64_t size = Varint();
  if (size > rest_.size()) {
    Fail();
    return {};
  }
  const absl::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

absl::string_view Reader::Rest() {
  const absl::string_view rest = rest_;
  rest_ = {};
  return rest;
}

void MakeKey(char type, absl::string_view netns, act::Kind kind, uint32_t index, std::string* key) {
  const char tail[1 + kKeyTailBytes] = {0,
                                        static_cast<char>(kind >> 8),
                                        static_cast<char>(kind),
                                        static_cast<char>(index >> 24),
                                        static_cast<char>(index >> 16),
                                        static_cast<char>(index >> 8),
                                        static_cast<char>(index)};
  key->clear();
  key->push_back(type);
  key->append(netns.data(), netns.size());
  key->append(tail, sizeof(tail));
}

std::string NetnsPrefix(char type, absl::string_view netns) {
  std::string prefix(1, type);
  absl::StrAppend(&prefix, netns);
  prefix.push_back('\0');
  return prefix;
}

std::string NetnsKey(absl::string_view netns) {
  return absl::StrCat(absl::string_view(&kNetnsKey, 1), netns);
}

bool ParseKey(absl::string_view key, ActionKey* parsed) {
  if (key.size() < 2 + kKeyTailBytes) return false;
  const size_t name_end = key.size() - kKeyTailBytes - 1;
  if (key[name_end] != '\0') return false;
  const auto* tail = reinterpret_cast<const uint8_t*>(key.data()) + name_end + 1;
  parsed->netns = key.substr(1, name_end - 1);
  parsed->kind = static_cast<act::Kind>(tail[0] << 8 | tail[1]);
  parsed->index =
      uint32_t{tail[2]} << 24 | uint32_t{tail[3]} << 16 | uint32_t{tail[4]} << 8 | tail[5];
  return parsed->index != 0;
}

void EncodeAction(const act::Snapshot& snapshot, std::string* value) {
  uint8_t flags = static_cast<uint8_t>(snapshot.hw_stats) & kHwStatsMask;
  if (snapshot.refcnt > snapshot.bindcnt) flags |= kStandalone;
  if (snapshot.no_percpu) flags |= kNoPercpu;
  if (snapshot.skip_hw) flags |= kSkipHw;
  if (snapshot.offloadable) flags |= kOffloadable;
  value->clear();
  value->push_back(static_cast<char>(flags));
  AppendVarint(snapshot.generation, value);
  AppendVarint(snapshot.bindcnt, value);
  AppendVarint(TimeOf(snapshot.installed_ms), value);
  AppendBytes(snapshot.cookie.view(), value);
  value->append(snapshot.params);
}

bool DecodeAction(absl::string_view value, act::SavedAction* saved) {
  Reader reader(value);
  const uint8_t flags = reader.Byte();
  saved->generation = reader.Varint();
  const uint64_t binds = reader.Varint();
  bool good = ReadTime(&reader, &saved->installed_ms);
  const absl::string_view cookie = reader.Bytes();
  saved->spec.params = reader.Rest();
  saved->standalone = (flags & kStandalone) != 0;
  saved->binds = static_cast<uint32_t>(binds);
  good = good && (flags & ~kKnownFlags) == 0 && saved->generation != 0 && binds <= kMaxBinds &&
         (saved->standalone || binds != 0) && cookie.size() <= act::kMaxCookieBytes;
  if (!good || !reader.ok()) return false;
  saved->spec.hw_stats = static_cast<act::HwStats>(flags & kHwStatsMask);
  saved->spec.no_percpu = (flags & kNoPercpu) != 0;
  saved->spec.skip_hw = (flags & kSkipHw) != 0;
  saved->spec.offloadable = (flags & kOffloadable) != 0;
  saved->spec.cookie = {};
  saved->spec.cookie.size = static_cast<uint8_t>(cookie.size());
  std::memcpy(saved->spec.cookie.bytes.data(), cookie.data(), cookie.size());
  return true;
}

void EncodeStats(const act::Snapshot& snapshot, std::string* value) {
  const act::Counters& counters = snapshot.counters;
  value->clear();
  AppendVarint(snapshot.generation, value);
  AppendVarint(TimeOf(snapshot.last_used_ms), value);
  AppendVarint(TimeOf(snapshot.first_used_ms), value);
  for (const uint64_t counter :
       {counters.bytes, counters.packets, counters.hw_bytes, counters.hw_packets, counters.drops,
        uint64_t{counters.overlimits}, uint64_t{counters.requeues}, uint64_t{counters.qlen},
        uint64_t{counters.backlog}}) {
    AppendVarint(counter, value);
  }
}

bool DecodeStats(absl::string_view value, act::SavedStats* saved) {
  Reader reader(value);
  saved->generation = reader.Varint();
  bool good = ReadTime(&reader, &saved->last_used_ms);
  good = ReadTime(&reader, &saved->first_used_ms) && good;
  act::Counters& counters = saved->counters;
  for (uint64_t* counter : {&counters.bytes, &counters.packets, &counters.hw_bytes,
                            &counters.hw_packets, &counters.drops}) {
    *counter = reader.Varint();
  }
  for (uint32_t* counter :
       {&counters.overlimits, &counters.requeues, &counters.qlen, &counters.backlog}) {
    good = ReadU32(&reader, counter) && good;
  }
  return good && saved->generation != 0 && reader.done();
}

void RecordStep(absl::string_view netns, const act::Step& step, const act::Snapshot& snapshot,
                Batch* batch) {
  thread_local std::string key;
  thread_local std::string value;
  if (step.type == act::OpType::kResetStats) {
    // Counters that were never saved are 0 in the records already.
    if (!snapshot.stats_saved) return;
    act::Snapshot zeroed = snapshot;
    zeroed.counters = {};
    return RecordStats(netns, zeroed, batch);
  }
  MakeKey(kActionKey, netns, step.kind, step.index, &key);
  if (!step.destroyed) {
    EncodeAction(snapshot, &value);
    if (step.created) return batch->PutNew(key, value);
    return batch->Put(key, value);
  }
  batch->Delete(key);
  if (!snapshot.stats_saved) return;
  key.front() = kStatsKey;
  batch->Delete(key);
}

void RecordStats(absl::string_view netns, const act::Snapshot& snapshot, Batch* batch) {
  thread_local std::string key;
  thread_local std::string value;
  MakeKey(kStatsKey, netns, snapshot.kind, snapshot.index, &key);
  EncodeStats(snapshot, &value);
  batch->Put(key, value);
}

void RecordNetns(absl::string_view netns, uint64_t max_actions, Batch* batch) {
  std::string value;
  AppendVarint(max_actions, &value);
  batch->Put(NetnsKey(netns), value);
}

void RecordNetnsGone(absl::string_view netns, Batch* batch) {
  batch->Delete(NetnsKey(netns));
  batch->DeletePrefix(NetnsPrefix(kActionKey, netns));
  batch->DeletePrefix(NetnsPrefix(kStatsKey, netns));
}

void RecordGenerationBound(uint64_t bound, Batch* batch) {
  std::string value;
  AppendFixed64(bound, &value);
  batch->Put(absl::string_view(&kGenerationKey, 1), value);
}

absl::Status OpenFormat(RecordStore* store, bool writable) {
  const absl::string_view key(&kFormatKey, 1);
  std::string format;
  absl::Status status = store->Get(key, &format);
  if (absl::IsNotFound(status)) {
    bool empty = true;
    for (int first = 1; first < 255; ++first) {
      const char prefix = static_cast<char>(first);
      status = store->Scan({&prefix, 1}, [&](absl::string_view, absl::string_view) {
        empty = false;
        return absl::CancelledError();
      });
      if (!empty) return absl::DataLossError("not a store of tcactd: it holds no format");
      if (!status.ok()) return status;
    }
    if (!writable) return absl::NotFoundError("an empty store: it holds no format");
    Batch batch;
    batch.Put(key, absl::StrCat(kFormatName, kFormatVersion));
    return store->Commit(batch, Level::kSync);
  }
  if (!status.ok()) return status;
  absl::string_view digits = format;
  uint32_t version = 0;
  if (!absl::ConsumePrefix(&digits, kFormatName) || !absl::SimpleAtoi(digits, &version) ||
      version == 0) {
    return absl::DataLossError(
        absl::StrCat("not a store of tcactd: its format is \"", absl::CHexEscape(format), "\""));
  }
  if (version <= kFormatVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the store has format ", version, ", this tcactd knows formats up to ",
                   kFormatVersion, "; use the newer tcactd that wrote it"));
}

std::string ShowKey(absl::string_view key) {
  if (key.empty()) return "(no key)";
  ActionKey parsed;
  if ((key[0] == kActionKey || key[0] == kStatsKey) && ParseKey(key, &parsed)) {
    return absl::StrCat(key[0] == kActionKey ? "action" : "counters", " netns \"",
                        absl::CHexEscape(parsed.netns), "\" kind ", parsed.kind, " index ",
                        parsed.index);
  }
  if (key[0] == kNetnsKey)
    return absl::StrCat("namespace \"", absl::CHexEscape(key.substr(1)), "\"");
  return absl::StrCat("record \"", absl::CHexEscape(key), "\"");
}

}  // namespace tcact::durable
