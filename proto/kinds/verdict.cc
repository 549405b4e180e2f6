#include "proto/kinds/verdict.h"

#include <iterator>

#include "absl/strings/str_cat.h"

namespace tcact::kinds {
namespace {

using Verdict = v1::Verdict;

// No type of ours: what a number means that the kernel does not know. CheckVerdict refuses it.
constexpr auto kNoSuchVerdict = static_cast<Verdict::Type>(1000);

struct Word {
  absl::string_view text;
  Verdict::Type type;
};

// In the order in which tc tries them: "p" is pass, not pipe.
constexpr Word kWords[] = {
    {"continue", Verdict::TYPE_CONTINUE}, {"drop", Verdict::TYPE_DROP},
    {"shot", Verdict::TYPE_DROP},         {"pass", Verdict::TYPE_PASS},
    {"ok", Verdict::TYPE_PASS},           {"reclassify", Verdict::TYPE_RECLASSIFY},
    {"pipe", Verdict::TYPE_PIPE},         {"goto", Verdict::TYPE_GOTO_CHAIN},
    {"jump", Verdict::TYPE_JUMP},         {"trap", Verdict::TYPE_TRAP},
};

// The kernel's numbers: TC_ACT_UNSPEC is -1, TC_ACT_OK 0 and so on.
constexpr Verdict::Type kByNumber[] = {
    Verdict::TYPE_PASS,   Verdict::TYPE_RECLASSIFY, Verdict::TYPE_DROP,
    Verdict::TYPE_PIPE,   Verdict::TYPE_STOLEN,     Verdict::TYPE_QUEUED,
    Verdict::TYPE_REPEAT, Verdict::TYPE_REDIRECT,   Verdict::TYPE_TRAP,
};
// The upper four bits of the extended ones; the others hold the value.
constexpr int kJumpBits = 1;
constexpr int kGotoBits = 2;
constexpr int kExtendedShift = 28;

void ReadNumber(int number, Verdict* verdict) {
  verdict->set_value(0);
  if (number == -1) {
    verdict->set_type(Verdict::TYPE_CONTINUE);
  } else if (number >= 0 && number < static_cast<int>(std::size(kByNumber))) {
    verdict->set_type(kByNumber[number]);
  } else if (number >> kExtendedShift == kJumpBits) {
    verdict->set_type(Verdict::TYPE_JUMP);
    verdict->set_value(static_cast<uint32_t>(number) & kMaxVerdictValue);
  } else if (number >> kExtendedShift == kGotoBits) {
    verdict->set_type(Verdict::TYPE_GOTO_CHAIN);
    verdict->set_value(static_cast<uint32_t>(number) & kMaxVerdictValue);
  } else {
    verdict->set_type(kNoSuchVerdict);
  }
}

// What tc prints. It has no words for queued, repeat and redirect.
absl::string_view NameOf(Verdict::Type type) {
  switch (type) {
    case Verdict::TYPE_PASS:
      return "pass";
    case Verdict::TYPE_RECLASSIFY:
      return "reclassify";
    case Verdict::TYPE_DROP:
      return "drop";
    case Verdict::TYPE_PIPE:
      return "pipe";
    case Verdict::TYPE_STOLEN:
      return "stolen";
    case Verdict::TYPE_QUEUED:
      return "5";
    case Verdict::TYPE_REPEAT:
      return "6";
    case Verdict::TYPE_REDIRECT:
      return "7";
    case Verdict::TYPE_TRAP:
      return "trap";
    case Verdict::TYPE_CONTINUE:
      return "continue";
    case Verdict::TYPE_JUMP:
      return "jump";
    case Verdict::TYPE_GOTO_CHAIN:
      return "goto";
    default:
      return "unknown";
  }
}

bool HasValue(Verdict::Type type) {
  return type == Verdict::TYPE_JUMP || type == Verdict::TYPE_GOTO_CHAIN;
}

// The words after "goto".
ParseError ParseChain(Words* words, Verdict* verdict) {
  if (ParseError error = words->Advance()) return error;
  if (!words->Matches("chain")) return ParseError::Return("\"chain index\" expected\n");
  if (ParseError error = words->Advance()) return error;
  uint32_t chain = 0;
  if (!ParseU32(words->Peek(), 10, &chain) || chain > kMaxVerdictValue) {
    return ParseError::Return("Illegal \"chain index\"\n");
  }
  verdict->set_value(chain);
  return {};
}

// The word after "jump".
ParseError ParseCount(Words* words, Verdict* verdict) {
  if (ParseError error = words->Advance()) return error;
  uint32_t count = 0;
  if (!ParseU32(words->Peek(), 10, &count) || count > kMaxVerdictValue) {
    return ParseError::Return(absl::StrCat("Invalid \"jump count\" (", words->Peek(), ")\n"));
  }
  verdict->set_value(count);
  return {};
}

RuleError CheckType(absl::string_view field, Verdict::Type otherwise, Verdict* verdict) {
  if (verdict->type() == Verdict::TYPE_UNSPECIFIED) verdict->set_type(otherwise);
  if (!Verdict::Type_IsValid(verdict->type())) {
    return {std::string(field),
            absl::StrCat(static_cast<int>(verdict->type()), " is no verdict; 0 to ",
                         static_cast<int>(Verdict::Type_MAX), " are allowed"),
            "Error: invalid control action."};
  }
  if (!HasValue(verdict->type())) {
    verdict->set_value(0);
  } else if (verdict->value() > kMaxVerdictValue) {
    return OutOfRange(absl::StrCat(field, ".value"), verdict->value(), 0, kMaxVerdictValue);
  }
  return {};
}

}  // namespace

bool ReadVerdictWord(absl::string_view word, Numbers numbers, Verdict* verdict) {
  for (const Word& known : kWords) {
    if (Abbreviates(word, known.text)) {
      verdict->set_type(known.type);
      verdict->set_value(0);
      return true;
    }
  }
  int number = 0;
  if (numbers == Numbers::kRefused || !ParseInt(word, 10, &number)) return false;
  ReadNumber(number, verdict);
  return true;
}

ParseError ParseVerdict(Words* words, Numbers numbers, Verdict* verdict) {
  // As tc: silent at the end of the words.
  if (words->AtEnd()) return ParseError::Return("");
  Verdict result;
  if (!ReadVerdictWord(words->Peek(), numbers, &result)) {
    return ParseError::Return(absl::StrCat("Bad action type ", words->Peek(), "\n"));
  }
  // A number brings its value along.
  int number = 0;
  const bool by_number = numbers == Numbers::kAllowed && ParseInt(words->Peek(), 10, &number);
  if (!by_number && result.type() == Verdict::TYPE_GOTO_CHAIN) {
    if (ParseError error = ParseChain(words, &result)) return error;
  } else if (!by_number && result.type() == Verdict::TYPE_JUMP) {
    if (ParseError error = ParseCount(words, &result)) return error;
  }
  words->Skip();
  *verdict = result;
  return {};
}

ParseError ParseVerdictPair(Words* words, Numbers numbers, Verdict* first, Verdict* second) {
  const absl::string_view word = words->Peek();
  const size_t slash = word.find('/');
  if (slash != absl::string_view::npos) {
    Verdict one;
    Verdict two;
    // tc is silent about these.
    if (!ReadVerdictWord(word.substr(0, slash), numbers, &one) ||
        !ReadVerdictWord(word.substr(slash + 1), numbers, &two)) {
      return ParseError::Return("");
    }
    *first = one;
    *second = two;
    words->Skip();
    return {};
  }
  if (ParseError error = ParseVerdict(words, numbers, first)) return error;
  if (!words->Is("/")) return {};
  if (ParseError error = words->Advance()) return error;
  return ParseVerdict(words, numbers, second);
}

ParseError ParseVerdictOr(Words* words, Numbers numbers, Verdict::Type otherwise,
                          Verdict* verdict) {
  Verdict ignored;
  if (words->AtEnd() || !ReadVerdictWord(words->Peek(), numbers, &ignored)) {
    verdict->set_type(otherwise);
    verdict->set_value(0);
    return {};
  }
  return ParseVerdict(words, numbers, verdict);
}

RuleError CheckVerdict(absl::string_view field, const RuleContext& context, Verdict::Type otherwise,
                       Verdict* verdict) {
  if (RuleError error = CheckType(field, otherwise, verdict)) return error;
  if (verdict->type() == Verdict::TYPE_GOTO_CHAIN && !context.in_filter) {
    return {std::string(field),
            absl::StrCat("goto chain ", verdict->value(), "; allowed in a bind only"),
            "Error: can't goto NULL proto/chain."};
  }
  return {};
}

RuleError CheckFallback(absl::string_view field, Verdict::Type otherwise, Verdict* verdict) {
  if (RuleError error = CheckType(field, otherwise, verdict)) return error;
  if (verdict->type() == Verdict::TYPE_GOTO_CHAIN) {
    return {std::string(field),
            absl::StrCat("goto chain ", verdict->value(), "; not allowed as a fallback"),
            "Error: goto chain not allowed on fallback."};
  }
  return {};
}

void PrintVerdict(absl::string_view prefix, const Verdict& verdict, absl::string_view suffix,
                  Printer* out) {
  out->Text(prefix);
  out->OpenObject("control_action");
  out->String("type", "%s", NameOf(verdict.type()));
  if (verdict.type() == Verdict::TYPE_GOTO_CHAIN) out->Uint("chain", " chain %u", verdict.value());
  if (verdict.type() == Verdict::TYPE_JUMP) out->Uint("jump", " %u", verdict.value());
  out->CloseObject();
  out->Text(suffix);
}

}  // namespace tcact::kinds
