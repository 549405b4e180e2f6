#include "proto/kinds/words.h"

#include <cerrno>
#include <cstdlib>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace tcact::kinds {
namespace {

// As strtoull reads a whole word, sign and all. False on an empty word, on what is left over and
// beyond 64 bits.
bool ParseUnsigned(absl::string_view word, int base, uint64_t max, uint64_t* out) {
  const std::string text(word);
  char* end = nullptr;
  errno = 0;
  const uint64_t value = std::strtoull(text.c_str(), &end, base);
  if (end == text.c_str() || *end != '\0' || end != text.c_str() + text.size()) return false;
  if (errno == ERANGE || value > max) return false;
  *out = value;
  return true;
}

template <typename T>
bool ParseAs(absl::string_view word, int base, T* out) {
  uint64_t value = 0;
  if (!ParseUnsigned(word, base, std::numeric_limits<T>::max(), &value)) return false;
  *out = static_cast<T>(value);
  return true;
}

// -1 if it is no hexadecimal digit.
int HexDigit(char c) {
  if (absl::ascii_isdigit(static_cast<unsigned char>(c))) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

ParseError ParseError::Incomplete() {
  return Exit("Command line is not complete. Try option \"help\"\n");
}

ParseError ParseError::Missing(absl::string_view what) {
  return Exit(absl::StrCat("Error: argument \"", what, "\" is required\n"));
}

ParseError ParseError::Invalid(absl::string_view what, absl::string_view word) {
  return Exit(absl::StrCat("Error: argument \"", word, "\" is wrong: ", what, "\n"));
}

ParseError ParseError::Duplicate(absl::string_view what, absl::string_view word) {
  return Exit(
      absl::StrCat("Error: duplicate \"", what, "\": \"", word, "\" is the second value.\n"));
}

bool Abbreviates(absl::string_view word, absl::string_view full) {
  return !word.empty() && full.substr(0, word.size()) == word;
}

Words Words::Split(absl::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  bool quoted = false;
  for (const char c : text) {
    if (!quoted && absl::ascii_isspace(static_cast<unsigned char>(c))) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\'') {
      quoted = !quoted;
    } else {
      words.back().push_back(c);
    }
  }
  return Words(std::move(words));
}

ParseError Words::Advance() {
  if (left() <= 1) return ParseError::Incomplete();
  ++position_;
  return {};
}

bool ParseU8(absl::string_view word, int base, uint8_t* out) { return ParseAs(word, base, out); }
bool ParseU16(absl::string_view word, int base, uint16_t* out) { return ParseAs(word, base, out); }
bool ParseU32(absl::string_view word, int base, uint32_t* out) { return ParseAs(word, base, out); }
bool ParseU64(absl::string_view word, int base, uint64_t* out) { return ParseAs(word, base, out); }

bool ParseS64(absl::string_view word, int base, int64_t* out) {
  const std::string text(word);
  char* end = nullptr;
  errno = 0;
  const int64_t value = std::strtoll(text.c_str(), &end, base);
  if (end == text.c_str() || end != text.c_str() + text.size() || errno == ERANGE) return false;
  *out = value;
  return true;
}

bool ParseInt(absl::string_view word, int base, int* out) {
  int64_t value = 0;
  if (!ParseS64(word, base, &value)) return false;
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    return false;
  }
  *out = static_cast<int>(value);
  return true;
}

bool ParseHex(absl::string_view word, std::string* bytes) {
  if (word.size() % 2 != 0) return false;
  std::string result;
  result.reserve(word.size() / 2);
  for (size_t i = 0; i < word.size(); i += 2) {
    const int high = HexDigit(word[i]);
    const int low = HexDigit(word[i + 1]);
    if (high < 0 || low < 0) return false;
    result.push_back(static_cast<char>(high * 16 + low));
  }
  *bytes = std::move(result);
  return true;
}

}  // namespace tcact::kinds
