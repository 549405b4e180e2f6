// csum: recomputes checksums.
#include "absl/strings/str_join.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Csum;
using v1::Verdict;

// One header: the word that tc prints, which it also reads, and its field.
struct Header {
  absl::string_view word;
  bool (Csum::*get)() const;
  void (Csum::*set)(bool);
};

// In the order in which tc prints and, for the sake of abbreviations, reads them.
constexpr Header kHeaders[] = {
    {"iph", &Csum::ip4_header, &Csum::set_ip4_header},
    {"icmp", &Csum::icmp, &Csum::set_icmp},
    {"igmp", &Csum::igmp, &Csum::set_igmp},
    {"tcp", &Csum::tcp, &Csum::set_tcp},
    {"udp", &Csum::udp, &Csum::set_udp},
    {"udplite", &Csum::udplite, &Csum::set_udplite},
    {"sctp", &Csum::sctp, &Csum::set_sctp},
};

// Sets the field that the word under the cursor names; false if it names none.
bool ReadHeader(const Words& words, Csum* csum) {
  if (words.Matches("iph") || words.Matches("ip4h") || words.Matches("ipv4h")) {
    csum->set_ip4_header(true);
    return true;
  }
  for (const Header& header : kHeaders) {
    if (!words.Matches(header.word)) continue;
    (csum->*header.set)(true);
    return true;
  }
  return false;
}

bool IsConjunction(const Words& words) {
  return words.Matches("and") || words.Matches("or") || words.Matches("+");
}

class CsumKind : public KindOf<Csum, v1::Action::kCsumFieldNumber, &v1::Action::csum,
                               &v1::Action::mutable_csum> {
 public:
  absl::string_view name() const override { return "csum"; }
  // Two bytes a header; four headers and a verdict take 12.
  uint32_t inline_params() const override { return 24; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Csum* csum = mutable_params(action);
    bool any = false;
    while (true) {
      // tc takes an index alone, and makes an action that does nothing.
      if (words->Is("index")) return ParseIndex(words, name(), action);
      while (ReadHeader(*words, csum) || IsConjunction(*words)) {
        any = any || !IsConjunction(*words);
        words->Skip();
      }
      // tc takes the kind's word again, even as "c", which is no verdict here.
      if (!words->Matches(name())) break;
      if (ParseError error = words->Advance()) return error;
    }
    if (words->Matches("help")) return ParseError::Exit(std::string(help()));
    if (!any) return ParseError::Return("Illegal csum construct, empty <UPDATE> list\n");
    return ParseVerdictAndIndex(words, name(), Verdict::TYPE_PASS, csum->mutable_verdict(), action);
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    return CheckVerdict("csum.verdict", context, Verdict::TYPE_PASS,
                        mutable_params(action)->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return true; }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Csum& csum = params(action);
    std::vector<absl::string_view> words;
    for (const Header& header : kHeaders) {
      if ((csum.*header.get)()) words.push_back(header.word);
    }
    if (words.empty()) words.emplace_back("?empty");
    out->String("csum", "(%s) ", absl::StrJoin(words, ", "));
    PrintVerdict("action ", csum.verdict(), "", out);
    out->Line();
    // Unlike the other kinds' there is no blank before the index.
    out->Uint("index", "\tindex %u", action.index());
    out->Uint("ref", " ref %u", action.refcnt());
    out->Uint("bind", " bind %u", action.bindcnt());
    if (options.stats) PrintTimes(action, out);
    out->Line();
  }

  absl::string_view help() const override {
    return "Usage: ... action csum HEADER [[and | or | +] HEADER]... [VERDICT] [index INDEX]\n"
           "Recomputes the checksums of the headers, each once.\n"
           "  HEADER   iph (ip4h, ipv4h) | icmp | igmp | tcp | udp | udplite | sctp\n"
           "  VERDICT  pass, unless given; see gact\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"iph",
            "ip4h and tcp",
            "ipv4h or udp + udplite pipe",
            "icmp igmp sctp index 4",
            "tcp drop",
            "csum tcp csum udp",
            "udp goto chain 2",
            "index 8"};
  }
};

TCACT_REGISTER_KIND(CsumKind)

}  // namespace
}  // namespace tcact::kinds
