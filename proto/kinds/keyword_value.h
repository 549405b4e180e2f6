// The value after a keyword, as most kinds read it.
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_KEYWORD_VALUE_H_
#define TCACT_PROTO_KINDS_KEYWORD_VALUE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/kinds/words.h"

namespace tcact::kinds {

// The cursor stands on a keyword; `parse`, a bool(string_view, T*), reads the word after it into
// *out, and the cursor goes behind that. If it cannot, `wrong` says in the error what is wrong.
template <typename T, typename Parse>
ParseError ReadValue(Words* words, absl::string_view wrong, Parse parse, T* out) {
  if (ParseError error = words->Advance()) return error;
  if (!parse(words->Peek(), out)) return ParseError::Invalid(wrong, words->Peek());
  words->Skip();
  return {};
}

// Numbers in any base, by prefix as in C.
inline bool AnyBase8(absl::string_view word, uint8_t* out) { return ParseU8(word, 0, out); }
inline bool AnyBase16(absl::string_view word, uint16_t* out) { return ParseU16(word, 0, out); }
inline bool AnyBase32(absl::string_view word, uint32_t* out) { return ParseU32(word, 0, out); }

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_KEYWORD_VALUE_H_
