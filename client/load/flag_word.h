// One word of tcact-load's command line, "--ops-per-message=32", to the absl flag of that name.
//
// absl's own parser knows the flags of all commands at once, no hyphens, and ends the process on a
// bad value.
#ifndef TCACT_CLIENT_LOAD_FLAG_WORD_H_
#define TCACT_CLIENT_LOAD_FLAG_WORD_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tcact::load {

// Sets the flag. `allowed` are the names of the command's flags, with underscores. INVALID_ARGUMENT
// with the word and what is expected, and nothing is changed, if it is none of them or its value is
// none.
absl::Status SetFlag(absl::string_view word, const std::vector<std::string>& allowed);

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_FLAG_WORD_H_
