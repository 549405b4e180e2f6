// Batch files: lines of commands, read as tc reads them.
//
// A # starts a comment anywhere in a line. A backslash at the end continues a line on the next.
// Words are parted by blanks; one that begins with ' or " reaches to the next such mark.
//
// Thread safety: not thread-safe.
#ifndef TCACT_CLIENT_CLI_BATCH_H_
#define TCACT_CLIENT_CLI_BATCH_H_

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tcact::cli {

// Words of one command.
inline constexpr size_t kMaxBatchWords = 510;
// Bytes of one command, continuations included: so that a file without line ends does not fill the
// memory.
inline constexpr size_t kMaxBatchLine = 1 << 20;

class BatchReader {
 public:
  // Reads from *in, which must outlive this.
  explicit BatchReader(std::istream* in) : in_(in) {}

  // The next command's words; none at all at the end. Lines without words are passed over.
  // INVALID_ARGUMENT with a text for the user on a line that cannot be read: nothing more can be.
  absl::StatusOr<std::vector<std::string>> Next();

  // Of the line that Next read last (of several, the last one); from 1.
  size_t line_number() const { return line_number_; }
  // The file ended where a continuation was due: the command was dropped.
  bool continuation_missing() const { return continuation_missing_; }

 private:
  // A line with its continuations, without comments. False at the end.
  bool ReadLine(std::string* line);
  // One line of the file, with its line end. False at the end.
  bool ReadPhysicalLine(std::string* line);

  std::istream* const in_;
  size_t line_number_ = 0;
  bool continuation_missing_ = false;
  bool too_long_ = false;
};

// INVALID_ARGUMENT on a quotation that does not end, and on too many words.
absl::StatusOr<std::vector<std::string>> SplitWords(absl::string_view line);

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_BATCH_H_
