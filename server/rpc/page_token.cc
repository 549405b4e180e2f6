#include "server/rpc/page_token.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/limits.h"

namespace tcact::rpc {
namespace {

constexpr size_t kSealBytes = 8;

// FNV-1a, 64 bits, over the parts with their lengths, so that ("a", "bc") and ("ab", "c") differ.
uint64_t Hash(uint64_t hash, absl::string_view bytes) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

std::string Seal(std::initializer_list<absl::string_view> scope, absl::string_view position) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const absl::string_view part : scope)
    hash = Hash(hash, absl::StrCat(part.size(), ":", part));
  hash = Hash(hash, position);
  std::string seal(kSealBytes, '\0');
  for (char& c : seal) {
    c = static_cast<char>(hash & 0xFF);
    hash >>= 8;
  }
  return seal;
}

}  // namespace

std::string MakePageToken(std::initializer_list<absl::string_view> scope,
                          absl::string_view position) {
  return absl::WebSafeBase64Escape(absl::StrCat(Seal(scope, position), position));
}

Problem ReadPageToken(std::initializer_list<absl::string_view> scope, absl::string_view token,
                      std::string* position) {
  std::string bytes;
  if (absl::WebSafeBase64Unescape(token, &bytes) && bytes.size() >= kSealBytes) {
    *position = bytes.substr(kSealBytes);
    if (bytes.compare(0, kSealBytes, Seal(scope, *position)) == 0) return {};
  }
  return InvalidField(
      "page_token",
      "not a token of this listing; pass next_page_token of the page before, and the same "
      "request otherwise");
}

Problem ReadPageSize(int page_size, int* size) {
  if (page_size < 0) {
    return InvalidField("page_size", absl::StrCat(page_size, "; 0 to ", INT32_MAX, " are allowed"));
  }
  *size = page_size == 0 ? kDefaultPageSize : std::min(page_size, kMaxPageSize);
  return {};
}

}  // namespace tcact::rpc
