// Class ids, "MAJOR:MINOR", as tc reads and prints them.
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_CLASSID_H_
#define TCACT_PROTO_KINDS_CLASSID_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tcact::kinds {

// "1:10" (hexadecimal, 0 to ffff each, an empty one is 0), "root" (4294967295), "none" (0), or,
// without a colon, all 32 bits in hexadecimal. As in tc, further bits of that are dropped. False on
// anything else.
bool ParseClassId(absl::string_view word, uint32_t* id);

// "1:10", ":5", "1:", "root", "none".
std::string FormatClassId(uint32_t id);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_CLASSID_H_
