// The headers' fields that kind pedit knows by name.
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_PEDIT_FIELDS_H_
#define TCACT_PROTO_KINDS_PEDIT_FIELDS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/tcact/v1/kinds.pb.h"

namespace tcact::kinds {

// How a value is written.
enum class PeditValue { kNumber, kMac, kIpv4, kIpv6 };

struct PeditField {
  // "ip", "eth", ... as tc names headers, and the field's name.
  absl::string_view header;
  absl::string_view name;
  PeditValue value = PeditValue::kNumber;
  // Bytes from the header's start, and length in bytes.
  int offset = 0;
  int length = 0;
  // The bits of a field of 1, 2 or 4 bytes that a command changes, unless it says otherwise.
  uint32_t retain = 0xffffffff;
  // The name may be abbreviated.
  bool abbreviated = false;
  // Known without `ex` only: it counts on an IPv4 header without options.
  bool basic_only = false;
  // `decrement` is for this field too.
  bool decrement = false;
  // Four bits that belong to the byte before: the whole is shifted.
  bool shifted = false;
};

// Null if the header has no such field, or not in this mode. `extended`: with "pedit ex".
const PeditField* FindPeditField(absl::string_view header, absl::string_view name, bool extended);

// What keys of that header count from. Without `extended` it is always the network header.
v1::Pedit::Header PeditHeader(absl::string_view header, bool extended);

// As tc prints it: "ipv4", "network".
absl::string_view PeditHeaderName(v1::Pedit::Header header);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_PEDIT_FIELDS_H_
