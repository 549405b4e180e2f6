// What holds for every kind: these tests need no change when one is added.
#include <algorithm>
#include <random>
#include <set>

#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using google::protobuf::util::MessageDifferencer;

const google::protobuf::OneofDescriptor* Params() {
  return v1::Action::descriptor()->FindOneofByName("params");
}

// A kind's example, read.
v1::Action Example(const Kind& kind, absl::string_view text) {
  Words words = Words::Split(text);
  v1::Action action;
  action.set_kind(std::string(kind.name()));
  const ParseError error = kind.Parse(&words, &action);
  EXPECT_FALSE(error) << kind.name() << " " << text << ": " << error.text;
  EXPECT_TRUE(words.AtEnd()) << kind.name() << " " << text << ": not read from " << words.Peek();
  return action;
}

// Calls `check` with every example of every kind, normalized as in a bind.
template <typename Check>
void ForEachExample(Check check) {
  for (const Kind* kind : AllKinds()) {
    for (const std::string& text : kind->examples()) {
      SCOPED_TRACE(std::string(kind->name()) + " " + text);
      v1::Action action = Example(*kind, text);
      const RuleError error = kind->Normalize({.in_filter = true}, &action);
      EXPECT_FALSE(error) << error.field << ": " << error.text;
      check(*kind, action);
    }
  }
}

std::string Printed(const Kind& kind, const v1::Action& action, const PrintOptions& options) {
  std::string text;
  Printer out(options, &text);
  out.OpenObject();
  kind.PrintHead(&out);
  kind.Print(action, options, &out);
  out.CloseObject();
  return text;
}

// tc's JSON of these does not say which kind it is.
std::set<absl::string_view> WithoutKindInJson() { return {"gate", "nat", "simple", "skbmod"}; }

TEST(Registry, HasTheKindsOfTheOneofAndNoOther) {
  ASSERT_NE(Params(), nullptr);
  EXPECT_EQ(AllKinds().size(), static_cast<size_t>(Params()->field_count()));
  for (int i = 0; i < Params()->field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = Params()->field(i);
    const Kind* kind = FindKind(field->number());
    ASSERT_NE(kind, nullptr) << field->name() << " has no act_" << field->name() << ".cc";
    EXPECT_EQ(kind->name(), field->name());
    EXPECT_EQ(FindKind(field->name()), kind);
  }
}

