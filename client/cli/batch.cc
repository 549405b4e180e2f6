#include "client/cli/batch.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tcact::cli {
namespace {

constexpr absl::string_view kBlanks = " \t\r\n";

void CutComment(std::string* line) {
  const size_t hash = line->find('#');
  if (hash != std::string::npos) line->resize(hash);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitWords(absl::string_view line) {
  std::vector<std::string> words;
  size_t at = line.find_first_not_of(kBlanks);
  while (at != absl::string_view::npos) {
    if (words.size() == kMaxBatchWords) {
      return absl::InvalidArgumentError("Too many arguments to command");
    }
    size_t end = 0;
    if (line[at] == '\'' || line[at] == '"') {
      end = line.find(line[at], at + 1);
      if (end == absl::string_view::npos) {
        return absl::InvalidArgumentError("Unterminated quoted string");
      }
      words.emplace_back(line.substr(at + 1, end - at - 1));
      ++end;
    } else {
      end = line.find_first_of(kBlanks, at);
      words.emplace_back(line.substr(at, end == absl::string_view::npos ? end : end - at));
    }
    at = end >= line.size() ? absl::string_view::npos : line.find_first_not_of(kBlanks, end);
  }
  return words;
}

absl::StatusOr<std::vector<std::string>> BatchReader::Next() {
  std::string line;
  while (ReadLine(&line)) {
    absl::StatusOr<std::vector<std::string>> words = SplitWords(line);
    if (!words.ok() || !words->empty()) return words;
  }
  if (too_long_) {
    return absl::InvalidArgumentError(
        absl::StrCat("Line ", line_number_, " is longer than ", kMaxBatchLine, " bytes"));
  }
  return std::vector<std::string>();
}

bool BatchReader::ReadLine(std::string* line) {
  if (!ReadPhysicalLine(line)) return false;
  CutComment(line);
  for (size_t at = line->find("\\\n"); at != std::string::npos; at = line->find("\\\n", at)) {
    std::string more;
    if (!ReadPhysicalLine(&more)) {
      continuation_missing_ = !too_long_;
      return false;
    }
    CutComment(&more);
    line->resize(at);
    line->append(more);
    if (line->size() > kMaxBatchLine) {
      too_long_ = true;
      return false;
    }
  }
  return true;
}

bool BatchReader::ReadPhysicalLine(std::string* line) {
  line->clear();
  for (int c = in_->get(); c != std::istream::traits_type::eof(); c = in_->get()) {
    line->push_back(static_cast<char>(c));
    if (c == '\n') break;
    if (line->size() > kMaxBatchLine) {
      ++line_number_;
      too_long_ = true;
      return false;
    }
  }
  if (line->empty()) return false;
  ++line_number_;
  return true;
}

}  // namespace tcact::cli
