// vlan: pushes, pops or changes a VLAN tag or an Ethernet header.
#include "absl/strings/str_cat.h"
#include "proto/kinds/addresses.h"
#include "proto/kinds/ethertype.h"
#include "proto/kinds/keyword_value.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/mac_words.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Verdict;
using v1::Vlan;

// 4095 is reserved.
constexpr uint32_t kMaxId = 4094;
constexpr uint32_t kMaxPriority = 7;
constexpr absl::string_view kInvalid = "RTNETLINK answers: Invalid argument";

struct OperationWord {
  absl::string_view text;
  Vlan::Operation operation;
};

// In the order in which tc tries them: "p" is pop.
constexpr OperationWord kOperations[] = {
    {"pop", Vlan::OPERATION_POP},           {"push", Vlan::OPERATION_PUSH},
    {"modify", Vlan::OPERATION_MODIFY},     {"pop_eth", Vlan::OPERATION_POP_ETH},
    {"push_eth", Vlan::OPERATION_PUSH_ETH},
};

absl::string_view NameOf(Vlan::Operation operation) {
  for (const OperationWord& word : kOperations) {
    if (word.operation == operation) return word.text;
  }
  return "unknown";
}

bool HasTag(const Vlan& vlan) {
  return vlan.operation() == Vlan::OPERATION_PUSH || vlan.operation() == Vlan::OPERATION_MODIFY;
}

bool HasHeader(const Vlan& vlan) { return vlan.operation() == Vlan::OPERATION_PUSH_ETH; }

bool IsTagProtocol(uint32_t protocol) {
  return protocol == kEthertype8021Q || protocol == kEthertype8021Ad;
}

bool Priority(absl::string_view word, uint8_t* out) {
  return ParseU8(word, 0, out) && *out <= kMaxPriority;
}

// How reading one keyword ended.
enum class Read { kDone, kNotMine };

// What a command said so far that its params do not tell.
struct Given {
  bool protocol = false;
};

// id, protocol and priority: a keyword and its value.
ParseError ReadTag(Words* words, Vlan* vlan, Given* given, Read* read) {
  const bool id = words->Matches("id");
  const bool protocol = !id && words->Matches("protocol");
  if (!id && !protocol && !words->Matches("priority")) {
    *read = Read::kNotMine;
    return {};
  }
  if (!HasTag(*vlan)) return ParseError::Invalid("only valid for push/modify", words->Peek());
  if (id) {
    uint16_t value = 0;
    if (ParseError error = ReadValue(words, "id is invalid", AnyBase16, &value)) return error;
    vlan->set_id(value);
  } else if (protocol) {
    uint16_t value = 0;
    if (ParseError error = ReadValue(words, "protocol is invalid", ParseEthertype, &value)) {
      return error;
    }
    vlan->set_protocol(value);
    given->protocol = true;
  } else {
    uint8_t value = 0;
    if (ParseError error = ReadValue(words, "prio is invalid", Priority, &value)) return error;
    vlan->set_priority(value);
  }
  return {};
}

// dst_mac and src_mac with their values.
ParseError ReadHeader(Words* words, Vlan* vlan, Read* read) {
  const bool dst = words->Matches("dst_mac");
  if (!dst && !words->Matches("src_mac")) {
    *read = Read::kNotMine;
    return {};
  }
  if (!HasHeader(*vlan)) return ParseError::Invalid("only valid for push_eth", words->Peek());
  return ReadValue(words, dst ? "dst_mac is invalid" : "src_mac is invalid", ParseLinkAddress,
                   dst ? vlan->mutable_dst_mac() : vlan->mutable_src_mac());
}

RuleError Missing(absl::string_view field, absl::string_view operation) {
  return {std::string(field), absl::StrCat("missing; required with ", operation),
          std::string(kInvalid)};
}

