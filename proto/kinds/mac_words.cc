#include "proto/kinds/mac_words.h"

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "proto/kinds/addresses.h"

namespace tcact::kinds {
namespace {

// The hexadecimal number that *text begins with, and past it. False if it begins with none.
bool TakeHex(const char** text, uint32_t* value) {
  char* end = nullptr;
  *value = static_cast<uint32_t>(std::strtoul(*text, &end, 16));
  if (end == *text) return false;
  *text = end;
  return true;
}

}  // namespace

bool ParseMacLoosely(absl::string_view word, std::string* bytes) {
  const std::string copy(word);
  const char* text = copy.c_str();
  std::string result;
  for (size_t i = 0; i < kMacBytes; ++i) {
    if (i > 0 && *text++ != ':') return false;
    uint32_t value = 0;
    if (!TakeHex(&text, &value)) return false;
    result.push_back(static_cast<char>(value));
  }
  *bytes = std::move(result);
  return true;
}

bool ParseLinkAddress(absl::string_view word, std::string* bytes) {
  std::string result;
  if (word.find('.') != absl::string_view::npos) {
    if (!ParseIp(word, IpFamily::kIpv4, &result)) return false;
  } else {
    const std::string copy(word);
    const char* text = copy.c_str();
    while (result.size() < kMacBytes) {
      uint32_t value = 0;
      if (!TakeHex(&text, &value) || value > 0xff) return false;
      result.push_back(static_cast<char>(value));
      while (*text != '\0' && *text != ':') ++text;
      if (*text == '\0') break;
      ++text;
    }
  }
  result.resize(kMacBytes, '\0');
  *bytes = std::move(result);
  return true;
}

}  // namespace tcact::kinds
