#include "proto/kinds/classid.h"

#include <cstdlib>

#include "absl/strings/str_format.h"
#include "proto/kinds/words.h"

namespace tcact::kinds {
namespace {

constexpr uint32_t kRoot = 0xffffffff;

// A half of an id; empty is 0.
bool ParseHalf(absl::string_view word, uint32_t* half) {
  uint16_t value = 0;
  if (!word.empty() && !ParseU16(word, 16, &value)) return false;
  *half = value;
  return true;
}

// A whole id, of which tc keeps the lower 32 bits.
bool ParseWhole(absl::string_view word, uint32_t* id) {
  const std::string text(word);
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 16);
  if (end == text.c_str() || end != text.c_str() + text.size()) return false;
  *id = static_cast<uint32_t>(value);
  return true;
}

}  // namespace

bool ParseClassId(absl::string_view word, uint32_t* id) {
  if (word == "root") {
    *id = kRoot;
    return true;
  }
  if (word == "none") {
    *id = 0;
    return true;
  }
  const size_t colon = word.find(':');
  if (colon == absl::string_view::npos) return ParseWhole(word, id);
  uint32_t major = 0;
  uint32_t minor = 0;
  if (!ParseHalf(word.substr(0, colon), &major) || !ParseHalf(word.substr(colon + 1), &minor)) {
    return false;
  }
  *id = major << 16 | minor;
  return true;
}

std::string FormatClassId(uint32_t id) {
  if (id == kRoot) return "root";
  if (id == 0) return "none";
  const uint32_t major = id >> 16;
  const uint32_t minor = id & 0xffff;
  if (major == 0) return absl::StrFormat(":%x", minor);
  if (minor == 0) return absl::StrFormat("%x:", major);
  return absl::StrFormat("%x:%x", major, minor);
}

}  // namespace tcact::kinds
