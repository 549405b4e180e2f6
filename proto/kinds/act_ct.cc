// ct: sends the packet through connection tracking.
#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/kinds/addresses.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Ct;
using v1::Verdict;

constexpr uint32_t kMaxU16 = 0xffff;
constexpr uint32_t kAllBits = 0xffffffff;
constexpr size_t kLabelBytes = 16;
// What tc reads a helper's words with.
constexpr size_t kMaxHelperWord = 31;
// The kernel's address families.
constexpr uint32_t kFamilyIpv4 = 2;
constexpr uint32_t kFamilyIpv6 = 10;
constexpr uint32_t kTcp = 6;
constexpr uint32_t kUdp = 17;

// A helper of the kernel: what it can follow, and whether it can when addresses are translated.
struct KnownHelper {
  absl::string_view name;
  bool ipv4;
  bool ipv6;
  bool tcp;
  bool udp;
  bool nat;
};

constexpr KnownHelper kHelpers[] = {
    {"amanda", true, true, false, true, true},       {"ftp", true, true, true, false, true},
    {"H.245", true, true, false, true, false},       {"irc", true, false, true, false, true},
    {"netbios-ns", true, false, false, true, false}, {"pptp", true, false, true, false, false},
    {"Q.931", true, true, true, false, false},       {"RAS", true, true, false, true, false},
    {"sane", true, true, true, false, false},        {"sip", true, true, true, true, true},
    {"snmp", true, false, false, true, false},       {"tftp", true, true, false, true, true},
};

bool ReadProtocol(absl::string_view word, uint32_t* number) {
  uint8_t value = 0;
  if (word == "tcp" || word == "TCP") {
    *number = kTcp;
  } else if (word == "udp" || word == "UDP") {
    *number = kUdp;
  } else if (ParseU8(word, 10, &value)) {
    *number = value;
  } else {
    return false;
  }
  return true;
}

// --- words ---

// A range "FIRST[-LAST]" into its halves; without a last they are equal.
std::pair<absl::string_view, absl::string_view> SplitRange(absl::string_view word) {
  const size_t dash = word.find('-');
  if (dash == absl::string_view::npos) return {word, word};
  return {word.substr(0, dash), word.substr(dash + 1)};
}

ParseError ParseAddresses(absl::string_view word, Ct::Nat* nat) {
  const auto [first, last] = SplitRange(word);
  if (ParseError error = RequireIp(first, IpFamily::kAny, nat->mutable_address_min())) return error;
  const bool ipv4 = nat->address_min().size() == kIpv4Bytes;
  return RequireIp(last, ipv4 ? IpFamily::kIpv4 : IpFamily::kIpv6, nat->mutable_address_max());
}

ParseError ParsePorts(absl::string_view word, Ct::Nat* nat) {
  const auto [first, last] = SplitRange(word);
  uint16_t low = 0;
  uint16_t high = 0;
  if (!ParseU16(first, 10, &low) || !ParseU16(last, 10, &high)) {
    return ParseError::Return("ct: Illegal nat port range\n");
  }
  nat->set_port_min(low);
  nat->set_port_max(high);
  return {};
}

// "7" or "7/0xff".
bool ReadMark(absl::string_view word, Ct* ct) {
  const size_t slash = word.find('/');
  uint32_t mark = 0;
  uint32_t mask = kAllBits;
  if (!ParseU32(word.substr(0, slash), 0, &mark)) return false;
  if (slash != absl::string_view::npos && !ParseU32(word.substr(slash + 1), 0, &mask)) return false;
  ct->set_mark(mark);
  ct->set_mark_mask(mask);
  return true;
}

// Hexadecimal digits, as tc: a last single one is dropped. Zeros follow them, up to the length.
ParseError ReadLabelPart(absl::string_view word, absl::string_view what, std::string* bytes) {
  if (word.size() > 2 * kLabelBytes) {
    return ParseError::Invalid(absl::StrCat(word.size(), " Max allowed size ", 2 * kLabelBytes),
                               word);
  }
  if (!ParseHex(word.substr(0, word.size() / 2 * 2), bytes)) {
    return ParseError::Invalid(absl::StrCat("ct: ", what, " must be a hex string\n"), word);
  }
  bytes->resize(kLabelBytes);
  return {};
}

