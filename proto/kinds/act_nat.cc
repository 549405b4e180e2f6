// nat: stateless translation of IPv4 addresses.
#include "absl/strings/str_cat.h"
#include "proto/kinds/addresses.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Nat;
using v1::Verdict;

constexpr uint32_t kMaxPrefix = 32;
constexpr absl::string_view kNoAddress("\0\0\0\0", kIpv4Bytes);

// Brings an address into normal form: always four bytes.
RuleError NormalizeAddress(absl::string_view field, std::string* address) {
  if (RuleError error = CheckBytes(field, *address, kIpv4Bytes, "an IPv4 address")) return error;
  if (address->empty()) *address = std::string(kNoAddress);
  return {};
}

class NatKind
    : public KindOf<Nat, v1::Action::kNatFieldNumber, &v1::Action::nat, &v1::Action::mutable_nat> {
 public:
  absl::string_view name() const override { return "nat"; }
  // Two addresses, three numbers and a verdict take 20 to 26 bytes.
  uint32_t inline_params() const override { return 24; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Nat* nat = mutable_params(action);
    // tc takes an index alone, and makes an action that changes nothing.
    while (!words->Is("index")) {
      if (words->Matches("help")) return ParseError::Exit(std::string(help()));
      const std::string first(words->Peek());
      bool sound = false;
      if (ParseError error = ParseTranslation(words, nat, &sound)) return error;
      if (!sound) {
        return ParseError::Return(absl::StrCat("Illegal nat construct (", first, ")\n", help()));
      }
      if (words->Matches("help")) return ParseError::Exit(std::string(help()));
      // As in tc the kind's name may stand here again, and what follows it takes the place of what
      // was before, but an egress stays one.
      if (!words->Matches(name())) break;
      if (ParseError error = words->Advance()) return error;
    }
    return ParseVerdictAndIndex(words, "Nat", Verdict::TYPE_PASS, nat->mutable_verdict(), action);
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Nat* nat = mutable_params(action);
    if (!Nat::Direction_IsValid(nat->direction())) {
      return OutOfRange("nat.direction", static_cast<int>(nat->direction()), 0,
                        static_cast<int>(Nat::Direction_MAX));
    }
    if (nat->direction() == Nat::DIRECTION_UNSPECIFIED) {
      nat->set_direction(Nat::DIRECTION_INGRESS);
    }
    if (nat->prefix_length() > kMaxPrefix) {
      return OutOfRange("nat.prefix_length", nat->prefix_length(), 0, kMaxPrefix);
    }
    if (RuleError error = NormalizeAddress("nat.old_address", nat->mutable_old_address())) {
      return error;
    }
    if (RuleError error = NormalizeAddress("nat.new_address", nat->mutable_new_address())) {
      return error;
    }
    return CheckVerdict("nat.verdict", context, Verdict::TYPE_PASS, nat->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return false; }

  // Here tc's JSON says "type" for the kind, and its text begins with a blank.
  void PrintHead(Printer* out) const override { out->String("type", " %s ", name()); }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Nat& nat = params(action);
    out->String("direction", "%s", nat.direction() == Nat::DIRECTION_EGRESS ? "egress" : "ingress");
    out->String("old_addr", " %s",
                absl::StrCat(FormatIp(nat.old_address()), "/", nat.prefix_length()));
    out->String("new_addr", " %s", FormatIp(nat.new_address()));
    PrintVerdict(" ", nat.verdict(), "", out);
    out->Line();
    PrintCounts(action, options, out);
  }

  absl::string_view help() const override {
    return "Usage: ... action nat DIRECTION OLD NEW [VERDICT] [index INDEX]\n"
           "Translates IPv4 addresses without keeping state.\n"
           "  DIRECTION  ingress (of the destination) | egress (of the source)\n"
           "  OLD        ADDRESS[/LENGTH], or any (all, default)\n"
           "  NEW        ADDRESS\n"
           "  VERDICT    pass, unless given; see gact\n"
           "  INDEX      0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"ingress 192.0.2.1 198.51.100.7",  "egress 10.0.0.0/8 198.51.100.0 pipe index 3",
            "ingress any 198.51.100.7 drop",   "egress default 198.51.100.7 jump 1",
            "egress 10.0.0.0/255.255.0.0 all", "index 9"};
  }

 private:
  // DIRECTION OLD NEW. *sound tells whether they are.
  static ParseError ParseTranslation(Words* words, Nat* nat, bool* sound) {
    *sound = false;
    if (words->Matches("egress")) {
      nat->set_direction(Nat::DIRECTION_EGRESS);
    } else if (!words->Matches("ingress")) {
      return {};
    } else if (nat->direction() == Nat::DIRECTION_UNSPECIFIED) {
      nat->set_direction(Nat::DIRECTION_INGRESS);
    }
    if (ParseError error = words->Advance()) return error;
    uint32_t bits = 0;
    if (!ParseIpPrefix(words->Peek(), IpFamily::kIpv4, nat->mutable_old_address(), &bits)) {
      return {};
    }
    nat->set_prefix_length(bits);
    if (ParseError error = words->Advance()) return error;
    // As tc: a network passes, its length is ignored.
    if (!ParseIpPrefix(words->Peek(), IpFamily::kIpv4, nat->mutable_new_address(), &bits)) {
      return {};
    }
    words->Skip();
    *sound = true;
    return {};
  }
};

TCACT_REGISTER_KIND(NatKind)

}  // namespace
}  // namespace tcact::kinds
