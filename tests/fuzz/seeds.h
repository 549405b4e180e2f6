// Inputs to begin with, made of the examples of every kind.
#ifndef TCACT_TESTS_FUZZ_SEEDS_H_
#define TCACT_TESTS_FUZZ_SEEDS_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/kinds/kind.h"

namespace tcact::fuzz {

struct Seed {
  std::string target;  // "grammar" or "action"
  std::string name;
  std::string bytes;
};

inline std::vector<Seed> Seeds() {
  std::vector<Seed> seeds;
  const std::vector<const kinds::Kind*> all = kinds::AllKinds();
  for (size_t k = 0; k < all.size(); ++k) {
    const std::string kind(all[k]->name());
    int number = 0;
    for (const std::string& example : all[k]->examples()) {
      const std::string name = absl::StrCat(kind, "-", number++);
      const std::string lines = absl::StrReplaceAll(example, {{" ", "\n"}});
      seeds.push_back({"grammar", name, absl::StrCat(std::string(1, static_cast<char>(k)), lines)});
      seeds.push_back({"grammar", absl::StrCat("list-", name),
                       absl::StrCat(std::string(1, static_cast<char>(all.size())), "action\n", kind,
                                    "\n", lines, "\ncookie\nfeed\nskip_hw")});
      kinds::Words words = kinds::Words::Split(example);
      v1::Action action;
      if (!all[k]->Parse(&words, &action)) {
        seeds.push_back({"action", name, action.SerializeAsString()});
      }
    }
  }
  return seeds;
}

}  // namespace tcact::fuzz

#endif  // TCACT_TESTS_FUZZ_SEEDS_H_
