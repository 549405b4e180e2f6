// ctinfo: what connection tracking holds, a DSCP and a mark, goes to the packet.
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Ctinfo;
using v1::Verdict;

constexpr uint32_t kMaxZone = 0xffff;
constexpr uint32_t kSixBits = 0x3f;

// Six neighbouring bits, or none.
bool IsDscpMask(uint32_t mask) { return mask == 0 || mask / (mask & -mask) == kSixBits; }

// A number after a keyword, if there is one; past it.
void ReadOptional(Words* words, uint32_t* value) {
  if (ParseU32(words->Peek(), 0, value)) words->Skip();
}

class CtinfoKind : public KindOf<Ctinfo, v1::Action::kCtinfoFieldNumber, &v1::Action::ctinfo,
                                 &v1::Action::mutable_ctinfo> {
 public:
  absl::string_view name() const override { return "ctinfo"; }
  // Three masks of up to 6 bytes and a verdict.
  uint32_t inline_params() const override { return 32; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    Ctinfo* ctinfo = mutable_params(action);
    // tc takes the kind's name again, abbreviated too, as often as it stands there.
    while (words->Matches("ctinfo")) words->Skip();
    if (words->Matches("help")) return ParseError::Exit(std::string(help()));
    if (ParseError error = ParseMasks(words, ctinfo)) return error;
    if (words->Matches("zone")) {
      if (ParseError error = words->Advance()) return error;
      uint16_t zone = 0;
      if (!ParseU16(words->Peek(), 10, &zone)) {
        return ParseError::Return("ctinfo: Illegal \"zone\"\n");
      }
      ctinfo->set_zone(zone);
      words->Skip();
    }
    if (ParseError error = ParseVerdictAndIndex(words, name(), Verdict::TYPE_PIPE,
                                                ctinfo->mutable_verdict(), action)) {
      return error;
    }
    if ((ctinfo->dscp_mask() & ctinfo->dscp_state_mask()) != 0) {
      return ParseError::Return("ctinfo: dscp mask & statemask must NOT overlap\n");
    }
    if (!IsDscpMask(ctinfo->dscp_mask())) {
      return ParseError::Return("ctinfo: dscp mask must be 6 contiguous bits long\n");
    }
    return {};
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Ctinfo* ctinfo = mutable_params(action);
    if (ctinfo->zone() > kMaxZone) return OutOfRange("ctinfo.zone", ctinfo->zone(), 0, kMaxZone);
    if (!IsDscpMask(ctinfo->dscp_mask())) {
      return {"ctinfo.dscp_mask",
              absl::StrCat("0x", absl::Hex(ctinfo->dscp_mask()), "; 0 or six neighbouring bits"),
              "RTNETLINK answers: Invalid argument"};
    }
    // As the kernel: it looks at the state mask only where there is a mask.
    if (ctinfo->dscp_mask() == 0) ctinfo->clear_dscp_state_mask();
    if ((ctinfo->dscp_mask() & ctinfo->dscp_state_mask()) != 0) {
      return {"ctinfo.dscp_state_mask",
              absl::StrCat("0x", absl::Hex(ctinfo->dscp_state_mask()),
                           "; shares bits with dscp_mask 0x", absl::Hex(ctinfo->dscp_mask())),
              "RTNETLINK answers: Invalid argument"};
    }
    return CheckVerdict("ctinfo.verdict", context, Verdict::TYPE_PIPE, ctinfo->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return false; }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Ctinfo& ctinfo = params(action);
    out->Uint("zone", "zone %u", ctinfo.zone());
    PrintVerdict(" ", ctinfo.verdict(), "", out);
    out->Line();
    out->Uint("index", "\t index %u", action.index());
    out->Uint("ref", " ref %u", action.refcnt());
    out->Uint("bind", " bind %u", action.bindcnt());
    if (ctinfo.dscp_mask() != 0) {
      out->Hex("dscpmask", " dscp %#010x", ctinfo.dscp_mask());
      out->Hex("dscpstatemask", " %#010x", ctinfo.dscp_state_mask());
    }
    if (ctinfo.has_cpmark_mask()) out->Hex("cpmark", " cpmark %#010x", ctinfo.cpmark_mask());
    if (options.stats) {
      PrintTimes(action, out);
      // What the kernel counts of packets that it changed. A store changes none.
      out->Uint("dscpset", " DSCP set %u", 0);
      out->Uint("dscperror", " error %u", 0);
      out->Uint("cpmarkset", " CPMARK set %u", 0);
    }
    out->Line();
  }

  absl::string_view help() const override {
    return "Usage: ... action ctinfo [dscp MASK [STATEMASK]] [cpmark [MASK]] [zone ZONE]\n"
           "                         [VERDICT] [index INDEX]\n"
           "What connection tracking holds goes to the packet.\n"
           "  dscp     the six neighbouring bits of the connection's mark that hold a DSCP, and "
           "the\n"
           "           bits outside them of which one says that it is stored (0: always)\n"
           "  cpmark   the bits of the connection's mark that go to the packet's mark; all, "
           "unless\n"
           "           given\n"
           "  ZONE     of connection tracking, 0 (the default) to 65535\n"
           "  VERDICT  pipe, unless given; see gact\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"index 3",
            "dscp 0xfc000000 0x01000000",
            "dscp 0x3f cpmark",
            "cpmark 0x00ffffff zone 65535 drop",
            "zone 9 goto chain 2 index 1",
            "dscp 0 0x10 cpmark 0"};
  }

 private:
  // dscp and cpmark, in this order.
  static ParseError ParseMasks(Words* words, Ctinfo* ctinfo) {
    uint32_t mask = 0;
    if (words->Matches("dscp")) {
      if (ParseError error = words->Advance()) return error;
      if (!ParseU32(words->Peek(), 0, &mask)) {
        return ParseError::Return("ctinfo: Illegal dscp \"mask\"\n");
      }
      ctinfo->set_dscp_mask(mask);
      words->Skip();
      uint32_t state = 0;
      ReadOptional(words, &state);
      ctinfo->set_dscp_state_mask(state);
    }
    if (words->Matches("cpmark")) {
      words->Skip();
      mask = 0xffffffff;
      ReadOptional(words, &mask);
      // As tc: a mask of 0 is not sent.
      if (mask != 0) ctinfo->set_cpmark_mask(mask);
    }
    return {};
  }
};

TCACT_REGISTER_KIND(CtinfoKind)

}  // namespace
}  // namespace tcact::kinds
