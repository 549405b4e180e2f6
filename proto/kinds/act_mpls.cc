// mpls: pushes, pops or changes an MPLS header.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/kinds/ethertype.h"
#include "proto/kinds/keyword_value.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Mpls;
using v1::Verdict;

constexpr uint32_t kMaxLabel = 0xfffff;
// "Implicit null": a label that routers agree on but no packet carries.
constexpr uint32_t kImplicitNull = 3;
constexpr uint32_t kMaxTc = 7;
constexpr uint32_t kMaxTtl = 255;
constexpr uint32_t kMaxBos = 1;
constexpr uint32_t kMaxU16 = 0xffff;

struct OperationWord {
  absl::string_view text;
  Mpls::Operation operation;
};

// In the order in which tc tries them: "m" is modify.
constexpr OperationWord kOperations[] = {
    {"pop", Mpls::OPERATION_POP},         {"push", Mpls::OPERATION_PUSH},
    {"modify", Mpls::OPERATION_MODIFY},   {"mac_push", Mpls::OPERATION_MAC_PUSH},
    {"dec_ttl", Mpls::OPERATION_DEC_TTL},
};

absl::string_view NameOf(Mpls::Operation operation) {
  for (const OperationWord& word : kOperations) {
    if (word.operation == operation) return word.text;
  }
  return "unknown";
}

bool Pushes(Mpls::Operation operation) {
  return operation == Mpls::OPERATION_PUSH || operation == Mpls::OPERATION_MAC_PUSH;
}

// label, tc, ttl and bos may be given.
bool HasHeader(Mpls::Operation operation) {
  return Pushes(operation) || operation == Mpls::OPERATION_MODIFY;
}

bool HasProtocol(Mpls::Operation operation) {
  return Pushes(operation) || operation == Mpls::OPERATION_POP;
}

bool IsMpls(uint32_t protocol) {
  return protocol == kEthertypeMplsUc || protocol == kEthertypeMplsMc;
}

bool Label(absl::string_view word, uint32_t* out) {
  return ParseU32(word, 0, out) && *out <= kMaxLabel;
}
bool TrafficClass(absl::string_view word, uint8_t* out) {
  return ParseU8(word, 0, out) && *out <= kMaxTc;
}
bool Ttl(absl::string_view word, uint8_t* out) { return ParseU8(word, 0, out) && *out != 0; }
bool Bos(absl::string_view word, uint8_t* out) { return ParseU8(word, 0, out) && *out <= kMaxBos; }

// How reading one keyword ended.
enum class Read { kDone, kNotMine };

// A field of one byte.
template <typename Parse>
ParseError ReadByte(Words* words, absl::string_view wrong, Parse parse, Mpls* mpls,
                    void (Mpls::*set)(uint32_t)) {
  uint8_t value = 0;
  if (ParseError error = ReadValue(words, wrong, parse, &value)) return error;
  (mpls->*set)(value);
  return {};
}

// label, tc, ttl and bos: a keyword and its value.
ParseError ReadHeader(Words* words, Mpls* mpls, Read* read) {
  const bool label = words->Matches("label");
  const bool tc = words->Matches("tc");
  const bool ttl = words->Matches("ttl");
  if (!label && !tc && !ttl && !words->Matches("bos")) {
    *read = Read::kNotMine;
    return {};
  }
  if (!HasHeader(mpls->operation())) {
    return ParseError::Invalid("only valid for push, mac_push and modify", words->Peek());
  }
  if (label) {
    uint32_t value = 0;
    if (ParseError error = ReadValue(words, "label must be <=0xFFFFF", Label, &value)) return error;
    mpls->set_label(value);
    return {};
  }
  // "t" is tc.
  if (tc) return ReadByte(words, "tc field is 3 bits max", TrafficClass, mpls, &Mpls::set_tc);
  if (ttl) return ReadByte(words, "ttl must be >0 and <=255", Ttl, mpls, &Mpls::set_ttl);
  return ReadByte(words, "bos must be 0 or 1", Bos, mpls, &Mpls::set_bos);
}

