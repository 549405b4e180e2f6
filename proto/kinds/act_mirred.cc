// mirred: sends the packet, or a copy of it, to another device.
#include "absl/strings/str_cat.h"
#include "proto/kinds/addresses.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Mirred;
using v1::Verdict;

constexpr char kBoth[] = "Mustn't specify blockid and dev simultaneously\n";

// What a command said so far. tc's grammar depends on how many words it has understood.
struct Given {
  bool direction = false;
  bool index = false;
};

Verdict::Type DefaultVerdict(const Mirred& mirred) {
  return mirred.operation() == Mirred::OPERATION_MIRROR ? Verdict::TYPE_PIPE : Verdict::TYPE_STOLEN;
}

ParseError ParseDirection(Words* words, Mirred* mirred, Given* given) {
  const Mirred::Direction direction =
      words->Matches("egress") ? Mirred::DIRECTION_EGRESS : Mirred::DIRECTION_INGRESS;
  if (given->direction && mirred->direction() != direction) {
    return ParseError::Return("Can't have both egress and ingress\n");
  }
  mirred->set_direction(direction);
  given->direction = true;
  return {};
}

ParseError ParseOperation(Words* words, Mirred* mirred) {
  const Mirred::Operation operation =
      words->Matches("mirror") ? Mirred::OPERATION_MIRROR : Mirred::OPERATION_REDIRECT;
  if (mirred->operation() != Mirred::OPERATION_UNSPECIFIED) {
    return ParseError::Return("Can't have both mirror and redir\n");
  }
  mirred->set_operation(operation);
  return {};
}

// What ends the words before the verdict: blockid, dev, or neither. Past them.
ParseError ParseTarget(Words* words, Mirred* mirred) {
  if (words->Matches("blockid")) {
    if (ParseError error = words->Advance()) return error;
    uint32_t block = 0;
    if (!ParseU32(words->Peek(), 0, &block) || block == 0) {
      return ParseError::Return("invalid block ID\n");
    }
    mirred->set_block_id(block);
    words->Skip();
  }
  if (words->Matches("dev")) {
    if (mirred->block_id() != 0) return ParseError::Return(kBoth);
    if (ParseError error = words->Advance()) return error;
    mirred->set_device(std::string(words->Peek()));
    words->Skip();
  }
  return {};
}

