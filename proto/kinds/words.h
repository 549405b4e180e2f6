// Words: the cursor over the words of one command, and how a command that cannot be read ends.
//
// tc ends a command in one of two ways, and users see the difference in the exit code and, above
// all, in batch files:
//   - it returns: the callers add what they were doing ("bad action parsing"), and a batch with
//     -force goes on;
//   - it exits on the spot, whatever else was to be done. A parser here does neither: it returns a
//     ParseError that says which of the two tc would do, and the text.
//
// Thread safety: Words is not thread-safe; the functions have no state.
#ifndef TCACT_PROTO_KINDS_WORDS_H_
#define TCACT_PROTO_KINDS_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace tcact::kinds {

struct [[nodiscard]] ParseError {
  enum class Then {
    // No error.
    kNone,
    // The caller goes on, as after any failed command.
    kReturn,
    // The process ends with `code`.
    kExit,
  };
  Then then = Then::kNone;
  // For stderr, line ends included. May be empty: some refusals of tc are silent.
  std::string text;
  // The exit code of the command, unless another command of a batch follows.
  int code = 255;

  explicit operator bool() const { return then != Then::kNone; }

  static ParseError Return(std::string text) { return {Then::kReturn, std::move(text)}; }
  static ParseError Exit(std::string text, int code = 255) {
    return {Then::kExit, std::move(text), code};
  }

  // A value is missing at the end of the words. Exits.
  static ParseError Incomplete();
  // `word` is no good as `what`. Exits.
  static ParseError Invalid(absl::string_view what, absl::string_view word);
  // `what` must be given. Exits.
  static ParseError Missing(absl::string_view what);
  // `what` was given before; `word` is its second value. Exits.
  static ParseError Duplicate(absl::string_view what, absl::string_view word);
};

// As tc's prefix matching: `word` is not empty and `full` starts with it.
bool Abbreviates(absl::string_view word, absl::string_view full);

class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {}
  // Splits at white space that is not between single quotes, which are dropped. For tests and
  // examples; a batch file has its own quoting.
  static Words Split(absl::string_view text);

  bool AtEnd() const { return position_ >= words_.size(); }
  // How many words are left.
  size_t left() const { return AtEnd() ? 0 : words_.size() - position_; }

  // The word under the cursor; "" at the end.
  absl::string_view Peek() const { return AtEnd() ? absl::string_view() : words_[position_]; }
  // The word under the cursor is exactly `word`; false at the end.
  bool Is(absl::string_view word) const { return !AtEnd() && words_[position_] == word; }
  // The word under the cursor abbreviates `full`; false at the end.
  bool Matches(absl::string_view full) const { return Abbreviates(Peek(), full); }

  // To the next word; stays at the end.
  void Skip() {
    if (!AtEnd()) ++position_;
  }
  // To the next word, which must be there: the step from a keyword to its value.
  ParseError Advance();

  size_t position() const { return position_; }
  // 0 to the number of words.
  void set_position(size_t position) { position_ = position; }

  // For a parser that goes back after an error: the word under the cursor is the one that was
  // wrong. The first mark stays.
  void MarkWrong() {
    if (!wrong_) wrong_ = position_;
  }
  // After an error: where the wrong word stands, or a missing one should (then it may be the number
  // of words).
  size_t wrong() const { return wrong_.value_or(position_); }

  const std::vector<std::string>& all() const { return words_; }

 private:
  std::vector<std::string> words_;
  size_t position_ = 0;
  std::optional<size_t> wrong_;
};

// Numbers as tc reads them: all of `word`, in `base` (0: by prefix, as in C). False if it is none
// or outside the type. As in tc, ParseU64 takes "-1" for the largest value.
bool ParseU8(absl::string_view word, int base, uint8_t* out);
bool ParseU16(absl::string_view word, int base, uint16_t* out);
bool ParseU32(absl::string_view word, int base, uint32_t* out);
bool ParseU64(absl::string_view word, int base, uint64_t* out);
bool ParseInt(absl::string_view word, int base, int* out);
bool ParseS64(absl::string_view word, int base, int64_t* out);

// Hexadecimal digits, an even number of them, to bytes. False on anything else.
bool ParseHex(absl::string_view word, std::string* bytes);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_WORDS_H_
