// Ethernet addresses as tc's two lenient readers take them. ParseMac (addresses.h) is the strict
// one. What these accept beyond it is by accident of how tc reads, but scripts may depend on it.
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_MAC_WORDS_H_
#define TCACT_PROTO_KINDS_MAC_WORDS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tcact::kinds {

// Six hexadecimal numbers with a colon between them. Of a number beyond a byte the last two digits
// count, and what follows the sixth number does not: "00:11:22:33:44:55zz". False on fewer.
bool ParseMacLoosely(absl::string_view word, std::string* bytes);

// One to six hexadecimal numbers up to ff with a colon between them; missing bytes are 0, and what
// follows a number up to the next colon does not count ("2:0" is 02:00:00:00:00:00). With a dot it
// is an IPv4 address and two bytes of 0. False on anything else.
bool ParseLinkAddress(absl::string_view word, std::string* bytes);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_MAC_WORDS_H_