class MirredKind : public KindOf<Mirred, v1::Action::kMirredFieldNumber, &v1::Action::mirred,
                                 &v1::Action::mutable_mirred> {
 public:
  absl::string_view name() const override { return "mirred"; }
  // Direction, operation, a device's name of up to 15 bytes and a verdict.
  uint32_t inline_params() const override { return 32; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    if (words->Matches("help")) return ParseError::Exit(std::string(help()));
    if (!words->Matches("egress") && !words->Matches("ingress") && !words->Matches("index")) {
      return ParseError::Return(absl::StrCat("mirred option not supported ", words->Peek(), "\n"));
    }
    Mirred* mirred = mutable_params(action);
    Given given;
    if (ParseError error = ParseUntilTarget(words, action, &given)) return error;
    if (mirred->operation() == Mirred::OPERATION_MIRROR) {
      if (ParseError error = ParseVerdictOr(words, Numbers::kRefused, Verdict::TYPE_PIPE,
                                            mirred->mutable_verdict())) {
        return error;
      }
    } else if (mirred->operation() == Mirred::OPERATION_REDIRECT) {
      // A verdict here begins another action.
      mirred->mutable_verdict()->set_type(Verdict::TYPE_STOLEN);
    }
    if (given.index && words->Matches("index")) {
      return ParseError::Return("mirred: Illegal double index\n");
    }
    return ParseIndex(words, name(), action);
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Mirred* mirred = mutable_params(action);
    if (!Mirred::Direction_IsValid(mirred->direction())) {
      return OutOfRange("mirred.direction", static_cast<int>(mirred->direction()), 0,
                        static_cast<int>(Mirred::Direction_MAX));
    }
    if (mirred->direction() == Mirred::DIRECTION_UNSPECIFIED) {
      mirred->set_direction(Mirred::DIRECTION_EGRESS);
    }
    if (!Mirred::Operation_IsValid(mirred->operation()) ||
        mirred->operation() == Mirred::OPERATION_UNSPECIFIED) {
      RuleError error = OutOfRange("mirred.operation", static_cast<int>(mirred->operation()), 1,
                                   static_cast<int>(Mirred::Operation_MAX));
      error.kernel_text = "Error: act_mirred: Unknown mirred option.";
      return error;
    }
    if (RuleError error = CheckTarget(context, *mirred)) return error;
    return CheckVerdict("mirred.verdict", context, DefaultVerdict(*mirred),
                        mirred->mutable_verdict());
  }

  // The kernel hands no block on.
  bool Offloadable(const v1::Action& action) const override {
    return params(action).block_id() == 0;
  }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Mirred& mirred = params(action);
    const bool mirror = mirred.operation() == Mirred::OPERATION_MIRROR;
    const bool ingress = mirred.direction() == Mirred::DIRECTION_INGRESS;
    out->Text(ingress ? "(Ingress " : "(Egress ");
    out->Text(mirror ? "Mirror" : "Redirect");
    out->JsonString("mirred_action", mirror ? "mirror" : "redirect");
    out->JsonString("direction", ingress ? "ingress" : "egress");
    if (mirred.block_id() != 0) {
      out->Uint("to_blockid", " to blockid %u)", mirred.block_id());
    } else {
      out->String("to_dev", " to device %s)", mirred.device());
    }
    PrintVerdict(" ", mirred.verdict(), "", out);
    out->Line();
    // Unlike the other kinds' there is no blank before the index.
    out->Uint("index", "\tindex %u", action.index());
    out->Uint("ref", " ref %u", action.refcnt());
    out->Uint("bind", " bind %u", action.bindcnt());
    if (options.stats) PrintTimes(action, out);
    out->Line();
  }

  absl::string_view help() const override {
    return "Usage: ... action mirred DIRECTION OPERATION [index INDEX] TARGET [VERDICT]\n"
           "                         [index INDEX]\n"
           "Sends the packet, or a copy of it, to another device.\n"
           "  DIRECTION  egress | ingress: where on the other device\n"
           "  OPERATION  mirror (a copy) | redirect\n"
           "  TARGET     dev NAME | blockid ID (of all devices of a block, 1 to 4294967295)\n"
           "  VERDICT    of mirror only: pipe, unless given; see gact\n"
           "  INDEX      0 (the lowest free one) to 4294967295, given once\n";
  }

  std::vector<std::string> examples() const override {
    return {"egress mirror dev lo",
            "ingress redirect dev eth0.100 index 7",
            "egress mirror index 4 dev lo drop",
            "egress redirect blockid 21",
            "ingress mirror blockid 0xffffffff goto chain 3",
            "ingress mirror dev fifteen-bytes-x jump 2"};
  }

 private:
  // Everything up to the target.
  static ParseError ParseUntilTarget(Words* words, v1::Action* action, Given* given) {
    Mirred* mirred = mutable_params(action);
    while (!words->AtEnd()) {
      if (words->Matches("action")) {
        return words->Advance();
      }
      if (words->Matches("egress") || words->Matches("ingress")) {
        if (ParseError error = ParseDirection(words, mirred, given)) return error;
      } else if (words->Matches("index")) {
        if (ParseError error = words->Advance()) return error;
        uint32_t index = 0;
        if (!ParseU32(words->Peek(), 10, &index)) return ParseError::Return("Illegal \"index\"\n");
        action->set_index(index);
        given->index = true;
        if (!given->direction) {
          words->Skip();
          return {};
        }
      } else if (words->Matches("mirror") || words->Matches("redirect")) {
        if (ParseError error = ParseOperation(words, mirred)) return error;
      } else if (mirred->operation() != Mirred::OPERATION_UNSPECIFIED) {
        return ParseTarget(words, mirred);
      }
      // A word that tc does not know here is passed over.
      if (ParseError error = words->Advance()) return error;
    }
    return {};
  }

  static RuleError CheckTarget(const RuleContext& context, const Mirred& mirred) {
    if (mirred.block_id() == 0) return CheckDevice("mirred.device", context, mirred.device());
    if (mirred.device().empty()) return {};
    return {"mirred.block_id", absl::StrCat(mirred.block_id(), "; not together with device"),
            "Error: Cannot specify Block ID and dev simultaneously."};
  }
};

TCACT_REGISTER_KIND(MirredKind)

}  // namespace
}  // namespace tcact::kinds
