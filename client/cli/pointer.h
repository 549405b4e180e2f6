// The line under an error that shows which word of a command is wrong.
//
// Thread safety: free functions without state.
#ifndef TCACT_CLIENT_CLI_POINTER_H_
#define TCACT_CLIENT_CLI_POINTER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/kinds/rule.h"
#include "proto/kinds/words.h"

namespace tcact::cli {

// Two lines: the command, and a caret under the word at `position`; behind the last word if the
// position is the number of words.
//
//   x.batch:12: actions add action gact drop index foo
//                                                  ^
//
// `place` stands before the command ("x.batch:12", or nothing). Of a long command only what
// surrounds the word is shown. Words with blanks are quoted as a batch file would have them.
std::string PointAt(const std::vector<std::string>& words, size_t position,
                    absl::string_view place);

// The same for the word that `error` is about; "" if that would say nothing: the error is a help
// text that was asked for, or it stands at the beginning, where nothing can be confused.
std::string PointAtError(const kinds::Words& words, const kinds::ParseError& error,
                         absl::string_view place);

// Where in words[begin, end) the value of the field stands that a rule is about, as far as a word
// is called like the field ("police.mtu": the word behind "mtu"); `end` if none is.
size_t FindField(const std::vector<std::string>& words, size_t begin, size_t end,
                 absl::string_view field);

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_POINTER_H_
