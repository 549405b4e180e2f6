// Random instructions on the store and on a plain model: every answer is compared, and after each
// instruction every action. A failure prints the seed and the shortest prefix of instructions that
// still fails; TCACT_SEED=N repeats it.
#include "tests/model/store_model.h"

#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "server/core/act/store.h"
#include "tests/server/core/act/store_fixture.h"

namespace tcact::act {
namespace {

// One printable instruction; owns what its Ops point to.
struct Instruction {
  enum Type { kTransaction, kAbortedTransaction, kStats, kFlush, kShrink } type = kTransaction;
  struct Item {
    OpType type;
    Kind kind;
    uint32_t index;
    std::string params;
    std::string cookie;
    bool no_percpu;
  };
  std::vector<Item> items;
  uint64_t bytes = 0;

  std::vector<Op> Ops() const {
    std::vector<Op> ops;
    for (const Item& item : items) {
      Op op = MakeOp(item.type, item.index, item.params, item.kind);
      op.spec.cookie = MakeCookie(item.cookie);
      op.spec.no_percpu = item.no_percpu;
      ops.push_back(op);
    }
    return ops;
  }

  std::string ToString() const {
    static constexpr const char* kTypes[] = {"run", "abort", "stats", "flush", "shrink"};
    static constexpr const char* kOps[] = {"create", "replace", "delete",
                                           "bind",   "unbind",  "reset"};
    std::vector<std::string> words;
    for (const Item& item : items) {
      words.push_back(absl::StrCat(kOps[static_cast<int>(item.type)], " ", item.kind, ":",
                                   item.index, " params=", item.params.size(),
                                   item.params.substr(0, 1), " cookie=", item.cookie,
                                   item.no_percpu ? " no_percpu" : ""));
    }
    return absl::StrCat(kTypes[type], " bytes=", bytes, " [", absl::StrJoin(words, ", "), "]");
  }
};

std::vector<Instruction> MakeProgram(uint64_t seed, size_t length) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return random() % n; };
  std::vector<Instruction> program(length);
  for (Instruction& instruction : program) {
    const uint64_t dice = below(100);
    instruction.type = dice < 60   ? Instruction::kTransaction
                       : dice < 70 ? Instruction::kAbortedTransaction
                       : dice < 95 ? Instruction::kStats
                       : dice < 98 ? Instruction::kFlush
                                   : Instruction::kShrink;
    instruction.bytes = below(1000);
    const uint64_t count = below(4) != 0 ? 1 : 1 + below(6);
    for (uint64_t i = 0; i < count; ++i) {
      instruction.items.push_back({static_cast<OpType>(below(6)), below(3) == 0 ? kLarge : kSmall,
                                   static_cast<uint32_t>(below(8)),
                                   std::string(below(60), static_cast<char>('a' + below(26))),
                                   std::string(below(3) == 0 ? below(17) : 0, 'c'), below(5) == 0});
    }
  }
  return program;
}

class Machine {
 public:
  explicit Machine(AllocMode mode) : store_(mode) {}

  // Empty if the store did as the model says.
  std::string Step(const Instruction& instruction) {
    ++now_ms_;
    const std::string difference = Do(instruction);
    return difference.empty() ? Compare() : difference;
  }

 private:
  std::string Do(const Instruction& instruction) {
    switch (instruction.type) {
      case Instruction::kTransaction: {
        const std::vector<Op> ops = instruction.Ops();
        const Errc got = store_.Run(ops, now_ms_).code;
        const Errc expected = model_.Run(ops, now_ms_);
        if (got == expected) return "";
        return absl::StrCat("answer ", static_cast<int>(got), ", model says ",
                            static_cast<int>(expected));
      }
      case Instruction::kAbortedTransaction: {
        const std::vector<Op> ops = instruction.Ops();
        Transaction txn;
        (void)store_->Prepare(store_.netns(), ops, now_ms_, &txn);
        return "";
      }
      case Instruction::kStats: {
        const auto& item = instruction.items[0];
        const bool got = store_->UpdateStats(store_.netns(), item.kind, item.index,
                                             {.bytes = instruction.bytes, .packets = 1}, now_ms_);
        const bool expected =
            model_.UpdateStats(item.kind, item.index, instruction.bytes, 1, now_ms_);
        return got == expected ? "" : "statistics counted differently";
      }
      case Instruction::kFlush: {
        Transaction txn;
        uint32_t got = 0;
        const Kind kind = instruction.items[0].kind;
        if (store_->PrepareFlush(store_.netns(), kind, true, &txn, &got).ok()) store_->Commit(&txn);
        const uint32_t expected = model_.Flush(kind);
        return got == expected ? ""
                               : absl::StrCat("flush stopped at ", got, ", model says ", expected);
      }
      case Instruction::kShrink:
        store_->Shrink();
        return "";
    }
    return "";
  }

