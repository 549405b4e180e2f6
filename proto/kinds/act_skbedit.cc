// skbedit: edits what the kernel knows of a packet.
#include <array>

#include "absl/strings/str_format.h"
#include "proto/kinds/classid.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Skbedit;
using v1::Verdict;

constexpr uint32_t kMaxQueue = 0xffff;
// By the kernel's numbers, in tc's order.
constexpr std::array<absl::string_view, 4> kTypes = {"host", "broadcast", "multicast", "otherhost"};

// How many of the edits are given.
int Edits(const Skbedit& skbedit) {
  return (skbedit.has_queue_mapping() ? 1 : 0) + (skbedit.has_priority() ? 1 : 0) +
         (skbedit.has_mark() ? 1 : 0) + (skbedit.has_ptype() ? 1 : 0) +
         (skbedit.inherit_dsfield() ? 1 : 0);
}

ParseError ReadQueue(Words* words, Skbedit* skbedit) {
  uint32_t queue = 0;
  if (!ParseU32(words->Peek(), 10, &queue) || queue > kMaxQueue) {
    return ParseError::Return("Illegal queue_mapping\n");
  }
  skbedit->set_queue_mapping(queue);
  return {};
}

ParseError ReadPriority(Words* words, Skbedit* skbedit) {
  uint32_t priority = 0;
  if (!ParseClassId(words->Peek(), &priority)) return ParseError::Return("Illegal priority\n");
  skbedit->set_priority(priority);
  return {};
}

// "7" or "7/0xff".
ParseError ReadMark(Words* words, Skbedit* skbedit) {
  const absl::string_view word = words->Peek();
  const size_t slash = word.find('/');
  uint32_t mark = 0;
  if (!ParseU32(word.substr(0, slash), 0, &mark)) return ParseError::Return("Illegal mark\n");
  skbedit->set_mark(mark);
  if (slash == absl::string_view::npos) return {};
  uint32_t mask = 0;
  if (!ParseU32(word.substr(slash + 1), 0, &mask)) return ParseError::Return("Illegal mask\n");
  skbedit->set_mask(mask);
  return {};
}

ParseError ReadType(Words* words, Skbedit* skbedit) {
  for (uint32_t i = 0; i < kTypes.size(); ++i) {
    if (!words->Matches(kTypes[i])) continue;
    skbedit->set_ptype(i);
    return {};
  }
  return ParseError::Return(absl::StrFormat("Illegal ptype (%s)\n", words->Peek()));
}

struct Keyword {
  absl::string_view word;
  ParseError (*read)(Words*, Skbedit*);
};

constexpr Keyword kKeywords[] = {
    {"queue_mapping", &ReadQueue},
    {"priority", &ReadPriority},
    {"mark", &ReadMark},
    {"ptype", &ReadType},
};

const Keyword* FindKeyword(const Words& words) {
  for (const Keyword& keyword : kKeywords) {
    if (words.Matches(keyword.word)) return &keyword;
  }
  return nullptr;
}

class SkbeditKind : public KindOf<Skbedit, v1::Action::kSkbeditFieldNumber, &v1::Action::skbedit,
                                  &v1::Action::mutable_skbedit> {
 public:
  absl::string_view name() const override { return "skbedit"; }
  // One or two edits of up to 6 bytes and a verdict.
  uint32_t inline_params() const override { return 24; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Skbedit* skbedit = mutable_params(action);
    while (!words->AtEnd()) {
      if (const Keyword* keyword = FindKeyword(*words)) {
        if (ParseError error = words->Advance()) return error;
        if (ParseError error = keyword->read(words, skbedit)) return error;
      } else if (words->Matches("inheritdsfield")) {
        skbedit->set_inherit_dsfield(true);
      } else if (words->Matches("help")) {
        return ParseError::Exit(std::string(help()));
      } else {
        break;
      }
      words->Skip();
    }
    if (ParseError error = ParseVerdictOr(words, Numbers::kRefused, Verdict::TYPE_PIPE,
                                          skbedit->mutable_verdict())) {
      return error;
    }
    if (Edits(*skbedit) == 0 && !words->Matches("index")) {
      return ParseError::Return(std::string(help()));
    }
    return ParseIndex(words, name(), action);
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Skbedit* skbedit = mutable_params(action);
    if (Edits(*skbedit) == 0) {
      return {"skbedit",
              "nothing to edit; one of queue_mapping, priority, mark, ptype and inherit_dsfield "
              "is required",
              "RTNETLINK answers: Invalid argument"};
    }
    if (skbedit->queue_mapping() > kMaxQueue) {
      return OutOfRange("skbedit.queue_mapping", skbedit->queue_mapping(), 0, kMaxQueue);
    }
    if (skbedit->ptype() >= kTypes.size()) {
      return OutOfRange("skbedit.ptype", skbedit->ptype(), 0, kTypes.size() - 1);
    }
    if (!skbedit->has_mark()) skbedit->clear_mask();
    return CheckVerdict("skbedit.verdict", context, Verdict::TYPE_PIPE, skbedit->mutable_verdict());
  }

  // The kernel hands a single edit on: of priority, mark (without mask) or ptype.
  bool Offloadable(const v1::Action& action) const override {
    const Skbedit& skbedit = params(action);
    return Edits(skbedit) == 1 && !skbedit.has_queue_mapping() && !skbedit.has_mask() &&
           !skbedit.inherit_dsfield();
  }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Skbedit& skbedit = params(action);
    if (skbedit.has_queue_mapping()) {
      out->Uint("queue_mapping", "queue_mapping %u", skbedit.queue_mapping());
    }
    if (skbedit.has_priority()) {
      out->String("priority", " priority %s", FormatClassId(skbedit.priority()));
    }
    if (skbedit.has_mark()) out->Uint("mark", " mark %u", skbedit.mark());
    if (skbedit.has_mask()) out->HexDigits("mask", "/%#x", skbedit.mask());
    if (skbedit.has_ptype()) {
      out->String("ptype", " ptype %s", kTypes[skbedit.ptype() % kTypes.size()]);
    }
    if (skbedit.inherit_dsfield()) out->Null("inheritdsfield", " inheritdsfield");
    PrintVerdict(" ", skbedit.verdict(), "", out);
    out->Line();
    PrintCounts(action, options, out);
  }

  absl::string_view help() const override {
    return "Usage: ... action skbedit [queue_mapping QUEUE] [priority CLASSID] [mark MARK[/MASK]]\n"
           "                          [ptype TYPE] [inheritdsfield] [VERDICT] [index INDEX]\n"
           "Edits what the kernel knows of a packet; at least one edit is required.\n"
           "  QUEUE           transmit queue, 0 to 65535\n"
           "  CLASSID         the priority as a class: MAJOR:MINOR in hexadecimal, root or none\n"
           "  MARK, MASK      0 to 4294967295; only the bits of MASK change\n"
           "  TYPE            host | broadcast | multicast | otherhost\n"
           "  inheritdsfield  the priority from the packet's DS field\n"
           "  VERDICT         pipe, unless given; see gact\n"
           "  INDEX           0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"queue_mapping 65535",
            "priority ffff:1 index 4",
            "priority none drop",
            "priority root",
            "mark 7",
            "mark 0xffffffff/0x0 pass",
            "ptype broadcast",
            "inheritdsfield",
            "queue_mapping 2 priority :a mark 7/0xff ptype otherhost inheritdsfield jump 2"};
  }
};

TCACT_REGISTER_KIND(SkbeditKind)

}  // namespace
}  // namespace tcact::kinds