ParseError ReadLabel(absl::string_view word, Ct* ct) {
  const size_t slash = word.find('/');
  if (ParseError error = ReadLabelPart(word.substr(0, slash), "labels", ct->mutable_label())) {
    return error;
  }
  if (slash == absl::string_view::npos) {
    ct->set_label_mask(std::string(kLabelBytes, '\xff'));
    return {};
  }
  return ReadLabelPart(word.substr(slash + 1), "labels mask", ct->mutable_label_mask());
}

// FAMILY-PROTOCOL-NAME.
bool ReadHelper(absl::string_view word, Ct::Helper* helper) {
  if (word.size() > kMaxHelperWord) return false;
  const std::vector<std::string> parts = absl::StrSplit(word, '-');
  if (parts.size() < 3 || parts[0].empty() || parts[1].empty() || parts[2].empty()) return false;
  if (parts[0] == "ipv4") {
    helper->set_family(kFamilyIpv4);
  } else if (parts[0] == "ipv6") {
    helper->set_family(kFamilyIpv6);
  } else {
    return false;
  }
  uint32_t protocol = 0;
  if (!ReadProtocol(parts[1], &protocol)) return false;
  helper->set_protocol(protocol);
  helper->set_name(parts[2]);
  return true;
}

// --- rules ---

// As the kernel: absent without a mask; the mask of all bits is the default and not kept.
void NormalizeMark(Ct* ct) {
  if (!ct->has_mark() || (ct->has_mark_mask() && ct->mark_mask() == 0)) {
    ct->clear_mark();
    ct->clear_mark_mask();
  } else if (ct->mark_mask() == kAllBits) {
    ct->clear_mark_mask();
  }
}

// As the kernel: zeros fill up to the length; without bits to set there is no label. The mask of
// all bits is the default and not kept.
RuleError NormalizeLabel(Ct* ct) {
  if (ct->label().size() > kLabelBytes) {
    return OutOfRange("ct.label", absl::StrCat(ct->label().size(), " bytes"), 0, kLabelBytes);
  }
  if (ct->label_mask().size() > kLabelBytes) {
    return OutOfRange("ct.label_mask", absl::StrCat(ct->label_mask().size(), " bytes"), 0,
                      kLabelBytes);
  }
  if (ct->label().empty()) {
    ct->clear_label_mask();
    return {};
  }
  ct->mutable_label()->resize(kLabelBytes);
  if (ct->label_mask().empty()) return {};
  ct->mutable_label_mask()->resize(kLabelBytes);
  if (ct->label_mask().find_first_not_of('\0') == std::string::npos) {
    ct->clear_label();
    ct->clear_label_mask();
  } else if (ct->label_mask().find_first_not_of('\xff') == std::string::npos) {
    ct->clear_label_mask();
  }
  return {};
}

RuleError NormalizeNat(Ct* ct) {
  if (!ct->has_nat()) return {};
  Ct::Nat* nat = ct->mutable_nat();
  if (!Ct::Nat::Type_IsValid(nat->type())) {
    return OutOfRange("ct.nat.type", static_cast<int>(nat->type()), 0,
                      static_cast<int>(Ct::Nat::Type_MAX));
  }
  if (nat->type() == Ct::Nat::TYPE_UNSPECIFIED) {
    nat->Clear();
    if (ct->commit()) return {"ct.nat.type", "0; with commit, 1 (source) or 2 (destination)", {}};
    return {};
  }
  if (!ct->commit()) return {"ct.commit", "false; required to translate", {}};
  if (nat->address_max().empty()) nat->set_address_max(nat->address_min());
  const size_t size = nat->address_min().size();
  if (size != nat->address_max().size() ||
      (size != 0 && size != kIpv4Bytes && size != kIpv6Bytes)) {
    return {"ct.nat.address_min",
            absl::StrCat(size, " bytes, and address_max ", nat->address_max().size(),
                         "; both none, 4 (IPv4) or 16 (IPv6)"),
            {}};
  }
  if (!nat->has_port_min()) {
    nat->clear_port_max();
    return {};
  }
  if (!nat->has_port_max()) nat->set_port_max(nat->port_min());
  if (nat->port_min() > kMaxU16) return OutOfRange("ct.nat.port_min", nat->port_min(), 0, kMaxU16);
  if (nat->port_max() > kMaxU16) return OutOfRange("ct.nat.port_max", nat->port_max(), 0, kMaxU16);
  return {};
}

