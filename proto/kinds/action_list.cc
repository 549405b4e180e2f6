#include "proto/kinds/action_list.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

constexpr absl::string_view kGact = "gact";

bool BeginsCommand(const Words& words) {
  for (const absl::string_view command : {"change", "replace", "delete", "get", "add"}) {
    if (words.Matches(command)) return true;
  }
  return false;
}

bool IsVerdict(absl::string_view word) {
  v1::Verdict ignored;
  return ReadVerdictWord(word, Numbers::kRefused, &ignored);
}

// The kind that the word under the cursor names; past it, unless it belongs to gact's own words.
// *known is false if the word is neither a kind nor a verdict, which gact stands for.
const Kind* TakeKind(Words* words, bool* known) {
  *known = true;
  if (!IsVerdict(words->Peek())) {
    if (const Kind* kind = FindKind(words->Peek())) {
      words->Skip();
      return kind;
    }
    *known = false;
    if (words->Matches(kGact)) words->Skip();
  }
  return FindKind(kGact);
}

// The cookie after a kind's words, if there is one.
ParseError ParseCookie(Words* words, std::string* cookie) {
  if (!words->Is("cookie")) return {};
  if (ParseError error = words->Advance()) return error;
  const absl::string_view word = words->Peek();
  if (word.size() > 2 * kMaxCookieBytes) {
    return ParseError::Invalid(absl::StrCat(word.size(), " Max allowed size ", 2 * kMaxCookieBytes),
                               word);
  }
  if (!ParseHex(word, cookie)) {
    return ParseError::Invalid("cookie must be a hex string\n", word);
  }
  words->Skip();
  return {};
}

ParseError ParseHwStats(Words* words, v1::Action* action) {
  if (!words->Matches("hw_stats")) return {};
  if (ParseError error = words->Advance()) return error;
  if (words->Matches("immediate")) {
    action->set_hw_stats(v1::HW_STATS_IMMEDIATE);
  } else if (words->Matches("delayed")) {
    action->set_hw_stats(v1::HW_STATS_DELAYED);
  } else if (words->Matches("disabled")) {
    action->set_hw_stats(v1::HW_STATS_DISABLED);
  } else {
    return ParseError::Invalid("value is invalid\n", words->Peek());
  }
  words->Skip();
  return {};
}

void ParseFlags(Words* words, v1::Action* action) {
  if (words->Is("no_percpu")) {
    action->set_no_percpu(true);
    words->Skip();
  }
  // Two of them at most, in any order.
  for (int i = 0; i < 2; ++i) {
    if (words->Is("skip_sw")) {
      action->set_skip_sw(true);
    } else if (words->Is("skip_hw")) {
      action->set_skip_hw(true);
    } else {
      return;
    }
    words->Skip();
  }
}

// "parse_action: ..." as tc ends an error in a list. `start` is where the failed action began.
ParseError BadValue(ParseError error, Words* words, size_t start) {
  if (error.then != ParseError::Then::kReturn) return error;
  words->MarkWrong();
  words->set_position(start);
  const absl::string_view word = words->AtEnd() ? "(null)" : words->Peek();
  absl::StrAppend(&error.text, "parse_action: bad value (", words->left(), ":", word, ")!\n");
  return error;
}

// The action under the cursor. *cookie is the one that holds, and may change.
ParseError ParseAction(Words* words, std::string* cookie, v1::Action* action) {
  const size_t start = words->position();
  const std::string word(words->Peek());
  bool known = false;
  const Kind* kind = TakeKind(words, &known);
  // Without gact there is nothing to fall back on.
  if (kind == nullptr) return ParseError::Exit("gact is not among the kinds of this program\n");
  action->set_kind(std::string(kind->name()));
  if (ParseError error = kind->Parse(words, action)) {
    if (error.then == ParseError::Then::kReturn) error.text += "bad action parsing\n";
    return BadValue(std::move(error), words, start);
  }
  // tc sends gact's words under the unknown name, and the kernel looks for a module.
  if (!known) {
    return ParseError::Return(absl::StrCat("Error: Failed to load TC action module.\n\"", word,
                                           "\" is no action that this program knows.\n"));
  }
  if (ParseError error = ParseCookie(words, cookie)) return error;
  action->set_cookie(*cookie);
  if (ParseError error = ParseHwStats(words, action)) return error;
  ParseFlags(words, action);
  return {};
}

}  // namespace

ParseError ParseActions(Words* words, std::vector<v1::Action>* actions,
                        std::vector<size_t>* starts) {
  // As tc: silent at the end of the words.
  if (words->AtEnd()) return ParseError::Return("");
  std::string cookie;
  bool expected = false;
  while (!words->AtEnd()) {
    if (words->Is("action")) {
      words->Skip();
      expected = true;
      continue;
    }
    if (words->Is("flowid") || words->Is("classid") || BeginsCommand(*words)) break;
    if (words->Is("help")) return ParseError::Return("");
    v1::Action action;
    const size_t start = words->position();
    if (ParseError error = ParseAction(words, &cookie, &action)) return error;
    actions->push_back(std::move(action));
    if (starts != nullptr) starts->push_back(start);
    expected = false;
  }
  if (expected && !BeginsCommand(*words)) {
    return BadValue(ParseError::Return("bad action empty 1\n"), words, words->position());
  }
  return {};
}

ParseError ParseKeys(Words* words, std::vector<v1::ActionKey>* keys) {
  while (!words->AtEnd()) {
    if (words->Is("action")) {
      words->Skip();
      continue;
    }
    if (words->Is("help")) return ParseError::Return("");
    const absl::string_view word = words->Peek();
    const Kind* kind = IsVerdict(word) ? FindKind(kGact) : FindKind(word);
    if (kind == nullptr) {
      return ParseError::Return(absl::StrCat("Error: non existent action: ", word, "\n"));
    }
    words->Skip();
    if (!words->Matches("index")) {
      return ParseError::Return(
          absl::StrCat("Error: no index specified action: ", kind->name(), "\n"));
    }
    if (ParseError error = words->Advance()) return error;
    uint32_t index = 0;
    if (!ParseU32(words->Peek(), 10, &index)) return ParseError::Return("Illegal \"index\"\n");
    words->Skip();
    v1::ActionKey key;
    key.set_kind(std::string(kind->name()));
    key.set_index(index);
    keys->push_back(std::move(key));
  }
  return {};
}

}  // namespace tcact::kinds
