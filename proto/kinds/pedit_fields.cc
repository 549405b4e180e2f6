#include "proto/kinds/pedit_fields.h"

#include "proto/kinds/words.h"

namespace tcact::kinds {
namespace {

using v1::Pedit;

constexpr uint32_t kU8 = 0xff;
constexpr uint32_t kU16 = 0xffff;

// Within a header in the order in which tc reads them, for the sake of abbreviations.
constexpr PeditField kFields[] = {
    {.header = "eth", .name = "type", .offset = 12, .length = 2, .retain = kU16},
    {.header = "eth", .name = "dst", .value = PeditValue::kMac, .offset = 0, .length = 6},
    {.header = "eth", .name = "src", .value = PeditValue::kMac, .offset = 6, .length = 6},

    {.header = "ip", .name = "src", .value = PeditValue::kIpv4, .offset = 12, .length = 4},
    {.header = "ip", .name = "dst", .value = PeditValue::kIpv4, .offset = 16, .length = 4},
    {.header = "ip", .name = "tos", .offset = 1, .length = 1, .retain = kU8},
    {.header = "ip",
     .name = "dsfield",
     .offset = 1,
     .length = 1,
     .retain = kU8,
     .abbreviated = true},
    {.header = "ip", .name = "ihl", .offset = 0, .length = 1, .retain = 0x0f},
    {.header = "ip", .name = "ttl", .offset = 8, .length = 1, .retain = kU8, .decrement = true},
    {.header = "ip", .name = "protocol", .offset = 9, .length = 1, .retain = kU8},
    {.header = "ip",
     .name = "precedence",
     .offset = 1,
     .length = 1,
     .retain = kU8,
     .abbreviated = true},
    {.header = "ip", .name = "nofrag", .offset = 6, .length = 1, .retain = 0x3f},
    {.header = "ip", .name = "firstfrag", .offset = 6, .length = 1, .retain = 0x1f},
    {.header = "ip", .name = "ce", .offset = 6, .length = 1, .retain = 0x80},
    {.header = "ip", .name = "df", .offset = 6, .length = 1, .retain = 0x40},
    {.header = "ip", .name = "mf", .offset = 6, .length = 1, .retain = 0x20},
    {.header = "ip",
     .name = "dport",
     .offset = 22,
     .length = 2,
     .retain = kU16,
     .basic_only = true},
    {.header = "ip",
     .name = "sport",
     .offset = 20,
     .length = 2,
     .retain = kU16,
     .basic_only = true},
    {.header = "ip",
     .name = "icmp_type",
     .offset = 20,
     .length = 1,
     .retain = kU8,
     .basic_only = true},
    // tc's own slip, kept: the code is the byte behind the type.
    {.header = "ip",
     .name = "icmp_code",
     .offset = 20,
     .length = 1,
     .retain = kU8,
     .basic_only = true},

    {.header = "ip6", .name = "src", .value = PeditValue::kIpv6, .offset = 8, .length = 16},
    {.header = "ip6", .name = "dst", .value = PeditValue::kIpv6, .offset = 24, .length = 16},
    {.header = "ip6", .name = "flow_lbl", .offset = 0, .length = 4, .retain = 0x0007ffff},
    {.header = "ip6", .name = "payload_len", .offset = 4, .length = 2, .retain = kU16},
    {.header = "ip6", .name = "nexthdr", .offset = 6, .length = 1, .retain = kU8},
    {.header = "ip6",
     .name = "hoplimit",
     .offset = 7,
     .length = 1,
     .retain = kU8,
     .decrement = true},
    {.header = "ip6",
     .name = "traffic_class",
     .offset = 1,
     .length = 1,
     .retain = kU8,
     .shifted = true},

    {.header = "tcp", .name = "sport", .offset = 0, .length = 2, .retain = kU16},
    {.header = "tcp", .name = "dport", .offset = 2, .length = 2, .retain = kU16},
    {.header = "tcp", .name = "flags", .offset = 13, .length = 1, .retain = kU8},

    {.header = "udp", .name = "sport", .offset = 0, .length = 2, .retain = kU16},
    {.header = "udp", .name = "dport", .offset = 2, .length = 2, .retain = kU16},
};

struct HeaderName {
  // As tc reads and as it prints it.
  absl::string_view word;
  absl::string_view printed;
  Pedit::Header header;
};

constexpr HeaderName kHeaders[] = {
    {"", "network", Pedit::HEADER_NETWORK}, {"eth", "eth", Pedit::HEADER_ETH},
    {"ip", "ipv4", Pedit::HEADER_IP4},      {"ip6", "ipv6", Pedit::HEADER_IP6},
    {"tcp", "tcp", Pedit::HEADER_TCP},      {"udp", "udp", Pedit::HEADER_UDP},
};

}  // namespace

const PeditField* FindPeditField(absl::string_view header, absl::string_view name, bool extended) {
  // Only the network header is reached without ex.
  if (!extended && header != "ip") return nullptr;
  for (const PeditField& field : kFields) {
    if (field.header != header || (extended && field.basic_only)) continue;
    if (field.name == name || (field.abbreviated && Abbreviates(name, field.name))) return &field;
  }
  return nullptr;
}

Pedit::Header PeditHeader(absl::string_view header, bool extended) {
  for (const HeaderName& known : kHeaders) {
    if (extended && known.word == header) return known.header;
  }
  return Pedit::HEADER_NETWORK;
}

absl::string_view PeditHeaderName(Pedit::Header header) {
  for (const HeaderName& known : kHeaders) {
    if (known.header == header) return known.printed;
  }
  return "unknown";
}

}  // namespace tcact::kinds
