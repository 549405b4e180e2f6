// Verdicts (tc's control actions): words, rules, print. Every kind uses these.
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_VERDICT_H_
#define TCACT_PROTO_KINDS_VERDICT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/kinds/printer.h"
#include "proto/kinds/rule.h"
#include "proto/kinds/words.h"
#include "proto/tcact/v1/action.pb.h"

namespace tcact::kinds {

// Largest jump count and chain.
inline constexpr uint32_t kMaxVerdictValue = 0x0fffffff;

// Where numbers may stand for verdicts (0 is pass, 3 pipe, ...).
enum class Numbers { kRefused, kAllowed };

// A verdict's word, abbreviated as tc allows; its value (of jump and goto) is not read. False if it
// is none. A number that the kernel has no verdict for becomes a type that CheckVerdict refuses.
bool ReadVerdictWord(absl::string_view word, Numbers numbers, v1::Verdict* verdict);

// The verdict under the cursor and its value, and goes past them: "drop", "jump 2", "goto chain 7".
ParseError ParseVerdict(Words* words, Numbers numbers, v1::Verdict* verdict);

// One verdict or two with a slash: "drop", "drop/pass", "drop / goto chain 7". *second stays as it
// is if there is none. A value can only be given where blanks stand around the slash.
ParseError ParseVerdictPair(Words* words, Numbers numbers, v1::Verdict* first, v1::Verdict* second);

// An optional verdict: past it if there is one, else *verdict becomes `otherwise` and the cursor
// stays. For the kinds whose verdict may be left out.
ParseError ParseVerdictOr(Words* words, Numbers numbers, v1::Verdict::Type otherwise,
                          v1::Verdict* verdict);

// Brings *verdict into normal form (unspecified becomes `otherwise`; no value where none belongs)
// and checks it: a known type, a value up to kMaxVerdictValue, goto chain only in a filter. `field`
// is its path.
RuleError CheckVerdict(absl::string_view field, const RuleContext& context,
                       v1::Verdict::Type otherwise, v1::Verdict* verdict);

// The same for a verdict that the kernel calls a fallback: goto chain is refused everywhere.
RuleError CheckFallback(absl::string_view field, v1::Verdict::Type otherwise, v1::Verdict* verdict);

// Text: prefix, verdict, suffix. JSON: the object "control_action".
void PrintVerdict(absl::string_view prefix, const v1::Verdict& verdict, absl::string_view suffix,
                  Printer* out);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_VERDICT_H_
