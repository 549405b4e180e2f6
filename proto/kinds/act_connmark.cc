// connmark: the mark of the packet's connection becomes the packet's.
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Connmark;
using v1::Verdict;

constexpr uint32_t kMaxZone = 0xffff;

class ConnmarkKind : public KindOf<Connmark, v1::Action::kConnmarkFieldNumber,
                                   &v1::Action::connmark, &v1::Action::mutable_connmark> {
 public:
  absl::string_view name() const override { return "connmark"; }
  // A zone takes 4 bytes, a jump up to 9.
  uint32_t inline_params() const override { return 16; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    Connmark* connmark = mutable_params(action);
    // tc takes the kind's word again, even as "c", which is no verdict here.
    while (words->Matches(name())) words->Skip();
    if (words->Matches("help")) return ParseError::Exit(std::string(help()));
    if (words->Matches("zone")) {
      if (ParseError error = words->Advance()) return error;
      uint16_t zone = 0;
      if (!ParseU16(words->Peek(), 10, &zone)) {
        return ParseError::Return("connmark: Illegal \"zone\"\n");
      }
      connmark->set_zone(zone);
      words->Skip();
    }
    return ParseVerdictAndIndex(words, name(), Verdict::TYPE_PIPE, connmark->mutable_verdict(),
                                action);
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Connmark* connmark = mutable_params(action);
    if (connmark->zone() > kMaxZone) {
      return OutOfRange("connmark.zone", connmark->zone(), 0, kMaxZone);
    }
    return CheckVerdict("connmark.verdict", context, Verdict::TYPE_PIPE,
                        connmark->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return false; }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    out->Uint("zone", "zone %u", params(action).zone());
    PrintVerdict(" ", params(action).verdict(), "", out);
    out->Line();
    PrintCounts(action, options, out);
  }

  absl::string_view help() const override {
    return "Usage: ... action connmark [zone ZONE] [VERDICT] [index INDEX]\n"
           "The mark of the packet's connection becomes the packet's mark.\n"
           "  ZONE     of connection tracking, 0 (the default) to 65535\n"
           "  VERDICT  pipe, unless given; see gact\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"index 3", "zone 65535",     "zone 0 pass", "zone 12 goto chain 3 index 9",
            "jump 2",  "connmark zone 1"};
  }
};

TCACT_REGISTER_KIND(ConnmarkKind)

}  // namespace
}  // namespace tcact::kinds
