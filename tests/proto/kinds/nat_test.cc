#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Nat;
using v1::Verdict;

const Kind& Nat_() { return *FindKind("nat"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Nat_().Parse(&words, action);
}

// Read and normalized.
v1::Action Made(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  const RuleError rule = Nat_().Normalize({}, &action);
  EXPECT_FALSE(rule) << text << ": " << rule.field << " " << rule.text;
  return action;
}

ParseError Failed(absl::string_view text) {
  v1::Action action;
  ParseError error = Parse(text, &action);
  EXPECT_TRUE(error) << text;
  return error;
}

RuleError Refused(const Nat& nat) {
  v1::Action action;
  *action.mutable_nat() = nat;
  RuleError error = Nat_().Normalize({}, &action);
  EXPECT_TRUE(error) << nat.ShortDebugString();
  return error;
}

std::string Printed(const v1::Action& action, const PrintOptions& options = {}) {
  std::string text;
  Printer out(options, &text);
  out.OpenObject();
  Nat_().PrintHead(&out);
  Nat_().Print(action, options, &out);
  out.CloseObject();
  return text;
}

TEST(NatParse, HasADirectionANetworkAndAnAddress) {
  const v1::Action action = Made("egress 10.1.2.0/24 192.0.2.7 pipe index 9");
  EXPECT_EQ(action.nat().direction(), Nat::DIRECTION_EGRESS);
  EXPECT_EQ(action.nat().old_address(), std::string("\x0a\x01\x02\x00", 4));
  EXPECT_EQ(action.nat().prefix_length(), 24u);
  EXPECT_EQ(action.nat().new_address(), std::string("\xc0\x00\x02\x07", 4));
  EXPECT_EQ(action.nat().verdict().type(), Verdict::TYPE_PIPE);
  EXPECT_EQ(action.index(), 9u);
}

TEST(NatParse, DirectionsAndIndexMayBeAbbreviated) {
  EXPECT_EQ(Made("e 1.1.1.1 2.2.2.2").nat().direction(), Nat::DIRECTION_EGRESS);
  EXPECT_EQ(Made("i 1.1.1.1 2.2.2.2 in 4").nat().direction(), Nat::DIRECTION_INGRESS);
  EXPECT_EQ(Made("ingr 1.1.1.1 2.2.2.2 i 4").index(), 4u);
}

TEST(NatParse, ANetworkIsAnAddressALengthOrAllAddresses) {
  EXPECT_EQ(Made("ingress 1.2.3.4 5.6.7.8").nat().prefix_length(), 32u);
  EXPECT_EQ(Made("ingress 1.2.3.4/0 5.6.7.8").nat().prefix_length(), 0u);
  EXPECT_EQ(Made("ingress 1.2.3.4/255.255.128.0 5.6.7.8").nat().prefix_length(), 17u);
  for (const char* text : {"any", "all", "default"}) {
    const v1::Action action = Made(absl::StrCat("ingress ", text, " 5.6.7.8"));
    EXPECT_EQ(action.nat().old_address(), std::string(4, '\0')) << text;
    EXPECT_EQ(action.nat().prefix_length(), 0u) << text;
  }
}

TEST(NatParse, TheLengthOfTheNewAddressIsIgnored) {
  const v1::Action action = Made("ingress 1.1.1.0/24 2.2.2.0/8");
  EXPECT_EQ(action.nat().prefix_length(), 24u);
  EXPECT_EQ(action.nat().new_address(), std::string("\x02\x02\x02\x00", 4));
}

TEST(NatParse, AnIndexAloneIsAnActionThatChangesNothing) {
  const v1::Action action = Made("index 200");
  EXPECT_EQ(action.index(), 200u);
  EXPECT_EQ(action.nat().direction(), Nat::DIRECTION_INGRESS);
  EXPECT_EQ(action.nat().prefix_length(), 0u);
  EXPECT_EQ(action.nat().verdict().type(), Verdict::TYPE_PASS);
}

TEST(NatParse, ASecondTranslationTakesThePlaceOfTheFirst) {
  const v1::Action action = Made("ingress 1.1.1.1/8 2.2.2.2 nat egress 3.3.3.3 4.4.4.4 index 5");
  EXPECT_EQ(action.nat().direction(), Nat::DIRECTION_EGRESS);
  EXPECT_EQ(action.nat().old_address(), "\x03\x03\x03\x03");
  EXPECT_EQ(action.nat().prefix_length(), 32u);
  EXPECT_EQ(action.nat().new_address(), "\x04\x04\x04\x04");
  EXPECT_EQ(action.index(), 5u);
  EXPECT_EQ(Made("egress 1.1.1.1 2.2.2.2 nat ingress 3.3.3.3 4.4.4.4").nat().direction(),
            Nat::DIRECTION_EGRESS);
}

TEST(NatParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("ingress 1.1.1.1 2.2.2.2 drop index 3 pipe");
  v1::Action action;
  EXPECT_FALSE(Nat_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "pipe");
}

TEST(NatParse, WhatIsNoTranslationReturnsWithTheHelp) {
  const std::string help(Nat_().help());
  for (const char* text : {"foo 1.1.1.1 2.2.2.2", "foo", "drop"}) {
    const ParseError error = Failed(text);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(error.text,
              absl::StrCat("Illegal nat construct (",
                           absl::string_view(text).substr(0, text[0] == 'f' ? 3 : 4), ")\n", help));
  }
  for (const char* text :
       {"ingress foo 2.2.2.2", "ingress 1.1.1.1 foo", "ingress 1.1.1.1/33 2.2.2.2",
        "ingress any/8 2.2.2.2", "ingress fe80::1 2.2.2.2", "ingress 1.1.1.1 fe80::1",
        "ingress 1.1.1.256 2.2.2.2", "ingress 1.1.1.1.1 2.2.2.2", "ingress 1.1.1.1/255.0.255.0 2.2",
        "ingress 1.1.1.1 index 200"}) {
    const ParseError error = Failed(text);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(error.text, "Illegal nat construct (ingress)\n" + help) << text;
  }
}

TEST(NatParse, MissingWordsEndTc) {
  for (const char* text : {"", "ingress", "egress 1.1.1.1", "ingress 1.1.1.1 2.2.2.2 index",
                           "ingress 1.1.1.1 2.2.2.2 nat"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kExit) << text;
  }
}

TEST(NatParse, AnIndexIsDecimal) {
  for (const char* text : {"index foo", "ingress 1.1.1.1 2.2.2.2 index 0x4",
                           "egress 1.1.1.1 2.2.2.2 drop index 4294967296"}) {
    const ParseError error = Failed(text);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(error.text, "Nat: Illegal \"index\"\n") << text;
  }
}

TEST(NatParse, HelpIsTheHelpAlone) {
  EXPECT_EQ(Failed("help").text, Nat_().help());
  EXPECT_EQ(Failed("ingress 1.1.1.1 2.2.2.2 help").text, Nat_().help());
}

TEST(NatNormalize, FillsInIngressAddressesAndPass) {
  v1::Action action;
  action.mutable_nat();
  EXPECT_FALSE(Nat_().Normalize({}, &action));
  EXPECT_EQ(action.nat().direction(), Nat::DIRECTION_INGRESS);
  EXPECT_EQ(action.nat().old_address(), std::string(4, '\0'));
  EXPECT_EQ(action.nat().new_address(), std::string(4, '\0'));
  EXPECT_EQ(action.nat().verdict().type(), Verdict::TYPE_PASS);
}

TEST(NatNormalize, LimitsHoldOnBothSides) {
  Nat nat;
  nat.set_prefix_length(32);
  v1::Action action;
  *action.mutable_nat() = nat;
  EXPECT_FALSE(Nat_().Normalize({}, &action));
  nat.set_prefix_length(33);
  EXPECT_EQ(Refused(nat).field, "nat.prefix_length");
  EXPECT_EQ(Refused(nat).text, "33; 0 to 32 are allowed");
  nat.clear_prefix_length();
  for (const size_t size : {3, 5, 16}) {
    nat.set_old_address(std::string(size, 'a'));
    EXPECT_EQ(Refused(nat).field, "nat.old_address") << size;
    EXPECT_EQ(Refused(nat).text, absl::StrCat(size, " bytes; an IPv4 address has 4"));
  }
  nat.clear_old_address();
  nat.set_new_address("abc");
  EXPECT_EQ(Refused(nat).field, "nat.new_address");
  nat.clear_new_address();
  nat.set_direction(static_cast<Nat::Direction>(3));
  EXPECT_EQ(Refused(nat).field, "nat.direction");
  EXPECT_EQ(Refused(nat).text, "3; 0 to 2 are allowed");
}

TEST(NatNormalize, GotoChainIsForFilters) {
  v1::Action action;
  EXPECT_FALSE(Parse("ingress 1.1.1.1 2.2.2.2 goto chain 7", &action));
  const RuleError error = Nat_().Normalize({}, &action);
  EXPECT_EQ(error.field, "nat.verdict");
  EXPECT_EQ(error.kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Nat_().Normalize({.in_filter = true}, &action));
}

TEST(NatPrint, KeepsTheAddressAsItWasGiven) {
  v1::Action action = Made("ingress 10.1.2.3/8 192.0.2.1 drop index 7");
  action.set_refcnt(2);
  action.set_bindcnt(1);
  EXPECT_EQ(Printed(action), " nat ingress 10.1.2.3/8 192.0.2.1 drop\n\t index 7 ref 2 bind 1\n");
  EXPECT_EQ(Printed(Made("index 3")),
            " nat ingress 0.0.0.0/0 0.0.0.0 pass\n\t index 3 ref 0 bind 0\n");
}

TEST(NatPrint, JsonSaysTypeForTheKind) {
  PrintOptions options;
  options.json = true;
  EXPECT_EQ(Printed(Made("egress default 192.0.2.1 jump 3 index 7"), options),
            "{\"type\":\"nat\",\"direction\":\"egress\",\"old_addr\":\"0.0.0.0/0\","
            "\"new_addr\":\"192.0.2.1\",\"control_action\":{\"type\":\"jump\",\"jump\":3},"
            "\"index\":7,\"ref\":0,\"bind\":0}");
}

TEST(NatOffload, HardwareTakesNone) {
  EXPECT_FALSE(Nat_().Offloadable(Made("ingress 1.1.1.1 2.2.2.2")));
}

}  // namespace
}  // namespace tcact::kinds