ParseError ReadProtocol(Words* words, Mpls* mpls, Read* read) {
  if (!words->Matches("protocol")) {
    *read = Read::kNotMine;
    return {};
  }
  if (!HasProtocol(mpls->operation())) {
    return ParseError::Invalid("only valid for push, mac_push and pop", words->Peek());
  }
  uint16_t value = 0;
  if (ParseError error = ReadValue(words, "protocol is invalid", ParseEthertype, &value)) {
    return error;
  }
  mpls->set_protocol(value);
  return {};
}

ParseError Required(absl::string_view keyword) {
  return ParseError::Exit(absl::StrCat("Error: argument \"", keyword, "\" is required\n"));
}

// What tc itself refuses once all words are read.
ParseError CheckTogether(const Mpls& mpls) {
  if (mpls.operation() == Mpls::OPERATION_PUSH && !mpls.has_label()) return Required("label");
  if (Pushes(mpls.operation()) && mpls.protocol() != 0 && !IsMpls(mpls.protocol())) {
    return ParseError::Return(absl::StrFormat(
        "invalid %spush protocol \"0x%04x\" - use mpls_(uc|mc)\n",
        mpls.operation() == Mpls::OPERATION_MAC_PUSH ? "mac_" : "", mpls.protocol()));
  }
  if (mpls.operation() == Mpls::OPERATION_POP && mpls.protocol() == 0) return Required("protocol");
  return {};
}

// As the kernel refuses: `kernel` is its own text.
RuleError Refused(absl::string_view field, std::string text, absl::string_view kernel) {
  return {std::string(field), std::move(text), absl::StrCat("Error: act_mpls: ", kernel, ".")};
}

// The field of label, tc, ttl and bos that is there; empty if none is.
absl::string_view FieldOfHeader(const Mpls& mpls) {
  if (mpls.has_label()) return "mpls.label";
  if (mpls.has_tc()) return "mpls.tc";
  if (mpls.has_ttl()) return "mpls.ttl";
  if (mpls.has_bos()) return "mpls.bos";
  return "";
}

RuleError CheckRanges(const Mpls& mpls) {
  if (mpls.label() > kMaxLabel || mpls.label() == kImplicitNull) {
    return Refused(
        "mpls.label",
        absl::StrCat(mpls.label(), "; 0 to ", kMaxLabel, " are allowed, but not ", kImplicitNull),
        "MPLS label out of range");
  }
  if (mpls.tc() > kMaxTc) return OutOfRange("mpls.tc", mpls.tc(), 0, kMaxTc);
  if (mpls.has_ttl() && (mpls.ttl() == 0 || mpls.ttl() > kMaxTtl)) {
    return OutOfRange("mpls.ttl", mpls.ttl(), 1, kMaxTtl);
  }
  if (mpls.bos() > kMaxBos) return OutOfRange("mpls.bos", mpls.bos(), 0, kMaxBos);
  if (mpls.protocol() > kMaxU16) return OutOfRange("mpls.protocol", mpls.protocol(), 0, kMaxU16);
  return {};
}

RuleError NormalizePop(const Mpls& mpls) {
  if (mpls.protocol() == 0) {
    return Refused("mpls.protocol", "0; required with pop", "Protocol must be set for MPLS pop");
  }
  if (mpls.protocol() < kMinEthertype) {
    return Refused("mpls.protocol",
                   absl::StrCat(mpls.protocol(), "; ", kMinEthertype, " to ", kMaxU16,
                                " are allowed with pop"),
                   "Invalid protocol type for MPLS pop");
  }
  const absl::string_view field = FieldOfHeader(mpls);
  if (field.empty()) return {};
  return Refused(field, "given; not allowed with pop",
                 "Label, TTL, TC or BOS cannot be used with MPLS pop");
}

