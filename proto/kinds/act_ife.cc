// ife: inter-FE encapsulation, which carries metadata of a packet to another machine.
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

using v1::Ife;
using v1::Verdict;

constexpr uint32_t kMaxU16 = 0xffff;

// An item of metadata as a command gave it. A value of 0 counts as none, as tc has it.
struct Item {
  bool allow = false;
  uint32_t value = 0;

  bool given() const { return allow || value != 0; }
  // A value goes before "allow".
  void Put(Ife::Metadata* metadata) const {
    metadata->set_allow(value == 0);
    metadata->set_value(value);
  }
};

// What a command said so far that its params do not tell.
struct Given {
  // An operation, or an index.
  bool any = false;
  Item mark;
  Item prio;
  Item tcindex;
};

// How reading one keyword ended.
enum class Read { kDone, kNotMine };

bool Value16(absl::string_view word, uint32_t* out) {
  return ParseU32(word, 0, out) && *out <= kMaxU16;
}

// The words after "allow".
ParseError ReadAllow(Words* words, Given* given) {
  if (ParseError error = words->Advance()) return error;
  if (words->Matches("mark")) {
    given->mark.allow = true;
  } else if (words->Matches("prio")) {
    given->prio.allow = true;
  } else if (words->Matches("tcindex")) {
    given->tcindex.allow = true;
  } else {
    return ParseError::Invalid("Illegal meta define", words->Peek());
  }
  words->Skip();
  return {};
}

// The words after "use".
ParseError ReadUse(Words* words, Given* given) {
  if (ParseError error = words->Advance()) return error;
  if (words->Matches("mark")) {
    return ReadValue(words, "ife mark val is invalid", AnyBase32, &given->mark.value);
  }
  if (words->Matches("prio")) {
    return ReadValue(words, "ife prio val is invalid", AnyBase32, &given->prio.value);
  }
  if (words->Matches("tcindex")) {
    return ReadValue(words, "ife tcindex val is invalid", Value16, &given->tcindex.value);
  }
  return ParseError::Invalid("Illegal meta use type", words->Peek());
}

bool IsZero(absl::string_view bytes) {
  return bytes.find_first_not_of('\0') == absl::string_view::npos;
}

// An address of zeros is none.
RuleError NormalizeAddress(absl::string_view field, std::string* bytes) {
  if (RuleError error = CheckBytes(field, *bytes, kMacBytes, "an Ethernet address")) return error;
  if (IsZero(*bytes)) bytes->clear();
  return {};
}

void NormalizeMetadata(Ife::Metadata* metadata) {
  if (metadata->allow()) metadata->clear_value();
}

RuleError NormalizeEncode(Ife* ife) {
  if (!ife->has_ethertype()) ife->set_ethertype(kEthertypeIfe);
  if (ife->ethertype() > kMaxU16) {
    return OutOfRange("ife.ethertype", ife->ethertype(), 0, kMaxU16);
  }
  if (RuleError error = NormalizeAddress("ife.dst_mac", ife->mutable_dst_mac())) return error;
  if (RuleError error = NormalizeAddress("ife.src_mac", ife->mutable_src_mac())) return error;
  if (ife->has_mark()) NormalizeMetadata(ife->mutable_mark());
  if (ife->has_prio()) NormalizeMetadata(ife->mutable_prio());
  if (ife->has_tcindex()) {
    NormalizeMetadata(ife->mutable_tcindex());
    if (ife->tcindex().value() > kMaxU16) {
      return OutOfRange("ife.tcindex.value", ife->tcindex().value(), 0, kMaxU16);
    }
  }
  return {};
}

void NormalizeDecode(Ife* ife) {
  ife->clear_ethertype();
  ife->clear_dst_mac();
  ife->clear_src_mac();
  ife->clear_mark();
  ife->clear_prio();
  ife->clear_tcindex();
}

void PrintItem(absl::string_view key, bool allow, uint32_t value, Printer* out) {
  if (out->json()) {
    if (allow) {
      out->JsonString(key, "allow");
    } else {
      out->JsonUint(key, value);
    }
  } else if (allow) {
    out->TextFormat("allow %s ", key);
  } else {
    out->TextFormat("use %s %u ", key, value);
  }
}

