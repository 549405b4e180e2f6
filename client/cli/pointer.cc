#include "client/cli/pointer.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tcact::cli {
namespace {

// What is shown of a command: so much before the wrong word, and so much from it on.
constexpr size_t kBefore = 60;
constexpr size_t kBehind = 36;
constexpr absl::string_view kCut = "...";

// As a batch file would have it, without what would disturb a terminal.
std::string Shown(const std::string& word) {
  std::string text = word;
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  if (!text.empty() && text.find(' ') == std::string::npos) return text;
  const char* quote = absl::StrContains(text, "'") ? "\"" : "'";
  return absl::StrCat(quote, text, quote);
}

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// Columns of a UTF-8 text.
size_t Width(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

// `at`, or the next place where a character begins.
size_t CharacterAt(absl::string_view text, size_t at) {
  while (at < text.size() && !BeginsCharacter(text[at])) ++at;
  return std::min(at, text.size());
}

// The position of the word that the error's text names as a wrong value, if it stands just before
// the cursor: some parsers go past a value before they judge it.
size_t WrongWord(const kinds::Words& words, absl::string_view text) {
  const size_t at = std::min(words.wrong(), words.all().size());
  if (absl::StartsWith(text, "Command line is not complete")) return words.all().size();
  if (at == 0 || (at < words.all().size() &&
                  absl::StrContains(text, absl::StrCat("\"", words.all()[at], "\"")))) {
    return at;
  }
  const std::string wrong = absl::StrCat("argument \"", words.all()[at - 1], "\" is wrong");
  const std::string second = absl::StrCat(": \"", words.all()[at - 1], "\" is the second value");
  return absl::StrContains(text, wrong) || absl::StrContains(text, second) ? at - 1 : at;
}

}  // namespace

std::string PointAt(const std::vector<std::string>& words, size_t position,
                    absl::string_view place) {
  std::string line;
  size_t at = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) line += ' ';
    if (i == position) at = line.size();
    line += Shown(words[i]);
  }
  if (position >= words.size()) {
    line += ' ';
    at = line.size();
  }
  const bool cut = line.size() > kBefore + kBehind;
  if (const size_t end = CharacterAt(line, at + kBehind); cut && end < line.size()) {
    line.resize(end);
    line.append(kCut.data(), kCut.size());
  }
  if (cut && at > kBefore) {
    const size_t begin = CharacterAt(line, at - kBefore);
    line.replace(0, begin, kCut.data(), kCut.size());
    at -= begin - kCut.size();
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  const std::string head = place.empty() ? "  " : absl::StrCat("  ", place, ": ");
  const size_t column = Width(head) + Width(absl::string_view(line).substr(0, at)) +
                        (at > line.size() ? at - line.size() : 0);
  return absl::StrCat(head, line, "\n", std::string(column, ' '), "^\n");
}

std::string PointAtError(const kinds::Words& words, const kinds::ParseError& error,
                         absl::string_view place) {
  // The object and its command: the message names them.
  constexpr size_t kFirstToPoint = 2;
  const size_t position = WrongWord(words, error.text);
  if (error.text.empty() || position < kFirstToPoint) return "";
  const bool at_end = position >= words.all().size();
  if (!at_end && absl::StartsWith("help", words.all()[position])) return "";
  if (at_end && absl::StartsWith(error.text, "Usage")) return "";
  return PointAt(words.all(), position, place);
}

size_t FindField(const std::vector<std::string>& words, size_t begin, size_t end,
                 absl::string_view field) {
  const std::vector<absl::string_view> parts = absl::StrSplit(field, absl::ByAnyChar(".[]"));
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    for (size_t i = begin; i < end && !part->empty(); ++i) {
      if (words[i] != *part) continue;
      // The last part is the value's own name; one before it only names what it belongs to.
      return part == parts.rbegin() && i + 1 < end ? i + 1 : i;
    }
  }
  return end;
}

}  // namespace tcact::cli
