#include "gtest/gtest.h"
#include "proto/kinds/addresses.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Verdict;
using v1::Vlan;

const Kind& Vlan_() { return *FindKind("vlan"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Vlan_().Parse(&words, action);
}

v1::Action Parsed(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  return action;
}

ParseError Refused(absl::string_view text) {
  v1::Action action;
  return Parse(text, &action);
}

RuleError Normalized(v1::Action* action, bool in_filter = false) {
  return Vlan_().Normalize({in_filter}, action);
}

std::string Printed(absl::string_view text, bool json = false) {
  v1::Action action = Parsed(text);
  EXPECT_FALSE(Normalized(&action)) << text;
  std::string result;
  PrintOptions options;
  options.json = json;
  Printer out(options, &result);
  Vlan_().PrintHead(&out);
  Vlan_().Print(action, options, &out);
  return result;
}

TEST(VlanParse, ReadsATagInAnyOrder) {
  const v1::Action action = Parsed("push priority 3 protocol 802.1AD id 0x10 drop index 5");
  EXPECT_EQ(action.vlan().operation(), Vlan::OPERATION_PUSH);
  EXPECT_EQ(action.vlan().id(), 16u);
  EXPECT_EQ(action.vlan().protocol(), 0x88a8u);
  EXPECT_EQ(action.vlan().priority(), 3u);
  EXPECT_EQ(action.vlan().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 5u);
}

TEST(VlanParse, ReadsAHeader) {
  const v1::Action action = Parsed("push_eth dst_mac 1:2:3:4:5:6 src_mac a:b:c:d:e:f");
  EXPECT_EQ(FormatMac(action.vlan().dst_mac()), "01:02:03:04:05:06");
  EXPECT_EQ(FormatMac(action.vlan().src_mac()), "0a:0b:0c:0d:0e:0f");
}

TEST(VlanParse, AbbreviatesInTheOrderOfTc) {
  EXPECT_EQ(Parsed("p").vlan().operation(), Vlan::OPERATION_POP);
  EXPECT_EQ(Parsed("pop_").vlan().operation(), Vlan::OPERATION_POP_ETH);
  EXPECT_EQ(Parsed("pu i 4").vlan().operation(), Vlan::OPERATION_PUSH);
  EXPECT_EQ(Parsed("m i 4 pr 0x8100").vlan().protocol(), 0x8100u);
  EXPECT_EQ(Parsed("pop in 7").index(), 7u);
}

TEST(VlanParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("pop pipe index 3 cookie aa");
  v1::Action action;
  EXPECT_FALSE(Vlan_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "cookie");
}

TEST(VlanParse, ValuesThatCannotBeReadEndTc) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"push id 65536", "Error: argument \"65536\" is wrong: id is invalid\n"},
      {"push id 1 priority 8", "Error: argument \"8\" is wrong: prio is invalid\n"},
      {"push id 1 protocol foo", "Error: argument \"foo\" is wrong: protocol is invalid\n"},
      {"push_eth dst_mac xx", "Error: argument \"xx\" is wrong: dst_mac is invalid\n"},
      {"push_eth src_mac 1:100", "Error: argument \"1:100\" is wrong: src_mac is invalid\n"},
      {"pop id 1", "Error: argument \"id\" is wrong: only valid for push/modify\n"},
      {"push id 1 src_mac 1", "Error: argument \"src_mac\" is wrong: only valid for push_eth\n"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(Refused(text).then, ParseError::Then::kExit) << text;
    EXPECT_EQ(Refused(text).text, error) << text;
  }
}

TEST(VlanParse, WhatIsMissingReturnsWithTheHelp) {
  const std::string help(Vlan_().help());
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"push", "id needs to be set for push\n"},
      {"modify priority 1 index 3", "id needs to be set for modify\n"},
      {"push_eth src_mac 1:2:3:4:5:6", "dst_mac needs to be set for push_eth\n"},
      {"push_eth dst_mac 1:2:3:4:5:6", "src_mac needs to be set for push_eth\n"},
      {"push id 1 protocol ip", "protocol not supported\n"},
      {"push id 1 protocol 0", "protocol not supported\n"},
      {"pop push id 1", "unexpected \"push\" - action already specified\n"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(Refused(text).then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(Refused(text).text, error + help) << text;
  }
}