RuleError NormalizeTag(Vlan* vlan) {
  if (!HasTag(*vlan)) {
    vlan->clear_id();
    vlan->clear_protocol();
    vlan->clear_priority();
    return {};
  }
  if (!vlan->has_id()) return Missing("vlan.id", NameOf(vlan->operation()));
  if (vlan->id() > kMaxId) {
    RuleError error = OutOfRange("vlan.id", vlan->id(), 0, kMaxId);
    error.kernel_text = "RTNETLINK answers: Numerical result out of range";
    return error;
  }
  if (vlan->protocol() == 0) vlan->set_protocol(kEthertype8021Q);
  if (!IsTagProtocol(vlan->protocol())) {
    return {"vlan.protocol",
            absl::StrCat(vlan->protocol(), "; ", kEthertype8021Q, " (802.1Q) and ",
                         kEthertype8021Ad, " (802.1ad) are allowed"),
            {}};
  }
  if (vlan->priority() > kMaxPriority) {
    return OutOfRange("vlan.priority", vlan->priority(), 0, kMaxPriority);
  }
  if (vlan->operation() == Vlan::OPERATION_PUSH) vlan->set_priority(vlan->priority());
  return {};
}

RuleError NormalizeHeader(Vlan* vlan) {
  if (!HasHeader(*vlan)) {
    vlan->clear_dst_mac();
    vlan->clear_src_mac();
    return {};
  }
  if (vlan->dst_mac().empty()) return Missing("vlan.dst_mac", "push_eth");
  if (vlan->src_mac().empty()) return Missing("vlan.src_mac", "push_eth");
  constexpr absl::string_view kWhat = "an Ethernet address";
  if (RuleError error = CheckBytes("vlan.dst_mac", vlan->dst_mac(), kMacBytes, kWhat)) return error;
  return CheckBytes("vlan.src_mac", vlan->src_mac(), kMacBytes, kWhat);
}

