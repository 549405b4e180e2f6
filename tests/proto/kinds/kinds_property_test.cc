// What holds for any action of any kind, however strange: examples are changed field by field at
// random, and what Normalize lets pass must survive storing and printing. No kind is named here.
#include <iostream>
#include <random>

#include "google/protobuf/message.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/kinds/action_print.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kChangedPerKind = 4000;

class Changer {
 public:
  explicit Changer(uint64_t seed) : random_(seed) {}

  // Changes one field of the message, or of a message inside.
  void Change(Message* message) {
    const auto* descriptor = message->GetDescriptor();
    const FieldDescriptor* field = descriptor->field(Below(descriptor->field_count()));
    const Reflection* reflection = message->GetReflection();
    if (Below(8) == 0) return reflection->ClearField(message, field);
    if (field->is_repeated()) return ChangeList(message, field);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return Change(reflection->MutableMessage(message, field));
    }
    SetScalar(message, field);
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }

  // A number near one of the limits that rules have.
  uint64_t Number() {
    constexpr uint64_t kEdges[] = {0,       1,          2,          3,          7,         63,
                                   255,     256,        4094,       4095,       65535,     65536,
                                   0xfffff, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX};
    if (Below(4) == 0) return random_();
    return kEdges[Below(std::size(kEdges))] + static_cast<uint64_t>(Below(3)) - 1;
  }

  std::string Bytes() {
    constexpr size_t kSizes[] = {0, 1, 4, 6, 15, 16, 17, 32};
    std::string bytes(kSizes[Below(std::size(kSizes))], '\0');
    const bool printable = Below(2) == 0;
    for (char& byte : bytes) {
      byte = printable ? static_cast<char>('a' + Below(26)) : static_cast<char>(random_());
    }
    return bytes;
  }

  void ChangeList(Message* message, const FieldDescriptor* field) {
    const Reflection* reflection = message->GetReflection();
    const int size = reflection->FieldSize(*message, field);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return;
    if (size > 0 && Below(3) == 0) return reflection->RemoveLast(message, field);
    if (size > 0 && Below(2) == 0) {
      return Change(reflection->MutableRepeatedMessage(message, field, Below(size)));
    }
    Message* added = reflection->AddMessage(message, field);
    for (int i = 0; i < 4; ++i) Change(added);
  }

  void SetScalar(Message* message, const FieldDescriptor* field) {
    const Reflection* reflection = message->GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_UINT32:
        return reflection->SetUInt32(message, field, static_cast<uint32_t>(Number()));
      case FieldDescriptor::CPPTYPE_UINT64:
        return reflection->SetUInt64(message, field, Number());
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection->SetInt32(message, field, static_cast<int32_t>(Number()));
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection->SetInt64(message, field, static_cast<int64_t>(Number()));
      case FieldDescriptor::CPPTYPE_BOOL:
        return reflection->SetBool(message, field, Below(2) == 0);
      case FieldDescriptor::CPPTYPE_ENUM:
        return reflection->SetEnumValue(message, field, Below(15) - 1);
      case FieldDescriptor::CPPTYPE_STRING:
        if (field->type() == FieldDescriptor::TYPE_BYTES) {
          return reflection->SetString(message, field, Bytes());
        }
        return reflection->SetString(message, field, std::string("dev") + std::to_string(Below(9)));
      default:
        ADD_FAILURE() << field->full_name() << ": a type that this test does not know";
    }
  }

  std::mt19937_64 random_;
};

Message* ParamsOf(v1::Action* action) {
  const FieldDescriptor* field = action->GetReflection()->GetOneofFieldDescriptor(
      *action, v1::Action::descriptor()->FindOneofByName("params"));
  return action->GetReflection()->MutableMessage(action, field);
}

// Storing gives the same action back, byte for byte.
void ExpectStorable(const Kind& kind, const v1::Action& action) {
  std::string bytes;
  kind.Encode(action, &bytes);
  v1::Action decoded;
  ASSERT_TRUE(kind.Decode(bytes, &decoded));
  std::string again;
  kind.Encode(decoded, &again);
  EXPECT_EQ(bytes, again);
  EXPECT_FALSE(kind.Normalize({.in_filter = true}, &decoded));
  kind.Encode(decoded, &again);
  EXPECT_EQ(bytes, again) << "not normal: " << action.ShortDebugString();
}

// Text ends its line; JSON is JSON.
void ExpectPrintable(const v1::Action& action) {
  PrintOptions options;
  options.stats = true;
  std::string text;
  Printer printer(options, &text);
  PrintAction(action, 0, options, &printer);
  EXPECT_EQ(text.back(), '\n') << text;
  options.json = true;
  Listing listing(options, 0);
  listing.Add(action);
  const std::string json = listing.Close(1);
  EXPECT_TRUE(nlohmann::json::accept(json)) << json;
}

TEST(AnyAction, ThatRulesLetPassCanBeStoredAndPrinted) {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  Changer changer(seed);
  for (const Kind* kind : AllKinds()) {
    SCOPED_TRACE(kind->name());
    const std::vector<std::string> examples = kind->examples();
    int passed = 0;
    for (int i = 0; i < kChangedPerKind && !::testing::Test::HasFailure(); ++i) {
      Words words = Words::Split(examples[static_cast<size_t>(i) % examples.size()]);
      v1::Action action;
      ASSERT_FALSE(kind->Parse(&words, &action));
      const int changes = 1 + i % 4;
      for (int n = 0; n < changes; ++n) changer.Change(ParamsOf(&action));
      action.set_index(7);
      action.set_kind(std::string(kind->name()));
      if (const RuleError error = kind->Normalize({.in_filter = true}, &action)) {
        EXPECT_EQ(error.field.rfind(std::string(kind->name()), 0), 0u) << error.field;
        continue;
      }
      ++passed;
      ExpectStorable(*kind, action);
      ExpectPrintable(action);
    }
    // Else the rules were all that was tried.
    EXPECT_GE(passed, kChangedPerKind / 20);
  }
}

}  // namespace
}  // namespace tcact::kinds
