#include "client/cli/complete.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/options.h"
#include "proto/kinds/words.h"

namespace tcact::cli {
namespace {

using kinds::Abbreviates;
using List = std::vector<std::string>;

const List& Counters() {
  static const auto* words =
      new List{"bytes", "packets", "drops", "overlimits", "requeues", "qlen", "backlog", "hw"};
  return *words;
}

List KindNames() {
  List names;
  for (const kinds::Kind* kind : kinds::AllKinds()) names.emplace_back(kind->name());
  return names;
}

// "-j[son]" to "-json", "-b[atch] FILE" to "-batch".
List Options() {
  List names;
  for (const HelpLine& line : OptionHelp()) {
    std::string name;
    for (const char c : line.what.substr(0, line.what.find(' '))) {
      if (c != '[' && c != ']') name += c;
    }
    names.push_back(name);
  }
  return names;
}

List With(List words, const List& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Words are lower-case letters, digits, _ and -, and begin with a letter.
std::set<std::string> WordsOf(absl::string_view text) {
  const auto belongs = [](char c) {
    return absl::ascii_islower(static_cast<unsigned char>(c)) ||
           absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  };
  std::set<std::string> words;
  std::string word;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && belongs(text[i])) {
      word += text[i];
      continue;
    }
    if (!word.empty() && absl::ascii_islower(static_cast<unsigned char>(word[0]))) {
      words.insert(word);
    }
    word.clear();
  }
  return words;
}

// Where the last "action" of the words stands; their number if there is none.
size_t LastAction(const List& words) {
  for (size_t i = words.size(); i > 0; --i) {
    if (words[i - 1] == "action") return i - 1;
  }
  return words.size();
}

// Behind "add" and its like.
List AfterAdd(const List& words) {
  const size_t at = LastAction(words);
  if (at == words.size()) return {"action"};
  if (words.back() == "action") return KindNames();
  if (words.back() == "index" || words.back() == "cookie") return {};
  if (words.back() == "hw_stats") return {"immediate", "delayed", "disabled"};
  const kinds::Kind* kind = kinds::FindKind(words[at + 1]);
  const List common = {"index", "cookie", "hw_stats", "no_percpu", "skip_hw", "skip_sw", "action"};
  return kind == nullptr ? common : With(KeywordsOf(*kind), With(common, {"help"}));
}

// Behind "get" and its like; `rest` may follow a whole key.
List AfterKey(const List& words, const List& rest) {
  if (LastAction(words) == words.size()) return {"action"};
  if (words.back() == "action") return KindNames();
  if (kinds::FindKind(words.back()) != nullptr) return {"index"};
  if (words.back() == "index" || std::find(rest.begin(), rest.end(), words.back()) != rest.end()) {
    return words.back() == "hw" ? With(rest, {"action"}) : List();
  }
  return With(rest, {"action"});
}

List AfterList(const List& words, bool flush) {
  if (words.empty()) return {"action"};
  if (words.size() == 1) return KindNames();
  return words.size() == 2 && !flush ? List{"since"} : List();
}

List AfterActions(List words) {
  if (words.empty()) {
    return {"add", "change", "replace", "get", "delete", "ls", "list", "show", "flush", "help"};
  }
  const std::string command = words.front();
  words.erase(words.begin());
  for (const char* one : {"add", "change", "replace"}) {
    if (Abbreviates(command, one)) return AfterAdd(words);
  }
  for (const char* one : {"delete", "get"}) {
    if (Abbreviates(command, one)) return AfterKey(words, {});
  }
  for (const char* one : {"list", "show", "lst"}) {
    if (Abbreviates(command, one)) return AfterList(words, false);
  }
  return Abbreviates(command, "flush") ? AfterList(words, true) : List();
}

List AfterStats(List words) {
  if (words.empty()) return {"add", "reset"};
  const bool add = Abbreviates(words.front(), "add");
  words.erase(words.begin());
  return AfterKey(words, add ? Counters() : List());
}

}  // namespace

std::vector<std::string> KeywordsOf(const kinds::Kind& kind) {
  const std::set<std::string> help = WordsOf(kind.help());
  std::set<std::string> keywords;
  for (const std::string& example : kind.examples()) {
    for (const absl::string_view word : absl::StrSplit(example, ' ', absl::SkipEmpty())) {
      if (help.count(std::string(word)) > 0) keywords.emplace(word);
    }
  }
  keywords.erase("index");
  return {keywords.begin(), keywords.end()};
}

std::vector<std::string> Complete(const std::vector<std::string>& words) {
  size_t at = 0;
  for (; at < words.size() && absl::StartsWith(words[at], "-"); ++at) {
    if (absl::StrContains(words[at], '=') || !TakesValue(words[at])) continue;
    if (++at >= words.size()) return {};
  }
  const List commands = {"actions",  "bind",  "unbind", "stats", "slabinfo",
                         "lockstat", "netns", "health", "help"};
  List rest(words.begin() + static_cast<std::ptrdiff_t>(std::min(at, words.size())), words.end());
  if (rest.empty()) return With(commands, Options());
  const std::string command = rest.front();
  rest.erase(rest.begin());
  if (Abbreviates(command, "actions")) return AfterActions(rest);
  if (Abbreviates(command, "bind")) return AfterAdd(rest);
  if (Abbreviates(command, "unbind")) return AfterKey(rest, {});
  if (Abbreviates(command, "stats")) return AfterStats(rest);
  if (Abbreviates(command, "lockstat") && rest.empty()) return {"reset"};
  if (Abbreviates(command, "netns") && rest.empty()) return {"ls", "del", "quota"};
  return {};
}

}  // namespace tcact::cli
