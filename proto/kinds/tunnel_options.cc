#include "proto/kinds/tunnel_options.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace tcact::kinds {
namespace {

using v1::TunnelKey;

constexpr uint32_t kMaxClass = 0xffff;
constexpr uint32_t kMaxType = 0xff;
// The kernel takes 127; its head counts words in five bits.
constexpr size_t kMaxData = 124;
// Data comes in words; an option's head is one, too.
constexpr size_t kWord = 4;
constexpr size_t kMaxOptions = 255;
// Don't learn, policy applied, and the 16 bits of a group.
constexpr uint32_t kGbpBits = 0x48ffff;
constexpr uint32_t kHwidBits = 0x3f;

// As strtok: empty parts do not count.
std::vector<std::string> Parts(absl::string_view text, char separator) {
  return absl::StrSplit(text, separator, absl::SkipEmpty());
}

// CLASS:TYPE:DATA in hexadecimal. What is left out is for Normalize to miss.
bool ReadGeneve(absl::string_view text, TunnelKey::Geneve* option) {
  const std::vector<std::string> parts = Parts(text, ':');
  if (parts.size() > 3) return false;
  uint16_t option_class = 0;
  uint8_t type = 0;
  if (!parts.empty()) {
    if (!ParseU16(parts[0], 16, &option_class)) return false;
    option->set_option_class(option_class);
  }
  if (parts.size() > 1) {
    if (!ParseU8(parts[1], 16, &type)) return false;
    option->set_type(type);
  }
  if (parts.size() > 2) {
    // As tc: a last single digit is dropped.
    const absl::string_view digits = absl::string_view(parts[2]).substr(0, parts[2].size() / 2 * 2);
    if (!ParseHex(digits, option->mutable_data())) return false;
  }
  return true;
}

bool ReadGeneveList(absl::string_view text, TunnelKey* key) {
  for (const std::string& part : Parts(text, ',')) {
    if (!ReadGeneve(part, key->add_geneve())) return false;
  }
  return true;
}

// VERSION:INDEX:DIRECTION:HWID, of which a version needs only its own.
ParseError ReadErspan(absl::string_view text, TunnelKey::Erspan* option) {
  const std::vector<std::string> parts = Parts(text, ':');
  uint8_t version = 0;
  uint32_t index = 0;
  uint8_t direction = 0;
  uint8_t hwid = 0;
  if (parts.size() > 4 || (!parts.empty() && !ParseU8(parts[0], 0, &version)) ||
      (parts.size() > 1 && !ParseU32(parts[1], 0, &index)) ||
      (parts.size() > 2 && !ParseU8(parts[2], 0, &direction)) ||
      (parts.size() > 3 && !ParseU8(parts[3], 0, &hwid))) {
    return ParseError::Return("Illegal \"erspan_opts\"\n");
  }
  if (version == 1 && parts.size() < 2) {
    return ParseError::Return("Error: Missing tunnel key erspan option index.\n");
  }
  if (version == 2 && parts.size() < 4) {
    return ParseError::Return("Error: Missing tunnel key erspan option dir or hwid.\n");
  }
  option->set_version(version);
  option->set_index(index);
  option->set_direction(direction);
  option->set_hwid(hwid);
  return {};
}

// The kernel's word for data of a length that it does not take.
absl::string_view WrongLength(size_t size) {
  if (size == 0) return "Missing tunnel key geneve option class, type or data";
  if (size < kWord) return "Tunnel key geneve option data is less than 4 bytes long";
  if (size > kMaxData) return "Attribute failed policy validation";
  return "Tunnel key geneve option data is not a multiple of 4 bytes long";
}

RuleError Refused(std::string field, std::string text, absl::string_view kernel) {
  return {std::move(field), std::move(text), absl::StrCat("Error: ", kernel, ".")};
}

RuleError CheckGeneve(const TunnelKey& key) {
  size_t total = 0;
  for (int i = 0; i < key.geneve_size(); ++i) {
    const TunnelKey::Geneve& option = key.geneve(i);
    const size_t size = option.data().size();
    const auto field = [i](absl::string_view name) {
      return absl::StrCat("tunnel_key.geneve[", i, "].", name);
    };
    if (option.option_class() > kMaxClass) {
      return OutOfRange(field("option_class"), option.option_class(), 0, kMaxClass);
    }
    if (option.type() > kMaxType) return OutOfRange(field("type"), option.type(), 0, kMaxType);
    if (size < kWord || size % kWord != 0 || size > kMaxData) {
      return Refused(field("data"),
                     absl::StrCat(size, " bytes; a multiple of 4, 4 to ", kMaxData, " are allowed"),
                     WrongLength(size));
    }
    total += kWord + size;
    if (total > kMaxOptions) {
      return Refused("tunnel_key.geneve",
                     absl::StrCat(total, " bytes or more with 4 for each option; ", kMaxOptions,
                                  " are allowed"),
                     "Tunnel options exceeds max size");
    }
  }
  return {};
}

RuleError NormalizeErspan(TunnelKey::Erspan* option) {
  if (option->version() == 1) {
    option->clear_direction();
    option->clear_hwid();
  } else if (option->version() == 2) {
    option->clear_index();
    option->set_direction(option->direction() & 1);
    option->set_hwid(option->hwid() & kHwidBits);
  } else {
    RuleError error = OutOfRange("tunnel_key.erspan.version", option->version(), 1, 2);
    error.kernel_text = "Error: Tunnel key erspan option ver is incorrect.";
    return error;
  }
  return {};
}

}  // namespace