TEST(Registry, IsAscendingByName) {
  std::vector<std::string> names;
  for (const Kind* kind : AllKinds()) names.emplace_back(kind->name());
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(Registry, KnowsNoOtherNames) {
  EXPECT_EQ(FindKind("nosuch"), nullptr);
  EXPECT_EQ(FindKind(""), nullptr);
  EXPECT_EQ(FindKind(0), nullptr);
  EXPECT_EQ(KindOfAction(v1::Action()), nullptr);
}

TEST(RegistryDeathTest, ANameIsTakenOnce) {
  EXPECT_DEATH(internal::Register(FindKind("gact")), "kind gact: its name or number 16 is taken");
}

TEST(EveryKind, HasHelpAndExamples) {
  for (const Kind* kind : AllKinds()) {
    EXPECT_FALSE(kind->help().empty()) << kind->name();
    EXPECT_EQ(kind->help().back(), '\n') << kind->name();
    EXPECT_FALSE(kind->examples().empty()) << kind->name();
    EXPECT_GE(kind->inline_params(), 8u) << kind->name();
    EXPECT_LE(kind->inline_params(), 1024u) << kind->name();
  }
}

TEST(EveryKind, SetsItsOwnParams) {
  ForEachExample([](const Kind& kind, const v1::Action& action) {
    EXPECT_EQ(action.params_case(), kind.field_number());
    EXPECT_EQ(KindOfAction(action), &kind);
  });
}

TEST(EveryKind, IsNormalAfterOneNormalize) {
  ForEachExample([](const Kind& kind, const v1::Action& action) {
    v1::Action again = action;
    EXPECT_FALSE(kind.Normalize({.in_filter = true}, &again));
    EXPECT_TRUE(MessageDifferencer::Equals(action, again)) << again.ShortDebugString();
  });
}

TEST(EveryKind, DecodesWhatItEncodes) {
  ForEachExample([](const Kind& kind, const v1::Action& action) {
    std::string bytes = "to be replaced";
    kind.Encode(action, &bytes);
    v1::Action decoded = action;
    decoded.clear_params();
    ASSERT_TRUE(kind.Decode(bytes, &decoded));
    EXPECT_TRUE(MessageDifferencer::Equals(action, decoded)) << decoded.ShortDebugString();
    std::string again;
    kind.Encode(decoded, &again);
    EXPECT_EQ(bytes, again);
  });
}

TEST(EveryKind, FitsItsExamplesInline) {
  size_t inside = 0;
  size_t all = 0;
  ForEachExample([&](const Kind& kind, const v1::Action& action) {
    std::string bytes;
    kind.Encode(action, &bytes);
    ++all;
    if (bytes.size() <= kind.inline_params()) ++inside;
  });
  // Nearly all; examples are odder than what people use.
  EXPECT_GE(inside * 10, all * 7) << inside << " of " << all;
}

TEST(EveryKind, RefusesBytesThatAreNoneOfIts) {
  for (const Kind* kind : AllKinds()) {
    v1::Action action;
    EXPECT_FALSE(kind->Decode("\xff\xff\xff", &action)) << kind->name();
  }
}

TEST(EveryKind, ReadsNoWordsAsIncompleteUnlessNoneAreNeeded) {
  const std::set<absl::string_view> complete = {"connmark", "ct", "ctinfo"};
  for (const Kind* kind : AllKinds()) {
    Words words({});
    v1::Action action;
    EXPECT_EQ(!kind->Parse(&words, &action), complete.count(kind->name()) != 0) << kind->name();
  }
}

// Any prefix and any single-word change of an example ends without a crash, and what is accepted
// can be normalized, printed and encoded.
TEST(EveryKind, SurvivesMangledExamples) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::vector<std::string> spoilers = {"",      "-1",    "4294967296", "foo",
                                             "/",     "index", "0",          "99999999999999999999",
                                             "1e308", "help",  "a/b"};
  for (const Kind* kind : AllKinds()) {
    for (const std::string& text : kind->examples()) {
      for (int i = 0; i < 50; ++i) {
        std::vector<std::string> mangled;
        for (Words words = Words::Split(text); !words.AtEnd(); words.Skip()) {
          if (random() % 4 == 0) {
            mangled.push_back(spoilers[random() % spoilers.size()]);
          } else {
            mangled.emplace_back(words.Peek());
          }
        }
        mangled.resize(random() % (mangled.size() + 1));
        Words words(mangled);
        v1::Action action;
        if (kind->Parse(&words, &action)) continue;
        if (kind->Normalize({}, &action)) continue;
        std::string bytes;
        kind->Encode(action, &bytes);
        EXPECT_FALSE(Printed(*kind, action, {}).empty());
      }
    }
  }
}

TEST(EveryKind, PrintsTextThatEndsItsLineAndJsonWithKindAndIndex) {
  ForEachExample([](const Kind& kind, v1::Action action) {
    action.set_index(7);
    action.set_refcnt(3);
    action.set_bindcnt(2);
    PrintOptions options;
    options.stats = true;
    const std::string text = Printed(kind, action, options);
    // bpf leaves a blank before the line that follows.
    EXPECT_EQ(text[text.find_last_not_of(' ')], '\n');
    EXPECT_NE(text.find("ref 3 bind 2"), std::string::npos) << text;
    EXPECT_NE(text.find("installed 0 sec used 0 sec"), std::string::npos) << text;
    options.json = true;
    const std::string json = Printed(kind, action, options);
    EXPECT_EQ(json.find('\n'), std::string::npos) << json;
    const bool named = json.find("{\"kind\":\"" + std::string(kind.name()) + "\"") == 0;
    EXPECT_EQ(named, WithoutKindInJson().count(kind.name()) == 0) << json;
    EXPECT_NE(json.find("\"index\":7"), std::string::npos) << json;
    EXPECT_NE(json.find("\"ref\":3,\"bind\":2"), std::string::npos) << json;
  });
}

}  // namespace
}  // namespace tcact::kinds