RuleError NormalizePush(Mpls* mpls) {
  if (!mpls->has_label()) {
    return Refused("mpls.label", absl::StrCat("missing; required with ", NameOf(mpls->operation())),
                   "Label is required for MPLS push");
  }
  if (mpls->protocol() == 0) mpls->set_protocol(kEthertypeMplsUc);
  if (!IsMpls(mpls->protocol())) {
    return Refused(
        "mpls.protocol",
        absl::StrCat(mpls->protocol(), "; ", kEthertypeMplsUc, " (mpls_uc) and ", kEthertypeMplsMc,
                     " (mpls_mc) are allowed with ", NameOf(mpls->operation())),
        "Protocol must be an MPLS type for MPLS push");
  }
  if (!mpls->has_ttl()) mpls->set_ttl(kMaxTtl);
  return {};
}

RuleError NormalizeModify(const Mpls& mpls) {
  if (mpls.protocol() == 0) return {};
  return Refused("mpls.protocol", absl::StrCat(mpls.protocol(), "; 0 with modify"),
                 "Protocol cannot be used with MPLS modify");
}

RuleError NormalizeDecTtl(const Mpls& mpls) {
  const absl::string_view field = mpls.protocol() != 0 ? "mpls.protocol" : FieldOfHeader(mpls);
  if (field.empty()) return {};
  return Refused(field, "given; not allowed with dec_ttl",
                 "Label, TTL, TC, BOS or protocol cannot be used with MPLS dec_ttl");
}

RuleError NormalizeOperation(Mpls* mpls) {
  switch (mpls->operation()) {
    case Mpls::OPERATION_POP:
      return NormalizePop(*mpls);
    case Mpls::OPERATION_PUSH:
    case Mpls::OPERATION_MAC_PUSH:
      return NormalizePush(mpls);
    case Mpls::OPERATION_DEC_TTL:
      return NormalizeDecTtl(*mpls);
    case Mpls::OPERATION_MODIFY:
      return NormalizeModify(*mpls);
    default:
      return Refused("mpls.operation",
                     absl::StrCat(static_cast<int>(mpls->operation()), "; 1 to ",
                                  static_cast<int>(Mpls::Operation_MAX), " are allowed"),
                     "Unknown MPLS action");
  }
}

