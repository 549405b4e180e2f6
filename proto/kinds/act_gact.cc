// gact: a verdict, or with some probability another.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Gact;
using v1::Verdict;

constexpr uint32_t kMaxVal = 10000;

absl::string_view NameOf(Gact::Random::Type type) {
  switch (type) {
    case Gact::Random::TYPE_NETRAND:
      return "netrand";
    case Gact::Random::TYPE_DETERM:
      return "determ";
    default:
      return "none";
  }
}

class GactKind : public KindOf<Gact, v1::Action::kGactFieldNumber, &v1::Action::gact,
                               &v1::Action::mutable_gact> {
 public:
  absl::string_view name() const override { return "gact"; }
  // A verdict takes 4 bytes, jump up to 9; with random about 16.
  uint32_t inline_params() const override { return 16; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    Gact* gact = mutable_params(action);
    if (words->AtEnd()) return ParseError::Incomplete();
    // Only an index: a bind to an action that exists, or pass.
    if (!words->Matches("index")) {
      if (ParseError error = ParseVerdictOrHelp(words, gact->mutable_verdict())) return error;
      if (words->Matches("random")) {
        if (ParseError error = ParseRandom(words, gact->mutable_random())) return error;
      } else if (words->Matches("help")) {
        return ParseError::Exit(std::string(help()));
      }
    }
    if (words->Matches("index")) {
      if (ParseError error = words->Advance()) return error;
      uint32_t index = 0;
      if (!ParseU32(words->Peek(), 10, &index)) return ParseError::Return("Illegal \"index\"\n");
      action->set_index(index);
      words->Skip();
    } else if (words->Matches("help")) {
      return ParseError::Exit(std::string(help()));
    }
    return {};
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Gact* gact = mutable_params(action);
    if (RuleError error = NormalizeRandom(gact)) return error;
    return CheckVerdict("gact.verdict", context, Verdict::TYPE_PASS, gact->mutable_verdict());
  }

  // What a classifier can stand for by itself; the kernel offers no other verdict to hardware.
  bool Offloadable(const v1::Action& action) const override {
    switch (params(action).verdict().type()) {
      case Verdict::TYPE_PASS:
      case Verdict::TYPE_DROP:
      case Verdict::TYPE_TRAP:
      case Verdict::TYPE_GOTO_CHAIN:
        return true;
      default:
        return false;
    }
  }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Gact& gact = params(action);
    PrintVerdict("action ", gact.verdict(), "", out);
    // tc prints a random part always, for scripts that expect it.
    Verdict pass;
    pass.set_type(Verdict::TYPE_PASS);
    out->OpenObject("prob");
    out->Line();
    out->String("random_type", "\t random type %s", NameOf(gact.random().type()));
    PrintVerdict(" ", gact.random().has_verdict() ? gact.random().verdict() : pass, " ", out);
    out->Uint("val", "val %u", gact.random().val());
    out->CloseObject();
    out->Line();
    out->Uint("index", "\t index %u", action.index());
    out->Uint("ref", " ref %u", action.refcnt());
    out->Uint("bind", " bind %u", action.bindcnt());
    if (options.stats) PrintTimes(action, out);
    out->Line();
  }

  absl::string_view help() const override {
    return "Usage: ... action gact VERDICT [random TYPE VERDICT VAL] [index INDEX]\n"
           "A packet gets the first verdict, or one time in VAL the one after random.\n"
           "  VERDICT  pass (ok) | drop (shot) | pipe | reclassify | continue | trap |\n"
           "           jump COUNT | goto chain CHAIN\n"
           "           COUNT actions are skipped; both are 0 to 268435455; goto chain only in a "
           "bind\n"
           "  TYPE     netrand (pseudo-random) | determ (every VAL-th packet)\n"
           "  VAL      0 (taken as 1) to 10000\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"pass",
            "ok index 7",
            "drop",
            "shot",
            "pipe",
            "reclassify",
            "continue",
            "trap",
            "jump 2",
            "goto chain 7",
            "index 4294967295",
            "pass random netrand drop 5",
            "drop random determ jump 3 10000 index 1",
            "pass random determ pipe 0"};
  }

 private:
  ParseError ParseVerdictOrHelp(Words* words, Verdict* verdict) const {
    if (words->Is("help")) return ParseError::Exit(std::string(help()));
    ParseError error = ParseVerdict(words, Numbers::kRefused, verdict);
    // Any bad verdict shows the help and ends tc.
    if (error.then == ParseError::Then::kReturn) {
      return ParseError::Exit(absl::StrCat(error.text, help()));
    }
    return error;
  }

  // The words from "random" on.
  ParseError ParseRandom(Words* words, Gact::Random* random) const {
    if (ParseError error = words->Advance()) return error;
    if (words->Matches("netrand")) {
      random->set_type(Gact::Random::TYPE_NETRAND);
    } else if (words->Matches("determ")) {
      random->set_type(Gact::Random::TYPE_DETERM);
    } else {
      return ParseError::Return("Illegal \"random type\"\n");
    }
    if (ParseError error = words->Advance()) return error;
    if (ParseError error = ParseVerdictOrHelp(words, random->mutable_verdict())) return error;
    uint16_t val = 0;
    if (!ParseU16(words->Peek(), 10, &val)) {
      return ParseError::Return(absl::StrCat("Illegal probability val \"", words->Peek(), "\"\n"));
    }
    if (val > kMaxVal) {
      return ParseError::Return(absl::StrFormat("Illegal probability val  0x%x\n", val));
    }
    random->set_val(val);
    words->Skip();
    return {};
  }

  // No random part at all unless it has a type; else a verdict and a val of 1 or more.
  static RuleError NormalizeRandom(Gact* gact) {
    if (!gact->has_random()) return {};
    Gact::Random* random = gact->mutable_random();
    if (random->type() == Gact::Random::TYPE_NONE) {
      gact->clear_random();
      return {};
    }
    if (!Gact::Random::Type_IsValid(random->type())) {
      return OutOfRange("gact.random.type", static_cast<int>(random->type()), 0,
                        static_cast<int>(Gact::Random::Type_MAX));
    }
    if (random->val() > kMaxVal) {
      return OutOfRange("gact.random.val", random->val(), 0, kMaxVal);
    }
    if (random->val() == 0) random->set_val(1);
    return CheckFallback("gact.random.verdict", Verdict::TYPE_PASS, random->mutable_verdict());
  }
};

TCACT_REGISTER_KIND(GactKind)

}  // namespace
}  // namespace tcact::kinds
