// The tail that the words and the print of most kinds end in: verdict, index, counts.
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_TAIL_H_
#define TCACT_PROTO_KINDS_TAIL_H_

#include "absl/strings/string_view.h"
#include "proto/kinds/printer.h"
#include "proto/kinds/words.h"
#include "proto/tcact/v1/action.pb.h"

namespace tcact::kinds {

// "index 7" if it stands under the cursor ("index" may be abbreviated). `kind` names the action in
// errors; base 0 takes hexadecimal and octal numbers too.
ParseError ParseIndex(Words* words, absl::string_view kind, v1::Action* action, int base = 10);

// An optional verdict, by its word, then an optional index. Without a verdict *verdict is
// `otherwise`.
ParseError ParseVerdictAndIndex(Words* words, absl::string_view kind, v1::Verdict::Type otherwise,
                                v1::Verdict* verdict, v1::Action* action);

// Text: "\t index 7 ref 1 bind 0", with -s the times, and the line's end.
void PrintCounts(const v1::Action& action, const PrintOptions& options, Printer* out);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_TAIL_H_
