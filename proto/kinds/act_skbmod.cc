// skbmod: edits the Ethernet header, or marks congestion.
#include "absl/strings/str_cat.h"
#include "proto/kinds/addresses.h"
#include "proto/kinds/keyword_value.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/mac_words.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Skbmod;
using v1::Verdict;

constexpr uint32_t kMaxU16 = 0xffff;

// What a command said so far that its params do not tell.
struct Given {
  // Something to edit, or an index.
  bool any = false;
};

// How reading one keyword ended.
enum class Read { kDone, kNotMine };

// The address after a keyword. `what` names it in the error.
ParseError ReadAddress(Words* words, absl::string_view what, std::string* bytes) {
  if (ParseError error = words->Advance()) return error;
  if (!ParseMacLoosely(words->Peek(), bytes)) {
    return ParseError::Return(absl::StrCat("Invalid ", what, " address ", words->Peek(), "\n"));
  }
  words->Skip();
  return {};
}

// Of the three edits that exclude each other the kernel keeps one: ecn before swap_mac before the
// fields to set.
void KeepOneEdit(Skbmod* skbmod) {
  if (skbmod->ecn()) skbmod->clear_swap_mac();
  if (skbmod->ecn() || skbmod->swap_mac()) {
    skbmod->clear_dst_mac();
    skbmod->clear_src_mac();
    skbmod->clear_ethertype();
  }
}

class SkbmodKind : public KindOf<Skbmod, v1::Action::kSkbmodFieldNumber, &v1::Action::skbmod,
                                 &v1::Action::mutable_skbmod> {
 public:
  absl::string_view name() const override { return "skbmod"; }
  // Two addresses, an ethertype and a verdict take up to 26 bytes; nearly all have less.
  uint32_t inline_params() const override { return 24; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Skbmod* skbmod = mutable_params(action);
    Given given;
    while (!words->AtEnd()) {
      Read read = Read::kDone;
      if (ParseError error = ReadKeyword(words, skbmod, &given, &read)) return error;
      if (read == Read::kNotMine) break;
    }
    if (ParseError error = ParseVerdictOr(words, Numbers::kRefused, Verdict::TYPE_PIPE,
                                          skbmod->mutable_verdict())) {
      return error;
    }
    given.any = given.any || words->Matches("index");
    if (ParseError error = ParseIndex(words, name(), action, 0)) return error;
    if (!given.any) {
      return ParseError::Exit(absl::StrCat("skbmod requires at least one option\n", help()));
    }
    return {};
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Skbmod* skbmod = mutable_params(action);
    KeepOneEdit(skbmod);
    constexpr absl::string_view kWhat = "an Ethernet address";
    if (RuleError error = CheckBytes("skbmod.dst_mac", skbmod->dst_mac(), kMacBytes, kWhat)) {
      return error;
    }
    if (RuleError error = CheckBytes("skbmod.src_mac", skbmod->src_mac(), kMacBytes, kWhat)) {
      return error;
    }
    if (skbmod->ethertype() > kMaxU16) {
      return OutOfRange("skbmod.ethertype", skbmod->ethertype(), 0, kMaxU16);
    }
    if (!skbmod->ecn() && !skbmod->swap_mac() && skbmod->dst_mac().empty() &&
        skbmod->src_mac().empty() && skbmod->ethertype() == 0) {
      return {"skbmod", "nothing to edit; an address, an ethertype, swap_mac or ecn is required",
              "RTNETLINK answers: Invalid argument"};
    }
    return CheckVerdict("skbmod.verdict", context, Verdict::TYPE_PIPE, skbmod->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return false; }

  // tc's JSON has no kind here, and its terse text has none either.
  void PrintHead(Printer* /*out*/) const override {}

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Skbmod& skbmod = params(action);
    out->Text("skbmod ");
    PrintVerdict("", skbmod.verdict(), " ", out);
    if (skbmod.ethertype() != 0) {
      out->Hex("etype", "set etype 0x%X ", skbmod.ethertype());
      out->Line();
      out->Text("\t ");
    }
    if (!skbmod.dst_mac().empty()) {
      out->String("dmac", "set dmac %s ", FormatMac(skbmod.dst_mac()));
    }
    if (!skbmod.src_mac().empty()) {
      out->String("smac", "set smac %s ", FormatMac(skbmod.src_mac()));
    }
    if (skbmod.swap_mac()) out->Null("swapmac", "swap mac ");
    if (skbmod.ecn()) out->Null("ecn", "ecn ");
    out->Line();
    out->Uint("index", "\t index %u ", action.index());
    out->Uint("ref", "ref %u ", action.refcnt());
    out->Uint("bind", "bind %u", action.bindcnt());
    if (options.stats) PrintTimes(action, out);
    // Not even with -o does tc make a backslash of this line end.
    out->Text("\n");
  }

  absl::string_view help() const override {
    return "Usage: ... action skbmod set FIELDS [VERDICT] [index INDEX]\n"
           "       ... action skbmod swap mac [VERDICT] [index INDEX]\n"
           "       ... action skbmod ecn [VERDICT] [index INDEX]\n"
           "Changes a packet's Ethernet header, exchanges its two addresses, or marks it as "
           "having\n"
           "met congestion. Of several only the last in this list is done.\n"
           "  FIELDS   [dmac MAC] [smac MAC] [etype ETHERTYPE]\n"
           "  MAC      02:00:00:00:00:01\n"
           "  ETHERTYPE\n"
           "           1 to 65535; 0 leaves it as it is\n"
           "  VERDICT  pipe (the default) | pass (ok) | drop (shot) | reclassify | continue | "
           "trap |\n"
           "           jump COUNT | goto chain CHAIN\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"set dmac 02:00:00:00:00:01",
            "set smac 02:00:00:00:00:02 drop index 7",
            "set etype 0x86dd pass index 4294967295",
            "set dmac 02:00:00:00:00:01 smac 02:00:00:00:00:02 etype 2048 continue",
            "swap mac",
            "swap mac jump 2 index 0x10",
            "ecn goto chain 7",
            "ecn reclassify"};
  }

 private:
  // One keyword with its value. Its order is tc's, for the sake of abbreviations.
  ParseError ReadKeyword(Words* words, Skbmod* skbmod, Given* given, Read* read) const {
    // These say nothing by themselves, but tc wants a word after them. "s" is the first.
    if (words->Matches("skbmod") || words->Matches("swap")) return words->Advance();
    if (words->Matches("mac")) {
      skbmod->set_swap_mac(true);
      words->Skip();
    } else if (words->Matches("set")) {
      return words->Advance();
    } else if (words->Matches("etype")) {
      uint16_t value = 0;
      if (ParseError error = ReadValue(words, "ethertype is invalid", AnyBase16, &value)) {
        return error;
      }
      skbmod->set_ethertype(value);
    } else if (words->Matches("dmac")) {
      if (ParseError error = ReadAddress(words, "dst mac", skbmod->mutable_dst_mac())) return error;
    } else if (words->Matches("smac")) {
      if (ParseError error = ReadAddress(words, "smac", skbmod->mutable_src_mac())) return error;
    } else if (words->Matches("ecn")) {
      skbmod->set_ecn(true);
      words->Skip();
    } else if (words->Matches("help")) {
      return ParseError::Exit(std::string(help()));
    } else {
      *read = Read::kNotMine;
      return {};
    }
    given->any = true;
    return {};
  }
};

TCACT_REGISTER_KIND(SkbmodKind)

}  // namespace
}  // namespace tcact::kinds