std::string NamesOfHelpers() {
  return absl::StrJoin(kHelpers, ", ", [](std::string* out, const KnownHelper& helper) {
    absl::StrAppend(out, helper.name);
  });
}

// A helper that the kernel has for the family and the protocol.
RuleError CheckHelper(const Ct& ct) {
  if (!ct.has_helper()) return {};
  const Ct::Helper& helper = ct.helper();
  const auto refused = [](absl::string_view field, std::string text) -> RuleError {
    return {absl::StrCat("ct.helper.", field), std::move(text),
            "Error: act_ct: Failed to add helper."};
  };
  const auto* known =
      std::find_if(std::begin(kHelpers), std::end(kHelpers),
                   [&](const KnownHelper& candidate) { return candidate.name == helper.name(); });
  if (known == std::end(kHelpers)) {
    return refused("name",
                   absl::StrCat("\"", absl::CHexEscape(helper.name().substr(0, kLabelBytes)),
                                "\" is no helper; ", NamesOfHelpers(), " are allowed"));
  }
  if (!(helper.family() == kFamilyIpv4 && known->ipv4) &&
      !(helper.family() == kFamilyIpv6 && known->ipv6)) {
    return refused("family", absl::StrCat(helper.family(), "; ", known->name, " has 2 (IPv4)",
                                          known->ipv6 ? " and 10 (IPv6)" : ""));
  }
  if (!(helper.protocol() == kTcp && known->tcp) && !(helper.protocol() == kUdp && known->udp)) {
    return refused("protocol", absl::StrCat(helper.protocol(), "; ", known->name, " has ",
                                            known->tcp && known->udp ? "6 (TCP) and 17 (UDP)"
                                            : known->tcp             ? "6 (TCP)"
                                                                     : "17 (UDP)"));
  }
  if (ct.has_nat() && !known->nat) {
    return refused("name", absl::StrCat("\"", known->name, "\"; not together with nat"));
  }
  return {};
}

// --- print ---

std::string FormatRange(absl::string_view first, absl::string_view last) {
  return first == last ? std::string(first) : absl::StrCat(first, "-", last);
}

std::string FormatNat(const Ct::Nat& nat) {
  if (nat.type() == Ct::Nat::TYPE_UNSPECIFIED) return "";
  std::string text = nat.type() == Ct::Nat::TYPE_SRC ? "src" : "dst";
  if (!nat.address_min().empty()) {
    absl::StrAppend(&text, " addr ",
                    FormatRange(FormatIp(nat.address_min()), FormatIp(nat.address_max())));
  }
  if (nat.has_port_min()) {
    absl::StrAppend(&text, " port ",
                    FormatRange(absl::StrCat(nat.port_min()), absl::StrCat(nat.port_max())));
  }
  return text;
}