class IfeKind
    : public KindOf<Ife, v1::Action::kIfeFieldNumber, &v1::Action::ife, &v1::Action::mutable_ife> {
 public:
  absl::string_view name() const override { return "ife"; }
  // Operation, ethertype, verdict and an address take 18 bytes; metadata up to 9 each.
  uint32_t inline_params() const override { return 32; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Ife* ife = mutable_params(action);
    Given given;
    while (!words->AtEnd()) {
      Read read = Read::kDone;
      if (ParseError error = ReadKeyword(words, ife, &given, &read)) return error;
      if (read == Read::kNotMine) break;
    }
    if (ParseError error =
            ParseVerdictOr(words, Numbers::kRefused, Verdict::TYPE_PIPE, ife->mutable_verdict())) {
      return error;
    }
    given.any = given.any || words->Matches("index");
    if (ParseError error = ParseIndex(words, name(), action, 0)) return error;
    if (!given.any) {
      return ParseError::Exit(absl::StrCat("IFE requires decode/encode specified\n", help()));
    }
    // An index alone is enough for tc, and means decode.
    if (ife->operation() == Ife::OPERATION_UNSPECIFIED) {
      ife->set_operation(Ife::OPERATION_DECODE);
    }
    if (given.mark.given()) given.mark.Put(ife->mutable_mark());
    if (given.prio.given()) given.prio.Put(ife->mutable_prio());
    if (given.tcindex.given()) given.tcindex.Put(ife->mutable_tcindex());
    return {};
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Ife* ife = mutable_params(action);
    switch (ife->operation()) {
      case Ife::OPERATION_ENCODE:
        if (RuleError error = NormalizeEncode(ife)) return error;
        break;
      case Ife::OPERATION_DECODE:
        NormalizeDecode(ife);
        break;
      default:
        return OutOfRange("ife.operation", static_cast<int>(ife->operation()), 1,
                          static_cast<int>(Ife::Operation_MAX));
    }
    return CheckVerdict("ife.verdict", context, Verdict::TYPE_PIPE, ife->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return false; }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Ife& ife = params(action);
    const bool decode = ife.operation() == Ife::OPERATION_DECODE;
    out->String("mode", "%s ", decode ? "decode" : "encode");
    PrintVerdict("action ", ife.verdict(), " ", out);
    out->Hex("type", "type %#X ", ife.ethertype());
    out->Line();
    out->Text("\t");
    // Decoding takes all that it knows.
    if (decode || ife.has_mark()) {
      PrintItem("mark", decode || ife.mark().allow(), ife.mark().value(), out);
    }
    if (decode || ife.has_tcindex()) {
      PrintItem("tcindex", decode || ife.tcindex().allow(), ife.tcindex().value(), out);
    }
    if (decode || ife.has_prio()) {
      PrintItem("prio", decode || ife.prio().allow(), ife.prio().value(), out);
    }
    if (!ife.dst_mac().empty()) out->String("dst", "dst %s ", FormatMac(ife.dst_mac()));
    if (!ife.src_mac().empty()) out->String("src", "src %s ", FormatMac(ife.src_mac()));
    out->Line();
    out->Uint("index", "\t index %u", action.index());
    out->Uint("ref", " ref %u", action.refcnt());
    out->Uint("bind", " bind %u", action.bindcnt());
    if (options.stats) PrintTimes(action, out);
    out->Line();
  }

  absl::string_view help() const override {
    return "Usage: ... action ife encode [ITEMS] [dst MAC] [src MAC] [type ETHERTYPE] [VERDICT]\n"
           "                             [index INDEX]\n"
           "       ... action ife decode [VERDICT] [index INDEX]\n"
           "Packs a packet with metadata into another Ethernet frame, or unpacks it and restores "
           "all\n"
           "metadata that came with it.\n"
           "  ITEMS    any of: allow mark | allow prio | allow tcindex (the packet's own value),\n"
           "           use mark N | use prio N | use tcindex N (the value N)\n"
           "  N        1 to 4294967295; for tcindex 1 to 65535\n"
           "  MAC      02:00:00:00:00:01; by default that of the packet\n"
           "  ETHERTYPE\n"
           "           of the new frame, 0 to 65535; by default 0xed3e\n"
           "  VERDICT  pipe (the default) | pass (ok) | drop (shot) | reclassify | continue | "
           "trap |\n"
           "           jump COUNT | goto chain CHAIN\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"decode",
            "decode drop index 7",
            "index 5",
            "encode allow mark",
            "encode use mark 0x12 allow prio pass index 4294967295",
            "encode use prio 3 use tcindex 65535 continue",
            "encode allow tcindex type 0xefef jump 2",
            "encode dst 02:00:00:00:00:01 src 02:00:00:00:00:02 goto chain 7",
            "encode reclassify"};
  }

 private:
  // One keyword with its value. Its order is tc's, for the sake of abbreviations.
  ParseError ReadKeyword(Words* words, Ife* ife, Given* given, Read* read) const {
    // It says nothing, but tc wants a word after it. "i" is this and not index.
    if (words->Matches("ife")) return words->Advance();
    if (words->Matches("decode") || words->Matches("encode")) {
      ife->set_operation(words->Matches("decode") ? Ife::OPERATION_DECODE : Ife::OPERATION_ENCODE);
      given->any = true;
      words->Skip();
      return {};
    }
    if (words->Matches("allow")) return ReadAllow(words, given);
    if (words->Matches("use")) return ReadUse(words, given);
    if (words->Matches("type")) {
      uint16_t value = 0;
      if (ParseError error = ReadValue(words, "ife type is invalid", AnyBase16, &value)) {
        return error;
      }
      ife->set_ethertype(value);
      return {};
    }
    if (words->Matches("dst")) {
      return ReadValue(words, "Invalid mac address", ParseMacLoosely, ife->mutable_dst_mac());
    }
    if (words->Matches("src")) {
      return ReadValue(words, "Invalid mac address", ParseMacLoosely, ife->mutable_src_mac());
    }
    if (words->Matches("help")) return ParseError::Exit(std::string(help()));
    *read = Read::kNotMine;
    return {};
  }
};

TCACT_REGISTER_KIND(IfeKind)

}  // namespace
}  // namespace tcact::kinds