ParseError ParseTunnelOptions(Words* words, TunnelKey* key) {
  const bool geneve = words->Matches("geneve_opts");
  const bool vxlan = words->Matches("vxlan_opts");
  if (ParseError error = words->Advance()) return error;
  const absl::string_view word = words->Peek();
  // Of several, of whatever type, the kernel takes the last.
  key->clear_geneve();
  key->clear_vxlan();
  key->clear_erspan();
  if (geneve) {
    if (!ReadGeneveList(word, key)) return ParseError::Return("Illegal \"geneve_opts\"\n");
    if (key->geneve().empty()) return ParseError::Return("Error: Empty list of tunnel options.\n");
  } else if (vxlan) {
    uint32_t gbp = 0;
    if (!ParseU32(word, 0, &gbp)) return ParseError::Return("Illegal \"vxlan_opts\"\n");
    key->mutable_vxlan()->set_gbp(gbp);
  } else {
    return ReadErspan(word, key->mutable_erspan());
  }
  return {};
}

RuleError NormalizeTunnelOptions(TunnelKey* key) {
  const int types =
      (key->geneve().empty() ? 0 : 1) + (key->has_vxlan() ? 1 : 0) + (key->has_erspan() ? 1 : 0);
  if (types == 0) return {};
  if (types > 1) {
    return Refused(
        "tunnel_key",
        "options of more than one type; those of one of geneve, vxlan and erspan are allowed",
        "Duplicate type for tunnel options");
  }
  if (key->has_vxlan()) key->mutable_vxlan()->set_gbp(key->vxlan().gbp() & kGbpBits);
  if (key->has_erspan()) return NormalizeErspan(key->mutable_erspan());
  return CheckGeneve(*key);
}

void PrintTunnelOptions(const TunnelKey& key, Printer* out) {
  if (!key.geneve().empty()) {
    out->Line();
    std::vector<std::string> texts;
    out->OpenArray("geneve_opts");
    for (const TunnelKey::Geneve& option : key.geneve()) {
      texts.push_back(absl::StrFormat("%04x:%02x:%s", option.option_class(), option.type(),
                                      absl::BytesToHexString(option.data())));
      out->OpenObject();
      out->JsonUint("class", option.option_class());
      out->JsonUint("type", option.type());
      out->OpenArray("data");
      for (const char byte : option.data()) out->JsonUint("", static_cast<uint8_t>(byte));
      out->CloseArray();
      out->CloseObject();
    }
    out->CloseArray();
    out->TextFormat("\tgeneve_opts %s", absl::StrJoin(texts, ","));
  }
  if (key.has_vxlan()) {
    out->Line();
    out->OpenArray("vxlan_opts");
    out->OpenObject();
    out->Uint("gbp", "\tvxlan_opts %u", key.vxlan().gbp());
    out->CloseObject();
    out->CloseArray();
  }
  if (key.has_erspan()) {
    const TunnelKey::Erspan& option = key.erspan();
    out->Line();
    out->OpenArray("erspan_opts");
    out->OpenObject();
    out->Uint("ver", "\terspan_opts %u", option.version());
    out->Uint("index", ":%u", option.index());
    out->Uint("dir", ":%u", option.direction());
    out->Uint("hwid", ":%u", option.hwid());
    out->CloseObject();
    out->CloseArray();
  }
}

}  // namespace tcact::kinds
