// Any words: nothing crashes, and what the grammar and the rules let pass can be printed.
//
// The input is a command's words, separated by line ends; they are read as a list of actions
// ("action mirred egress ...") and, with the first byte choosing, as the words of one kind.
#include <cstdlib>

#include "absl/strings/str_split.h"
#include "proto/kinds/action_list.h"
#include "proto/kinds/action_print.h"
#include "proto/kinds/kind.h"
#include "tests/fuzz/targets.h"

namespace tcact::fuzz {
namespace {

using kinds::Kind;

void PrintAllWays(const v1::Action& action) {
  for (const bool json : {false, true}) {
    kinds::PrintOptions options;
    options.stats = true;
    options.details = true;
    options.raw = true;
    options.json = json;
    kinds::Listing listing(options, 0);
    listing.Add(action);
    if (listing.Close(1).empty()) std::abort();
  }
}

void Judge(v1::Action* action) {
  const Kind* kind = kinds::KindOfAction(*action);
  // A parser that succeeds leaves params.
  if (kind == nullptr) std::abort();
  if (kind->Normalize({.in_filter = true}, action)) return;
  PrintAllWays(*action);
}

}  // namespace

int Grammar(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string> split = absl::StrSplit(text, '\n', absl::SkipEmpty());
  const std::vector<const Kind*> all = kinds::AllKinds();
  kinds::Words words(split);
  if (data[0] % (all.size() + 1) == all.size()) {
    std::vector<v1::Action> actions;
    if (kinds::ParseActions(&words, &actions)) return 0;
    for (v1::Action& action : actions) Judge(&action);
    return 0;
  }
  v1::Action action;
  if (all[data[0] % (all.size() + 1)]->Parse(&words, &action)) return 0;
  Judge(&action);
  return 0;
}

}  // namespace tcact::fuzz
