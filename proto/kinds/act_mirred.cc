// mirred: sends the packet, or a copy of it, to another device.
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/kinds/addresses.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Mirred;
using v1::Verdict;

// What a command said so far. tc takes each of these words once; said again, a word is read as
// whatever else it may be.
struct Given {
  bool egress = false;
  bool ingress = false;
  bool index = false;

  bool direction() const { return egress || ingress; }
};

Verdict::Type DefaultVerdict(const Mirred& mirred) {
  return mirred.operation() == Mirred::OPERATION_MIRROR ? Verdict::TYPE_PIPE : Verdict::TYPE_STOLEN;
}

// egress or ingress, if the word is one that was not said yet.
bool ReadDirection(const Words& words, Given* given) {
  if (!given->egress && words.Matches("egress")) {
    given->egress = true;
  } else if (!given->ingress && words.Matches("ingress")) {
    given->ingress = true;
  } else {
    return false;
  }
  return true;
}

// The operation that the word under the cursor names; unspecified if none, or the one given.
Mirred::Operation ReadOperation(const Words& words, const Mirred& mirred) {
  for (const auto& [word, operation] : {std::pair("mirror", Mirred::OPERATION_MIRROR),
                                        std::pair("redirect", Mirred::OPERATION_REDIRECT)}) {
    if (mirred.operation() != operation && words.Matches(word)) return operation;
  }
  return Mirred::OPERATION_UNSPECIFIED;
}

// What ends the words before the verdict: blockid, dev, or neither. Past them.
ParseError ParseTarget(Words* words, Mirred* mirred) {
  if (words->Is("blockid")) {
    if (ParseError error = words->Advance()) return error;
    uint32_t block = 0;
    if (!ParseU32(words->Peek(), 0, &block) || block == 0) {
      return ParseError::Return("invalid block ID\n");
    }
    mirred->set_block_id(block);
    words->Skip();
  }
  if (words->Matches("dev")) {
    if (mirred->block_id() != 0) {
      return ParseError::Return("blockid and device are mutually exclusive.\n");
    }
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
    // A verdict behind redirect is not its own: to tc it is the next action of the list.
    if (mirred->operation() == Mirred::OPERATION_MIRROR) {
      if (ParseError error = ParseVerdictOr(words, Numbers::kRefused, Verdict::TYPE_PIPE,
                                            mirred->mutable_verdict())) {
        return error;
      }
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

  bool Offloadable(const v1::Action& /*action*/) const override { return true; }

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
    return "Usage: ... action mirred DIRECTION mirror TARGET [VERDICT] [index INDEX]\n"
           "       ... action mirred DIRECTION redirect TARGET [index INDEX]\n"
           "Sends the packet, or a copy of it, to another device.\n"
           "  DIRECTION  egress | ingress: where on the other device\n"
           "  TARGET     dev NAME | blockid ID (of all devices of a block, 1 to 4294967295)\n"
           "  VERDICT    pipe, unless given; see gact. That of redirect is stolen\n"
           "  INDEX      0 (the lowest free one) to 4294967295; may also stand before TARGET\n";
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
  // Everything up to the target. tc's order of the words, for the sake of abbreviations.
  static ParseError ParseUntilTarget(Words* words, v1::Action* action, Given* given) {
    Mirred* mirred = mutable_params(action);
    while (!words->AtEnd()) {
      if (words->Matches("action")) return words->Advance();
      if (ReadDirection(*words, given)) {
        if (given->egress && given->ingress) {
          return ParseError::Return("Can't have both egress and ingress\n");
        }
        mirred->set_direction(given->egress ? Mirred::DIRECTION_EGRESS : Mirred::DIRECTION_INGRESS);
      } else if (words->Matches("index")) {
        if (ParseError error = words->Advance()) return error;
        uint32_t index = 0;
        if (!ParseU32(words->Peek(), 10, &index)) return ParseError::Return("Illegal \"index\"\n");
        action->set_index(index);
        given->index = true;
        if (!given->direction()) {
          words->Skip();
          return {};
        }
      } else if (const Mirred::Operation operation = ReadOperation(*words, *mirred);
                 operation != Mirred::OPERATION_UNSPECIFIED) {
        if (mirred->operation() != Mirred::OPERATION_UNSPECIFIED) {
          return ParseError::Return("Can't have both mirror and redir\n");
        }
        mirred->set_operation(operation);
      } else if (mirred->operation() != Mirred::OPERATION_UNSPECIFIED) {
        return ParseTarget(words, mirred);
      }
      // A word that tc does not know here is passed over.
      if (ParseError error = words->Advance()) return error;
    }
    return {};
  }

  static RuleError CheckTarget(const RuleContext& context, const Mirred& mirred) {
    if (mirred.block_id() != 0) {
      if (mirred.device().empty()) return {};
      return {"mirred.block_id", absl::StrCat(mirred.block_id(), "; not together with device"),
              "Error: act_mirred: Cannot specify Block ID and dev simultaneously."};
    }
    if (mirred.device().empty()) {
      return {"mirred.device", "none given; a device or a block_id is required",
              "Error: act_mirred: Must specify device or block."};
    }
    return CheckDevice("mirred.device", context, mirred.device());
  }
};

TCACT_REGISTER_KIND(MirredKind)

}  // namespace
}  // namespace tcact::kinds
