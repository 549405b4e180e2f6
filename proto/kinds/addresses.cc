#include "proto/kinds/addresses.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/kinds/words.h"

namespace tcact::kinds {
namespace {

constexpr size_t kMaxDeviceName = 15;

bool ParseIpv4(absl::string_view word, std::string* bytes) {
  const std::vector<absl::string_view> parts = absl::StrSplit(word, '.');
  if (parts.size() > kIpv4Bytes) return false;
  std::string result(kIpv4Bytes, '\0');
  for (size_t i = 0; i < parts.size(); ++i) {
    uint8_t value = 0;
    if (!ParseU8(parts[i], 0, &value)) return false;
    result[i] = static_cast<char>(value);
  }
  *bytes = std::move(result);
  return true;
}

bool ParseIpv6(absl::string_view word, std::string* bytes) {
  std::array<char, kIpv6Bytes> address{};
  if (inet_pton(AF_INET6, std::string(word).c_str(), address.data()) != 1) return false;
  bytes->assign(address.data(), address.size());
  return true;
}

// The words for the network of all addresses.
bool IsAnyAddress(absl::string_view word) {
  return word == "any" || word == "all" || word == "default";
}

// How many bits the netmask begins with; false if others are set.
bool BitsOfNetmask(absl::string_view mask, uint32_t* bits) {
  *bits = 0;
  bool ended = false;
  for (const char byte : mask) {
    for (int bit = 7; bit >= 0; --bit) {
      const bool set = (static_cast<uint8_t>(byte) >> bit & 1) != 0;
      if (set && ended) return false;
      ended = ended || !set;
      *bits += set ? 1 : 0;
    }
  }
  return true;
}

// What stands behind the slash: a number of bits, or a netmask.
bool ParseBits(absl::string_view word, size_t address_bytes, uint32_t* bits) {
  if (ParseU32(word, 0, bits)) return *bits <= 8 * address_bytes;
  std::string mask;
  return address_bytes == kIpv4Bytes && ParseIpv4(word, &mask) && BitsOfNetmask(mask, bits);
}

}  // namespace

bool ParseMac(absl::string_view word, std::string* bytes) {
  const std::vector<absl::string_view> parts = absl::StrSplit(word, ':');
  if (parts.size() != kMacBytes) return false;
  std::string result;
  for (const absl::string_view part : parts) {
    uint8_t value = 0;
    if (!ParseU8(part, 16, &value)) return false;
    result.push_back(static_cast<char>(value));
  }
  *bytes = std::move(result);
  return true;
}

std::string FormatMac(absl::string_view bytes) {
  return absl::StrJoin(bytes, ":", [](std::string* out, char byte) {
    absl::StrAppend(out, absl::Hex(static_cast<uint8_t>(byte), absl::kZeroPad2));
  });
}

bool ParseIp(absl::string_view word, IpFamily family, std::string* bytes) {
  const bool ipv6 = word.find(':') != absl::string_view::npos;
  if (ipv6) return family != IpFamily::kIpv4 && ParseIpv6(word, bytes);
  return family != IpFamily::kIpv6 && ParseIpv4(word, bytes);
}

ParseError RequireIp(absl::string_view word, IpFamily family, std::string* bytes) {
  if (ParseIp(word, family, bytes)) return {};
  if (IsAnyAddress(word)) {
    return ParseError::Return(absl::StrCat("Error: \"", word, "\" is no address of a host.\n"));
  }
  const absl::string_view expected = family == IpFamily::kIpv4   ? "inet"
                                     : family == IpFamily::kIpv6 ? "inet6"
                                                                 : "any valid";
  return ParseError::Exit(
      absl::StrCat("Error: ", expected, " address is expected rather than \"", word, "\".\n"), 1);
}

bool ParseIpPrefix(absl::string_view word, IpFamily family, std::string* bytes, uint32_t* bits) {
  if (IsAnyAddress(word)) {
    bytes->assign(family == IpFamily::kIpv6 ? kIpv6Bytes : kIpv4Bytes, '\0');
    *bits = 0;
    return true;
  }
  const size_t slash = word.find('/');
  if (!ParseIp(word.substr(0, slash), family, bytes)) return false;
  if (slash == absl::string_view::npos) {
    *bits = static_cast<uint32_t>(8 * bytes->size());
    return true;
  }
  return ParseBits(word.substr(slash + 1), bytes->size(), bits);
}

std::string FormatIp(absl::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(bytes.size() == kIpv4Bytes ? AF_INET : AF_INET6, bytes.data(), text.data(),
            text.size());
  return text.data();
}

RuleError CheckBytes(absl::string_view field, absl::string_view bytes, size_t size,
                     absl::string_view what) {
  if (bytes.empty() || bytes.size() == size) return {};
  return {std::string(field), absl::StrCat(bytes.size(), " bytes; ", what, " has ", size), {}};
}

bool IsDeviceName(absl::string_view name) {
  if (name.empty() || name.size() > kMaxDeviceName || name == "." || name == "..") return false;
  return std::none_of(name.begin(), name.end(), [](char c) {
    return c == '/' || c == ':' || c == '\0' || absl::ascii_isspace(static_cast<unsigned char>(c));
  });
}

RuleError CheckDevice(absl::string_view field, const RuleContext& context, absl::string_view name) {
  if (!IsDeviceName(name)) {
    return {std::string(field),
            absl::StrCat("\"", absl::CHexEscape(name), "\"; a device's name has 1 to ",
                         kMaxDeviceName, " bytes, no white space, slash or colon"),
            {}};
  }
  if (context.devices != nullptr && !context.devices->Has(name)) {
    const std::string text = absl::StrCat("Cannot find device \"", name, "\"");
    return {std::string(field), text, text, /*no_device=*/true};
  }
  return {};
}

}  // namespace tcact::kinds