class CtKind
    : public KindOf<Ct, v1::Action::kCtFieldNumber, &v1::Action::ct, &v1::Action::mutable_ct> {
 public:
  absl::string_view name() const override { return "ct"; }
  // Zone, mark and a verdict take 20 bytes; translations and labels more.
  uint32_t inline_params() const override { return 40; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    Ct* ct = mutable_params(action);
    while (!words->AtEnd()) {
      bool mine = false;
      if (ParseError error = ParseWord(words, action, &mine)) return error;
      if (!mine) break;
    }
    const bool translates = ct->nat().type() != Ct::Nat::TYPE_UNSPECIFIED;
    if (ct->clear() && (ct->commit() || ct->force() || ct->has_nat())) {
      return ParseError::Return("ct: clear can only be used alone\n");
    }
    if (ct->commit() && ct->has_nat() && !translates) {
      return ParseError::Return("ct: commit and nat must set src or dst\n");
    }
    if (!ct->commit() && translates) {
      return ParseError::Return("ct: src or dst is only valid if commit is set\n");
    }
    return ParseVerdictOr(words, Numbers::kRefused, Verdict::TYPE_PIPE, ct->mutable_verdict());
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Ct* ct = mutable_params(action);
    if (ct->clear()) {
      if (ct->commit() || ct->force() || ct->has_nat()) {
        return {"ct.clear", "true; not together with commit, force or nat", {}};
      }
      // As the kernel: the rest means nothing then.
      const Verdict verdict = ct->verdict();
      ct->Clear();
      ct->set_clear(true);
      *ct->mutable_verdict() = verdict;
    }
    if (ct->zone() > kMaxU16) return OutOfRange("ct.zone", ct->zone(), 0, kMaxU16);
    NormalizeMark(ct);
    if (RuleError error = NormalizeLabel(ct)) return error;
    if (RuleError error = NormalizeNat(ct)) return error;
    if (RuleError error = CheckHelper(*ct)) return error;
    return CheckVerdict("ct.verdict", context, Verdict::TYPE_PIPE, ct->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return true; }

  // Without the blank that the other kinds' have.
  void PrintHead(Printer* out) const override { out->String("kind", "%s", name()); }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Ct& ct = params(action);
    if (ct.commit()) out->String("action", " %s", ct.force() ? "commit force" : "commit");
    if (ct.clear()) out->String("action", " %s", "clear");
    if (ct.has_mark()) {
      out->Uint("mark", " mark %u", ct.mark());
      if (ct.has_mark_mask()) out->HexDigits("mark_mask", "/0x%x", ct.mark_mask());
    }
    if (!ct.clear()) out->Uint("zone", " zone %u", ct.zone());
    if (!ct.label().empty()) {
      std::string text = absl::BytesToHexString(ct.label());
      if (!ct.label_mask().empty()) {
        absl::StrAppend(&text, "/", absl::BytesToHexString(ct.label_mask()));
      }
      out->String("label", " label %s", text);
    }
    if (ct.has_helper()) {
      const Ct::Helper& helper = ct.helper();
      out->String("helper", " helper %s",
                  absl::StrCat(helper.family() == kFamilyIpv4 ? "ipv4" : "ipv6", "-",
                               helper.protocol() == kTcp ? "tcp" : "udp", "-", helper.name()));
    }
    if (ct.has_nat()) {
      const std::string nat = FormatNat(ct.nat());
      out->Text(nat.empty() ? " nat" : " nat ");
      out->String("nat", "%s", nat);
    }
    PrintVerdict(" ", ct.verdict(), "", out);
    out->Line();
    PrintCounts(action, options, out);
  }

  absl::string_view help() const override {
    return "Usage: ... action ct clear [index INDEX] [VERDICT]\n"
           "       ... action ct [commit [force]] [zone ZONE] [mark MARK[/MASK]]\n"
           "                     [label LABEL[/MASK]] [nat [src|dst addr IP[-IP] [port N[-N]]]]\n"
           "                     [helper FAMILY-PROTOCOL-NAME] [index INDEX] [VERDICT]\n"
           "Sends the packet through connection tracking, or takes it out (clear).\n"
           "  ZONE     0 (the default) to 65535\n"
           "  MARK     of the connection; only the bits of MASK change\n"
           "  LABEL    up to 16 hexadecimal bytes\n"
           "  nat      restores the connection's translation; src and dst, which need commit, set "
           "it\n"
           "  helper   of the kernel, such as ipv4-tcp-ftp\n"
           "  INDEX    0 (the lowest free one) to 4294967295; before the verdict\n"
           "  VERDICT  pipe, unless given, and last; see gact\n";
  }

  std::vector<std::string> examples() const override {
    return {"zone 65535",
            "clear",
            "commit force",
            "commit mark 0x42/0xf0 zone 5 drop",
            "mark 7 index 4",
            "commit label 0102030405060708090a0b0c0d0e0f10/ff",
            "label 123123",
            "nat index 3",
            "commit nat src addr 192.0.2.1-192.0.2.9 port 10-20 index 5",
            "commit nat dst addr 2001:db8::1 index 6 jump 2",
            "commit helper ipv6-tcp-ftp"};
  }

 private:
  // One keyword with its value; past them. Not mine: the cursor did not move.
  ParseError ParseWord(Words* words, v1::Action* action, bool* mine) const {
    Ct* ct = mutable_params(action);
    *mine = true;
    if (words->Matches("nat")) return ParseNat(words, ct);
    if (words->Matches("zone") || words->Matches("index") || words->Matches("mark") ||
        words->Matches("label")) {
      return ParseValue(words, action);
    }
    if (words->Matches("clear")) {
      ct->set_clear(true);
    } else if (words->Matches("commit")) {
      ct->set_commit(true);
    } else if (words->Matches("force")) {
      ct->set_force(true);
    } else if (words->Matches("help")) {
      return ParseError::Exit(std::string(help()));
    } else if (words->Matches("helper")) {
      return ParseValue(words, action);
    } else {
      *mine = false;
      return {};
    }
    words->Skip();
    return {};
  }

  // The keywords that have one value; past it.
  static ParseError ParseValue(Words* words, v1::Action* action) {
    Ct* ct = mutable_params(action);
    const std::string keyword(words->Peek());
    if (ParseError error = words->Advance()) return error;
    const absl::string_view word = words->Peek();
    if (Abbreviates(keyword, "zone")) {
      uint16_t zone = 0;
      if (!ParseU16(word, 0, &zone)) return ParseError::Return("ct: Illegal \"zone\"\n");
      ct->set_zone(zone);
    } else if (Abbreviates(keyword, "index")) {
      uint32_t index = 0;
      if (!ParseU32(word, 10, &index)) return ParseError::Return("ct: Illegal \"index\"\n");
      action->set_index(index);
    } else if (Abbreviates(keyword, "mark")) {
      if (!ReadMark(word, ct)) return ParseError::Return("ct: Illegal \"mark\"\n");
    } else if (Abbreviates(keyword, "label")) {
      if (ParseError error = ReadLabel(word, ct)) return error;
    } else if (!ReadHelper(word, ct->mutable_helper())) {
      return ParseError::Return("ct: Illegal \"helper\"\n");
    }
    words->Skip();
    return {};
  }

  // "nat" and what belongs to it; past it. As tc: a word must follow.
  ParseError ParseNat(Words* words, Ct* ct) const {
    Ct::Nat* nat = ct->mutable_nat();
    if (ParseError error = words->Advance()) return error;
    const bool source = words->Matches("src");
    if (!source && !words->Matches("dst")) return {};
    const Ct::Nat::Type type = source ? Ct::Nat::TYPE_SRC : Ct::Nat::TYPE_DST;
    if (nat->type() != Ct::Nat::TYPE_UNSPECIFIED && nat->type() != type) {
      return ParseError::Return("ct: src and dst nat can't be used together\n");
    }
    nat->set_type(type);
    if (ParseError error = words->Advance()) return error;
    if (!words->Matches("addr")) return ParseError::Exit(std::string(help()));
    if (ParseError error = words->Advance()) return error;
    if (ParseError error = ParseAddresses(words->Peek(), nat)) return error;
    if (ParseError error = words->Advance()) return error;
    if (!words->Matches("port")) return {};
    if (ParseError error = words->Advance()) return error;
    if (ParseError error = ParsePorts(words->Peek(), nat)) return error;
    words->Skip();
    return {};
  }
};

TCACT_REGISTER_KIND(CtKind)

}  // namespace
}  // namespace tcact::kinds
