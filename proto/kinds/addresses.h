// Addresses: Ethernet and IP addresses and names of devices, as tc reads and prints them.
//
// Addresses are held as bytes in network order: 6 (Ethernet), 4 (IPv4) or 16 (IPv6).
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_ADDRESSES_H_
#define TCACT_PROTO_KINDS_ADDRESSES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/kinds/rule.h"
#include "proto/kinds/words.h"

namespace tcact::kinds {

inline constexpr size_t kMacBytes = 6;
inline constexpr size_t kIpv4Bytes = 4;
inline constexpr size_t kIpv6Bytes = 16;

// "1:2:3:4:5:6" in hexadecimal, 0 to ff each. False on anything else, fewer or more bytes included.
bool ParseMac(absl::string_view word, std::string* bytes);
// "01:02:03:04:05:06". REQUIRES: 6 bytes.
std::string FormatMac(absl::string_view bytes);

// Which IP addresses a word may be.
enum class IpFamily { kAny, kIpv4, kIpv6 };

// "10.0.0.1", "fe80::1". As in tc, an IPv4 address may end early ("10.1" is 10.1.0.0) and its
// numbers may be hexadecimal or octal, as in C. False if it is no address of the family.
bool ParseIp(absl::string_view word, IpFamily family, std::string* bytes);

// An address that must be one. As tc: a word that is none exits with 1; "any", "all" and "default",
// which tc sends as no bytes and the kernel refuses, return.
ParseError RequireIp(absl::string_view word, IpFamily family, std::string* bytes);

// An address, or a network: "10.0.0.0/8", "10.0.0.0/255.0.0.0". *bits is the network's length; that
// of the whole address without a slash. "any", "all" and "default" are the network of all
// addresses: its zero address and 0 bits (IPv4 unless the family is kIpv6).
bool ParseIpPrefix(absl::string_view word, IpFamily family, std::string* bytes, uint32_t* bits);

// "10.0.0.1", "fe80::1". REQUIRES: 4 or 16 bytes.
std::string FormatIp(absl::string_view bytes);

// `bytes` of a field: empty or `size` long. `what` says what it is to be ("an Ethernet address").
RuleError CheckBytes(absl::string_view field, absl::string_view bytes, size_t size,
                     absl::string_view what);

// Whether the kernel could have a device of that name: 1 to 15 bytes, no white space, no slash, no
// colon, neither "." nor "..".
bool IsDeviceName(absl::string_view name);

// A device's name that is required: valid, and, where the server knows its devices, there.
RuleError CheckDevice(absl::string_view field, const RuleContext& context, absl::string_view name);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_ADDRESSES_H_
