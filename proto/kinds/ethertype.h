// Ethertypes: what an Ethernet frame says it carries, as tc reads and prints it.
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_ETHERTYPE_H_
#define TCACT_PROTO_KINDS_ETHERTYPE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tcact::kinds {

inline constexpr uint16_t kEthertype8021Q = 0x8100;
inline constexpr uint16_t kEthertype8021Ad = 0x88a8;
inline constexpr uint16_t kEthertypeMplsUc = 0x8847;
inline constexpr uint16_t kEthertypeMplsMc = 0x8848;
inline constexpr uint16_t kEthertypeIfe = 0xed3e;
// What is less is no ethertype but the length of an 802.3 frame, or a number of the kernel's own.
inline constexpr uint16_t kMinEthertype = 0x0600;

// A name in any case ("ip", "IPv6", "802.1q", "mpls_uc") or a number of 16 bits ("0x86dd"), which
// need not have a name. False on anything else.
bool ParseEthertype(absl::string_view word, uint16_t* ethertype);

// The name; "[1234]" if it has none. ParseEthertype does not read the latter.
std::string FormatEthertype(uint16_t ethertype);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_ETHERTYPE_H_
