// What may follow on a command line: the words that the shell's completion offers.
//
// The shell asks the program (`tcact --complete WORD...`) each time, so that completion knows the
// kinds of this very binary and there is no second list to keep up.
//
// Thread safety: free functions without state.
#ifndef TCACT_CLIENT_CLI_COMPLETE_H_
#define TCACT_CLIENT_CLI_COMPLETE_H_

#include <string>
#include <vector>

#include "proto/kinds/kind.h"

namespace tcact::cli {

// The words that may stand behind `words` (those behind the program's name, without the one that is
// being typed). Empty where any text may stand: a number, a name, a file.
std::vector<std::string> Complete(const std::vector<std::string>& words);

// The keywords of a kind: the words that both its help and its examples have.
std::vector<std::string> KeywordsOf(const kinds::Kind& kind);

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_COMPLETE_H_
