#include "proto/kinds/tail.h"

#include "absl/strings/str_cat.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {

ParseError ParseIndex(Words* words, absl::string_view kind, v1::Action* action, int base) {
  if (!words->Matches("index")) return {};
  if (ParseError error = words->Advance()) return error;
  uint32_t index = 0;
  if (!ParseU32(words->Peek(), base, &index)) {
    return ParseError::Return(absl::StrCat(kind, ": Illegal \"index\"\n"));
  }
  action->set_index(index);
  words->Skip();
  return {};
}

ParseError ParseVerdictAndIndex(Words* words, absl::string_view kind, v1::Verdict::Type otherwise,
                                v1::Verdict* verdict, v1::Action* action) {
  if (ParseError error = ParseVerdictOr(words, Numbers::kRefused, otherwise, verdict)) return error;
  return ParseIndex(words, kind, action);
}

void PrintCounts(const v1::Action& action, const PrintOptions& options, Printer* out) {
  out->Uint("index", "\t index %u", action.index());
  out->Uint("ref", " ref %u", action.refcnt());
  out->Uint("bind", " bind %u", action.bindcnt());
  if (options.stats) PrintTimes(action, out);
  out->Line();
}

}  // namespace tcact::kinds