class MplsKind : public KindOf<Mpls, v1::Action::kMplsFieldNumber, &v1::Action::mpls,
                               &v1::Action::mutable_mpls> {
 public:
  absl::string_view name() const override { return "mpls"; }
  // With all fields and a verdict up to 23 bytes.
  uint32_t inline_params() const override { return 24; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Mpls* mpls = mutable_params(action);
    // Only an index, spelled out: a bind to an action that exists.
    if (words->Is("index")) return ReadItsIndex(words, action);
    while (!words->AtEnd()) {
      Read read = Read::kDone;
      if (ParseError error = ReadKeyword(words, mpls, &read)) return error;
      if (read == Read::kNotMine) break;
    }
    if (mpls->operation() == Mpls::OPERATION_UNSPECIFIED) return ParseError::Incomplete();
    if (ParseError error =
            ParseVerdictOr(words, Numbers::kRefused, Verdict::TYPE_PIPE, mpls->mutable_verdict())) {
      return error;
    }
    if (words->Matches("index")) {
      if (ParseError error = ReadItsIndex(words, action)) return error;
    }
    return CheckTogether(*mpls);
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Mpls* mpls = mutable_params(action);
    if (RuleError error = CheckRanges(*mpls)) return error;
    if (RuleError error = NormalizeOperation(mpls)) return error;
    return CheckVerdict("mpls.verdict", context, Verdict::TYPE_PIPE, mpls->mutable_verdict());
  }

  // The kernel offers no other operation to hardware.
  bool Offloadable(const v1::Action& action) const override {
    switch (params(action).operation()) {
      case Mpls::OPERATION_POP:
      case Mpls::OPERATION_PUSH:
      case Mpls::OPERATION_MODIFY:
        return true;
      default:
        return false;
    }
  }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Mpls& mpls = params(action);
    out->String("mpls_action", " %s", NameOf(mpls.operation()));
    if (HasProtocol(mpls.operation())) {
      out->String("protocol", " protocol %s",
                  FormatEthertype(static_cast<uint16_t>(mpls.protocol())));
    }
    if (mpls.has_label()) out->Uint("label", " label %u", mpls.label());
    if (mpls.has_tc()) out->Uint("tc", " tc %u", mpls.tc());
    if (mpls.has_bos()) out->Uint("bos", " bos %u", mpls.bos());
    if (mpls.has_ttl()) out->Uint("ttl", " ttl %u", mpls.ttl());
    PrintVerdict(" ", mpls.verdict(), "", out);
    out->Line();
    out->Uint("index", "\t index %u", action.index());
    out->Uint("ref", " ref %u", action.refcnt());
    out->Uint("bind", " bind %u", action.bindcnt());
    if (options.stats) PrintTimes(action, out);
    out->Line();
  }

  absl::string_view help() const override {
    return "Usage: ... action mpls pop protocol PROTOCOL [VERDICT] [index INDEX]\n"
           "       ... action mpls push [protocol MPLS] label LABEL [FIELDS] [VERDICT] [index "
           "INDEX]\n"
           "       ... action mpls mac_push [protocol MPLS] label LABEL [FIELDS] [VERDICT]\n"
           "                                [index INDEX]\n"
           "       ... action mpls modify [label LABEL] [FIELDS] [VERDICT] [index INDEX]\n"
           "       ... action mpls dec_ttl [VERDICT] [index INDEX]\n"
           "Takes a packet's outer MPLS header away, puts one on (mac_push: before the Ethernet\n"
           "header) or changes it.\n"
           "  PROTOCOL what the packet is without it: ip, ipv6, mpls_uc, ... or the number\n"
           "  MPLS     mpls_uc (the default) | mpls_mc\n"
           "  LABEL    0 to 1048575, but not 3 (implicit null)\n"
           "  FIELDS   [tc TC] [ttl TTL] [bos BOS]\n"
           "  TC       traffic class, 0 to 7\n"
           "  TTL      1 to 255; by default 255 for push and mac_push\n"
           "  BOS      bottom of stack, 0 or 1\n"
           "  VERDICT  pipe (the default) | pass (ok) | drop (shot) | reclassify | continue | "
           "trap |\n"
           "           jump COUNT | goto chain CHAIN\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"pop protocol ip",
            "pop protocol 0x86dd drop index 7",
            "push label 20",
            "push protocol mpls_mc label 1048575 tc 7 ttl 255 bos 1 pass index 1",
            "mac_push label 0 ttl 1 jump 2",
            "mac_push protocol mpls_uc label 0x10 bos 0 continue",
            "modify label 4 tc 0 goto chain 7",
            "modify ttl 64 reclassify",
            "modify",
            "dec_ttl trap index 4294967295"};
  }

 private:
  // One keyword with its value. Its order is tc's, for the sake of abbreviations.
  ParseError ReadKeyword(Words* words, Mpls* mpls, Read* read) const {
    for (const OperationWord& word : kOperations) {
      if (!words->Matches(word.text)) continue;
      if (mpls->operation() != Mpls::OPERATION_UNSPECIFIED) {
        return ParseError::Return(absl::StrCat("Error: got \"", words->Peek(),
                                               "\" but action already set to \"",
                                               NameOf(mpls->operation()), "\"\n", help()));
      }
      mpls->set_operation(word.operation);
      words->Skip();
      return {};
    }
    for (const auto& reader : {ReadHeader, ReadProtocol}) {
      *read = Read::kDone;
      ParseError error = reader(words, mpls, read);
      if (error || *read == Read::kDone) return error;
    }
    if (words->Matches("help")) return ParseError::Exit(std::string(help()));
    return {};
  }

  // The word "index" and its value, which ends tc if it is bad.
  static ParseError ReadItsIndex(Words* words, v1::Action* action) {
    uint32_t index = 0;
    const auto decimal = [](absl::string_view word, uint32_t* out) {
      return ParseU32(word, 10, out);
    };
    if (ParseError error = ReadValue(words, "illegal index", decimal, &index)) return error;
    action->set_index(index);
    return {};
  }
};

TCACT_REGISTER_KIND(MplsKind)

}  // namespace
}  // namespace tcact::kinds