  std::string Compare() {
    size_t seen = 0;
    std::string difference;
    for (const Kind kind : {kSmall, kLarge}) {
      store_->Dump(store_.netns(), kind, 1, {}, [&](Snapshot& got) {
        ++seen;
        const auto expected = model_.actions().find({kind, got.index});
        if (expected == model_.actions().end()) {
          difference = absl::StrCat("the model has no ", kind, ":", got.index);
        } else if (!Equal(got, expected->second)) {
          difference = absl::StrCat(
              kind, ":", got.index, " differs: ref ", got.refcnt, " bind ", got.bindcnt, " bytes ",
              got.counters.bytes, " params ", got.params.size(), "; model: ref ",
              expected->second.refs(), " bind ", expected->second.binds, " bytes ",
              expected->second.bytes, " params ", expected->second.params.size());
        }
        return difference.empty();
      });
    }
    if (difference.empty() && seen != model_.actions().size()) {
      difference =
          absl::StrCat("the store has ", seen, " actions, the model ", model_.actions().size());
    }
    return difference;
  }

  static bool Equal(const Snapshot& got, const ModelAction& model) {
    return got.refcnt == model.refs() && got.bindcnt == model.binds && got.params == model.params &&
           got.cookie.view() == model.cookie && got.no_percpu == model.no_percpu &&
           got.installed_ms == model.installed_ms && got.last_used_ms == model.last_used_ms &&
           got.first_used_ms == model.first_used_ms && got.counters.bytes == model.bytes &&
           got.counters.packets == model.packets;
  }

  TestStore store_;
  StoreModel model_;
  int64_t now_ms_ = 1000;
};

// The position of the first failing instruction and what differed; empty if none.
std::string RunProgram(AllocMode mode, const std::vector<Instruction>& program, size_t* failed_at) {
  Machine machine(mode);
  for (size_t i = 0; i < program.size(); ++i) {
    const std::string difference = machine.Step(program[i]);
    if (!difference.empty()) {
      *failed_at = i;
      return difference;
    }
  }
  return "";
}

// Leaves out what is not needed for the program to fail.
std::vector<Instruction> Minimize(AllocMode mode, std::vector<Instruction> program) {
  for (size_t i = program.size(); i-- > 0;) {
    std::vector<Instruction> shorter = program;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
    size_t failed_at = 0;
    if (!RunProgram(mode, shorter, &failed_at).empty()) {
      shorter.resize(failed_at + 1);
      program = std::move(shorter);
      i = std::min(i, program.size());
    }
  }
  return program;
}

class StoreModelTest : public ::testing::TestWithParam<AllocMode> {};

INSTANTIATE_TEST_SUITE_P(Modes, StoreModelTest,
                         ::testing::Values(AllocMode::kPerObject, AllocMode::kSlab,
                                           AllocMode::kSlabMerged));

TEST_P(StoreModelTest, DoesWhatTheModelSays) {
  constexpr int kPrograms = 60;
  constexpr size_t kLength = 250;
  const char* given = std::getenv("TCACT_SEED");
  const uint64_t first =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  for (int i = 0; i < (given != nullptr ? 1 : kPrograms); ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    std::vector<Instruction> program = MakeProgram(seed, kLength);
    size_t failed_at = 0;
    const std::string difference = RunProgram(GetParam(), program, &failed_at);
    if (difference.empty()) continue;
    program.resize(failed_at + 1);
    std::ostringstream text;
    for (const Instruction& instruction : Minimize(GetParam(), program)) {
      text << "  " << instruction.ToString() << "\n";
    }
    FAIL() << "seed " << seed << ", instruction " << failed_at << ": " << difference
           << "\nshortest failing program:\n"
           << text.str();
  }
}

// The harness must be able to fail: a model that forgets a rule is found out.
TEST(StoreModelCanary, AWrongModelIsNoticed) {
  StoreModel model;
  TestStore store;
  const std::vector<Op> ops = {MakeOp(OpType::kBind, 1)};
  ASSERT_EQ(store.Run(ops).code, model.Run(ops, 1000));
  ModelAction wrong = model.actions().begin()->second;
  EXPECT_EQ(store.Get(1).refcnt, wrong.refs());
  wrong.standalone = true;
  EXPECT_NE(store.Get(1).refcnt, wrong.refs());
}

}  // namespace
}  // namespace tcact::act
