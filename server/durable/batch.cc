#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "server/core/base/check.h"
#include "server/durable/record_store.h"

namespace tcact::durable {
namespace {

constexpr size_t kHeadBytes = 7;
constexpr uint8_t kFresh = 0x40;
// A buffer that grew beyond this for one large batch is not kept.
constexpr size_t kKeptBytes = size_t{8} << 20;

}  // namespace

absl::string_view LevelName(Level level) {
  switch (level) {
    case Level::kSync:
      return "sync";
    case Level::kOs:
      return "os";
    case Level::kMemory:
      return "memory";
  }
  return "";
}

void Batch::Clear() {
  if (buffer_.capacity() > kKeptBytes) std::string().swap(buffer_);
  buffer_.clear();
  changes_ = 0;
}

void Batch::Compact() {
  struct Seen {
    size_t last = 0;          // the position of the key's last change
    bool was_absent = false;  // before the batch
  };
  absl::flat_hash_map<absl::string_view, Seen> keys;
  keys.reserve(changes_);
  size_t position = 0;
  bool ordered = false;
  ForEach([&](const Change& change) {
    ordered |= change.type == ChangeType::kDeletePrefix;
    const auto [at, first] = keys.try_emplace(change.key);
    if (first) at->second.was_absent = change.fresh;
    at->second.last = position++;
  });
  // A prefix is about other keys too: rare, so such a batch stays as it is.
  if (ordered || keys.size() == changes_) return;
  Batch kept;
  kept.buffer_.reserve(buffer_.size());
  position = 0;
  ForEach([&](const Change& change) {
    const Seen& seen = keys.find(change.key)->second;
    if (seen.last != position++) return;
    if (change.type == ChangeType::kDelete && seen.was_absent) return;
    kept.Add(change.type, change.key, change.value, seen.was_absent);
  });
  *this = std::move(kept);
}

void Batch::Add(ChangeType type, absl::string_view key, absl::string_view value, bool fresh) {
  TCACT_CHECK(!key.empty() && key.size() <= kMaxKeyBytes, "a key has 1 to 512 bytes");
  TCACT_CHECK(value.size() <= kMaxValueBytes, "a value has at most 1 MiB");
  char head[kHeadBytes];
  const auto key_size = static_cast<uint16_t>(key.size());
  const auto value_size = static_cast<uint32_t>(value.size());
  head[0] = static_cast<char>(static_cast<uint8_t>(type) | (fresh ? kFresh : 0));
  std::memcpy(head + 1, &key_size, sizeof(key_size));
  std::memcpy(head + 3, &value_size, sizeof(value_size));
  buffer_.append(head, sizeof(head));
  buffer_.append(key.data(), key.size());
  buffer_.append(value.data(), value.size());
  ++changes_;
}

void Batch::ForEach(absl::FunctionRef<void(const Change& change)> visit) const {
  const char* at = buffer_.data();
  const char* const end = at + buffer_.size();
  while (at < end) {
    uint16_t key_size;
    uint32_t value_size;
    std::memcpy(&key_size, at + 1, sizeof(key_size));
    std::memcpy(&value_size, at + 3, sizeof(value_size));
    Change change;
    change.type = static_cast<ChangeType>(at[0] & ~kFresh);
    change.fresh = (at[0] & kFresh) != 0;
    at += kHeadBytes;
    change.key = {at, key_size};
    at += key_size;
    change.value = {at, value_size};
    at += value_size;
    visit(change);
  }
}

}  // namespace tcact::durable