class VlanKind : public KindOf<Vlan, v1::Action::kVlanFieldNumber, &v1::Action::vlan,
                               &v1::Action::mutable_vlan> {
 public:
  absl::string_view name() const override { return "vlan"; }
  // A tag with a verdict takes up to 17 bytes, a header 22.
  uint32_t inline_params() const override { return 24; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Vlan* vlan = mutable_params(action);
    Given given;
    while (!words->AtEnd()) {
      Read read = Read::kDone;
      if (ParseError error = ReadKeyword(words, vlan, &given, &read)) return error;
      if (read == Read::kNotMine) break;
    }
    if (ParseError error =
            ParseVerdictOr(words, Numbers::kRefused, Verdict::TYPE_PIPE, vlan->mutable_verdict())) {
      return error;
    }
    if (ParseError error = ParseIndex(words, name(), action)) return error;
    return CheckTogether(*vlan, given);
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Vlan* vlan = mutable_params(action);
    if (vlan->operation() == Vlan::OPERATION_UNSPECIFIED ||
        !Vlan::Operation_IsValid(vlan->operation())) {
      RuleError error = OutOfRange("vlan.operation", static_cast<int>(vlan->operation()), 1,
                                   static_cast<int>(Vlan::Operation_MAX));
      error.kernel_text = std::string(kInvalid);
      return error;
    }
    if (RuleError error = NormalizeTag(vlan)) return error;
    if (RuleError error = NormalizeHeader(vlan)) return error;
    return CheckVerdict("vlan.verdict", context, Verdict::TYPE_PIPE, vlan->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return true; }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Vlan& vlan = params(action);
    out->String("vlan_action", " %s", NameOf(vlan.operation()));
    if (HasTag(vlan)) {
      out->Uint("id", " id %u", vlan.id());
      out->String("protocol", " protocol %s",
                  FormatEthertype(static_cast<uint16_t>(vlan.protocol())));
      if (vlan.has_priority()) out->Uint("priority", " priority %u", vlan.priority());
    }
    if (HasHeader(vlan)) {
      out->String("dst_mac", " dst_mac %s", FormatMac(vlan.dst_mac()));
      out->String("src_mac", " src_mac %s", FormatMac(vlan.src_mac()));
    }
    PrintVerdict(" ", vlan.verdict(), "", out);
    out->Line();
    out->Uint("index", "\t index %u", action.index());
    out->Uint("ref", " ref %u", action.refcnt());
    out->Uint("bind", " bind %u", action.bindcnt());
    if (options.stats) PrintTimes(action, out);
    out->Line();
  }

  absl::string_view help() const override {
    return "Usage: ... action vlan pop [VERDICT] [index INDEX]\n"
           "       ... action vlan push TAG [VERDICT] [index INDEX]\n"
           "       ... action vlan modify TAG [VERDICT] [index INDEX]\n"
           "       ... action vlan pop_eth [VERDICT] [index INDEX]\n"
           "       ... action vlan push_eth dst_mac MAC src_mac MAC [VERDICT] [index INDEX]\n"
           "Takes a packet's outer VLAN tag away, puts one on or changes it; or the same with its\n"
           "Ethernet header.\n"
           "  TAG      id ID [protocol PROTOCOL] [priority PRIORITY]\n"
           "  ID       0 to 4094\n"
           "  PROTOCOL 802.1Q (the default) | 802.1ad, or the number\n"
           "  PRIORITY 0 to 7; by default 0 for push, and what it was for modify\n"
           "  MAC      02:00:00:00:00:01\n"
           "  VERDICT  pipe (the default) | pass (ok) | drop (shot) | reclassify | continue | "
           "trap |\n"
           "           jump COUNT | goto chain CHAIN\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"pop",
            "pop drop index 7",
            "push id 123",
            "push id 4094 protocol 802.1ad priority 7 pass index 1",
            "push id 0x7b protocol 0x8100 continue",
            "modify id 0 priority 0 jump 2",
            "modify protocol 802.1Q id 500 goto chain 7",
            "pop_eth trap index 4294967295",
            "push_eth dst_mac 02:00:00:00:00:02 src_mac 02:00:00:00:00:01 reclassify"};
  }

 private:
  // One keyword with its value. Its order is tc's, for the sake of abbreviations.
  ParseError ReadKeyword(Words* words, Vlan* vlan, Given* given, Read* read) const {
    for (const OperationWord& word : kOperations) {
      if (!words->Matches(word.text)) continue;
      if (vlan->operation() != Vlan::OPERATION_UNSPECIFIED) {
        return ParseError::Return(absl::StrCat("unexpected \"", words->Peek(),
                                               "\" - action already specified\n", help()));
      }
      vlan->set_operation(word.operation);
      words->Skip();
      return {};
    }
    if (ParseError error = ReadTag(words, vlan, given, read)) return error;
    if (*read == Read::kDone) return {};
    *read = Read::kDone;
    if (ParseError error = ReadHeader(words, vlan, read)) return error;
    if (*read == Read::kNotMine && words->Matches("help")) {
      return ParseError::Exit(std::string(help()));
    }
    return {};
  }

  // What tc itself refuses once all words are read. A command without an operation it leaves to
  // the kernel.
  ParseError CheckTogether(const Vlan& vlan, const Given& given) const {
    absl::string_view missing;
    if (HasTag(vlan) && !vlan.has_id()) {
      missing = "id";
    } else if (HasHeader(vlan) && vlan.dst_mac().empty()) {
      missing = "dst_mac";
    } else if (HasHeader(vlan) && vlan.src_mac().empty()) {
      missing = "src_mac";
    }
    if (!missing.empty()) {
      return ParseError::Return(
          absl::StrCat(missing, " needs to be set for ", NameOf(vlan.operation()), "\n", help()));
    }
    if (given.protocol && !IsTagProtocol(vlan.protocol())) {
      return ParseError::Return(absl::StrCat("protocol not supported\n", help()));
    }
    return {};
  }
};

TCACT_REGISTER_KIND(VlanKind)

}  // namespace
}  // namespace tcact::kinds