TEST(VlanParse, AnIndexIsDecimal) {
  for (const char* text : {"pop index 0x1", "pop index 4294967296", "pop index foo"}) {
    EXPECT_EQ(Refused(text).then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(Refused(text).text, "vlan: Illegal \"index\"\n") << text;
  }
}

TEST(VlanParse, HelpIsTheHelpAlone) {
  EXPECT_EQ(Refused("help").text, Vlan_().help());
  EXPECT_EQ(Refused("push h").text, Vlan_().help());
}

TEST(VlanParse, MissingValuesEndTc) {
  for (const char* text : {"", "push id", "push id 1 protocol", "pop index", "pop goto chain"}) {
    EXPECT_EQ(Refused(text).then, ParseError::Then::kExit) << text;
  }
}

TEST(VlanNormalize, NeedsAnOperation) {
  v1::Action action = Parsed("index 3");
  RuleError error = Normalized(&action);
  EXPECT_EQ(error.field, "vlan.operation");
  EXPECT_EQ(error.text, "0; 1 to 5 are allowed");
  EXPECT_EQ(error.kernel_text, "RTNETLINK answers: Invalid argument");
  action.mutable_vlan()->set_operation(static_cast<Vlan::Operation>(6));
  EXPECT_EQ(Normalized(&action).field, "vlan.operation");
}

TEST(VlanNormalize, IdHasItsLimits) {
  v1::Action action = Parsed("push id 4094");
  EXPECT_FALSE(Normalized(&action));
  action = Parsed("push id 0");
  EXPECT_FALSE(Normalized(&action));
  action = Parsed("modify id 4095");
  const RuleError error = Normalized(&action);
  EXPECT_EQ(error.field, "vlan.id");
  EXPECT_EQ(error.text, "4095; 0 to 4094 are allowed");
  EXPECT_EQ(error.kernel_text, "RTNETLINK answers: Numerical result out of range");
  action.mutable_vlan()->clear_id();
  EXPECT_EQ(Normalized(&action).text, "missing; required with modify");
}

TEST(VlanNormalize, PriorityAndProtocolHaveTheirs) {
  v1::Action action = Parsed("push id 1 priority 7");
  EXPECT_FALSE(Normalized(&action));
  action.mutable_vlan()->set_priority(8);
  EXPECT_EQ(Normalized(&action).text, "8; 0 to 7 are allowed");
  action.mutable_vlan()->set_priority(0);
  action.mutable_vlan()->set_protocol(0x0800);
  EXPECT_EQ(Normalized(&action).text, "2048; 33024 (802.1Q) and 34984 (802.1ad) are allowed");
}

TEST(VlanNormalize, APushHasAllOfATagAndAModifyWhatItChanges) {
  v1::Action action = Parsed("push id 1");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(action.vlan().protocol(), 0x8100u);
  EXPECT_TRUE(action.vlan().has_priority());
  EXPECT_EQ(action.vlan().verdict().type(), Verdict::TYPE_PIPE);
  action = Parsed("modify id 1");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_FALSE(action.vlan().has_priority());
}

TEST(VlanNormalize, KeepsNothingThatTheOperationDoesNotUse) {
  v1::Action action = Parsed("push id 1 priority 2");
  action.mutable_vlan()->set_dst_mac("short");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_TRUE(action.vlan().dst_mac().empty());
  action.mutable_vlan()->set_operation(Vlan::OPERATION_POP);
  EXPECT_FALSE(Normalized(&action));
  v1::Action pop = Parsed("pop");
  EXPECT_FALSE(Normalized(&pop));
  EXPECT_EQ(action.vlan().SerializeAsString(), pop.vlan().SerializeAsString());
}

TEST(VlanNormalize, AddressesHaveSixBytes) {
  v1::Action action = Parsed("push_eth dst_mac 1:2:3:4:5:6 src_mac 1:2:3:4:5:6");
  action.mutable_vlan()->set_dst_mac("12345");
  EXPECT_EQ(Normalized(&action).field, "vlan.dst_mac");
  action.mutable_vlan()->set_dst_mac("123456");
  action.mutable_vlan()->clear_src_mac();
  EXPECT_EQ(Normalized(&action).text, "missing; required with push_eth");
  action.mutable_vlan()->set_src_mac("1234567");
  EXPECT_EQ(Normalized(&action).text, "7 bytes; an Ethernet address has 6");
}

TEST(VlanNormalize, GotoChainIsForFilters) {
  v1::Action action = Parsed("pop goto chain 7");
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Normalized(&action, true));
}

TEST(VlanPrint, IsTcs) {
  EXPECT_EQ(Printed("push id 9 index 2"),
            "vlan  push id 9 protocol 802.1Q priority 0 pipe\n\t index 2 ref 0 bind 0\n");
  EXPECT_EQ(Printed("modify id 9 pass"),
            "vlan  modify id 9 protocol 802.1Q pass\n\t index 0 ref 0 bind 0\n");
  EXPECT_EQ(Printed("pop_eth"), "vlan  pop_eth pipe\n\t index 0 ref 0 bind 0\n");
  EXPECT_EQ(Printed("push_eth dst_mac 1:2:3:4:5:6 src_mac 7:8:9:a:b:c", true),
            "\"kind\":\"vlan\",\"vlan_action\":\"push_eth\",\"dst_mac\":\"01:02:03:04:05:06\","
            "\"src_mac\":\"07:08:09:0a:0b:0c\",\"control_action\":{\"type\":\"pipe\"},"
            "\"index\":0,\"ref\":0,\"bind\":0");
}

TEST(VlanOffload, HardwareTakesAll) {
  for (const std::string& text : Vlan_().examples()) {
    EXPECT_TRUE(Vlan_().Offloadable(Parsed(text))) << text;
  }
}

}  // namespace
}  // namespace tcact::kinds
