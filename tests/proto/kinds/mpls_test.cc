#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Mpls;
using v1::Verdict;

const Kind& Mpls_() { return *FindKind("mpls"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Mpls_().Parse(&words, action);
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
  return Mpls_().Normalize({in_filter}, action);
}

std::string Printed(absl::string_view text, bool json = false) {
  v1::Action action = Parsed(text);
  EXPECT_FALSE(Normalized(&action)) << text;
  std::string result;
  PrintOptions options;
  options.json = json;
  Printer out(options, &result);
  Mpls_().PrintHead(&out);
  Mpls_().Print(action, options, &out);
  return result;
}

TEST(MplsParse, ReadsAllFields) {
  const v1::Action action =
      Parsed("push label 0x14 bos 1 protocol mpls_mc ttl 9 tc 7 drop index 5");
  EXPECT_EQ(action.mpls().operation(), Mpls::OPERATION_PUSH);
  EXPECT_EQ(action.mpls().protocol(), 0x8848u);
  EXPECT_EQ(action.mpls().label(), 20u);
  EXPECT_EQ(action.mpls().tc(), 7u);
  EXPECT_EQ(action.mpls().bos(), 1u);
  EXPECT_EQ(action.mpls().ttl(), 9u);
  EXPECT_EQ(action.mpls().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 5u);
}

TEST(MplsParse, AbbreviatesInTheOrderOfTc) {
  EXPECT_EQ(Parsed("p pr ip").mpls().operation(), Mpls::OPERATION_POP);
  EXPECT_EQ(Parsed("pu l 4").mpls().operation(), Mpls::OPERATION_PUSH);
  EXPECT_EQ(Parsed("ma l 4").mpls().operation(), Mpls::OPERATION_MAC_PUSH);
  EXPECT_EQ(Parsed("d").mpls().operation(), Mpls::OPERATION_DEC_TTL);
  const v1::Action action = Parsed("m t 1 tt 2 b 0 i 3");
  EXPECT_EQ(action.mpls().operation(), Mpls::OPERATION_MODIFY);
  EXPECT_EQ(action.mpls().tc(), 1u);
  EXPECT_EQ(action.mpls().ttl(), 2u);
  EXPECT_TRUE(action.mpls().has_bos());
  EXPECT_EQ(action.index(), 3u);
}

TEST(MplsParse, AnIndexAloneIsSpelledOut) {
  EXPECT_EQ(Parsed("index 200").index(), 200u);
  EXPECT_EQ(Refused("inde 200").text, ParseError::Incomplete().text);
  EXPECT_EQ(Refused("pipe").text, ParseError::Incomplete().text);
}

TEST(MplsParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("dec_ttl pipe index 3 cookie aa");
  v1::Action action;
  EXPECT_FALSE(Mpls_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "cookie");
}

TEST(MplsParse, ValuesThatCannotBeReadEndTc) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"push label 1048576", "argument \"1048576\" is wrong: label must be <=0xFFFFF"},
      {"push tc 8", "argument \"8\" is wrong: tc field is 3 bits max"},
      {"modify ttl 0", "argument \"0\" is wrong: ttl must be >0 and <=255"},
      {"modify ttl 256", "argument \"256\" is wrong: ttl must be >0 and <=255"},
      {"modify bos 2", "argument \"2\" is wrong: bos must be 0 or 1"},
      {"pop protocol foo", "argument \"foo\" is wrong: protocol is invalid"},
      {"pop label 4", "argument \"label\" is wrong: only valid for push, mac_push and modify"},
      {"dec_ttl ttl 4", "argument \"ttl\" is wrong: only valid for push, mac_push and modify"},
      {"modify protocol ip",
       "argument \"protocol\" is wrong: only valid for push, mac_push and pop"},
      {"dec_ttl index foo", "argument \"foo\" is wrong: illegal index"},
      {"index 4294967296", "argument \"4294967296\" is wrong: illegal index"},
      {"push", "argument \"label\" is required"},
      {"pop", "argument \"protocol\" is required"},
      {"pop protocol 0", "argument \"protocol\" is required"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(Refused(text).then, ParseError::Then::kExit) << text;
    EXPECT_EQ(Refused(text).text, "Error: " + std::string(error) + "\n") << text;
  }
}

TEST(MplsParse, WhatDoesNotGoTogetherReturns) {
  ParseError error = Refused("push protocol ip label 4");
  EXPECT_EQ(error.then, ParseError::Then::kReturn);
  EXPECT_EQ(error.text, "invalid push protocol \"0x0800\" - use mpls_(uc|mc)\n");
  error = Refused("mac_push protocol arp");
  EXPECT_EQ(error.text, "invalid mac_push protocol \"0x0806\" - use mpls_(uc|mc)\n");
  error = Refused("push pop");
  EXPECT_EQ(error.then, ParseError::Then::kReturn);
  EXPECT_EQ(error.text, "Error: got \"pop\" but action already set to \"push\"\n" +
                            std::string(Mpls_().help()));
}

TEST(MplsParse, HelpIsTheHelpAlone) {
  EXPECT_EQ(Refused("help").text, Mpls_().help());
  EXPECT_EQ(Refused("push h").text, Mpls_().help());
}

TEST(MplsParse, MissingValuesEndTc) {
  for (const char* text : {"", "push label", "modify ttl", "dec_ttl index", "index"}) {
    EXPECT_EQ(Refused(text).then, ParseError::Then::kExit) << text;
  }
}

TEST(MplsNormalize, NeedsAnOperation) {
  v1::Action action = Parsed("index 3");
  const RuleError error = Normalized(&action);
  EXPECT_EQ(error.field, "mpls.operation");
  EXPECT_EQ(error.text, "0; 1 to 5 are allowed");
  EXPECT_EQ(error.kernel_text, "Error: act_mpls: Unknown MPLS action.");
  action.mutable_mpls()->set_operation(static_cast<Mpls::Operation>(6));
  EXPECT_EQ(Normalized(&action).field, "mpls.operation");
}

TEST(MplsNormalize, APushHasAProtocolAndATtl) {
  for (const char* text : {"push label 20", "mac_push label 20"}) {
    v1::Action action = Parsed(text);
    EXPECT_FALSE(Normalized(&action));
    EXPECT_EQ(action.mpls().protocol(), 0x8847u);
    EXPECT_EQ(action.mpls().ttl(), 255u);
    EXPECT_FALSE(action.mpls().has_tc());
    EXPECT_FALSE(action.mpls().has_bos());
    EXPECT_EQ(action.mpls().verdict().type(), Verdict::TYPE_PIPE);
  }
}

TEST(MplsNormalize, APushNeedsALabelAndAProtocolOfMpls) {
  v1::Action action = Parsed("mac_push ttl 4");
  RuleError error = Normalized(&action);
  EXPECT_EQ(error.field, "mpls.label");
  EXPECT_EQ(error.text, "missing; required with mac_push");
  EXPECT_EQ(error.kernel_text, "Error: act_mpls: Label is required for MPLS push.");
  action.mutable_mpls()->set_label(0);
  action.mutable_mpls()->set_protocol(0x0800);
  error = Normalized(&action);
  EXPECT_EQ(error.text, "2048; 34887 (mpls_uc) and 34888 (mpls_mc) are allowed with mac_push");
}

TEST(MplsNormalize, LabelHasItsLimitsAndAGap) {
  for (const uint32_t good : {0u, 2u, 4u, 0xfffffu}) {
    v1::Action action = Parsed("modify");
    action.mutable_mpls()->set_label(good);
    EXPECT_FALSE(Normalized(&action)) << good;
  }
  for (const uint32_t bad : {3u, 0x100000u, 0xffffffffu}) {
    v1::Action action = Parsed("modify");
    action.mutable_mpls()->set_label(bad);
    const RuleError error = Normalized(&action);
    EXPECT_EQ(error.field, "mpls.label") << bad;
    EXPECT_EQ(error.text, std::to_string(bad) + "; 0 to 1048575 are allowed, but not 3");
    EXPECT_EQ(error.kernel_text, "Error: act_mpls: MPLS label out of range.");
  }
}

TEST(MplsNormalize, TheOtherFieldsHaveTheirs) {
  v1::Action action = Parsed("modify tc 7 ttl 255 bos 1");
  EXPECT_FALSE(Normalized(&action));
  action.mutable_mpls()->set_tc(8);
  EXPECT_EQ(Normalized(&action).text, "8; 0 to 7 are allowed");
  action = Parsed("modify");
  action.mutable_mpls()->set_ttl(0);
  EXPECT_EQ(Normalized(&action).text, "0; 1 to 255 are allowed");
  action.mutable_mpls()->set_ttl(256);
  EXPECT_EQ(Normalized(&action).field, "mpls.ttl");
  action = Parsed("modify");
  action.mutable_mpls()->set_bos(2);
  EXPECT_EQ(Normalized(&action).text, "2; 0 to 1 are allowed");
  action = Parsed("pop protocol ip");
  action.mutable_mpls()->set_protocol(0x10000);
  EXPECT_EQ(Normalized(&action).text, "65536; 0 to 65535 are allowed");
}

TEST(MplsNormalize, APopLeadsToAnEthertype) {
  v1::Action action = Parsed("pop protocol 0x600");
  EXPECT_FALSE(Normalized(&action));
  action = Parsed("pop protocol 0x5ff");
  EXPECT_EQ(Normalized(&action).text, "1535; 1536 to 65535 are allowed with pop");
  EXPECT_EQ(Normalized(&action).kernel_text,
            "Error: act_mpls: Invalid protocol type for MPLS pop.");
  action.mutable_mpls()->set_protocol(0);
  EXPECT_EQ(Normalized(&action).text, "0; required with pop");
}

TEST(MplsNormalize, RefusesFieldsThatTheOperationDoesNotUse) {
  v1::Action action = Parsed("pop protocol ip");
  action.mutable_mpls()->set_bos(0);
  EXPECT_EQ(Normalized(&action).field, "mpls.bos");
  action = Parsed("dec_ttl");
  action.mutable_mpls()->set_tc(0);
  EXPECT_EQ(Normalized(&action).field, "mpls.tc");
  action = Parsed("dec_ttl");
  action.mutable_mpls()->set_protocol(0x0800);
  EXPECT_EQ(Normalized(&action).field, "mpls.protocol");
  action = Parsed("modify");
  action.mutable_mpls()->set_protocol(0x8847);
  EXPECT_EQ(Normalized(&action).kernel_text,
            "Error: act_mpls: Protocol cannot be used with MPLS modify.");
}

TEST(MplsNormalize, GotoChainIsForFilters) {
  v1::Action action = Parsed("dec_ttl goto chain 7");
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Normalized(&action, true));
}

TEST(MplsPrint, IsTcs) {
  EXPECT_EQ(Printed("pop protocol ipv4 index 2"),
            "mpls  pop protocol ip pipe\n\t index 2 ref 0 bind 0\n");
  EXPECT_EQ(Printed("push label 4 ttl 9 bos 1 tc 2"),
            "mpls  push protocol mpls_uc label 4 tc 2 bos 1 ttl 9 pipe\n"
            "\t index 0 ref 0 bind 0\n");
  EXPECT_EQ(Printed("modify"), "mpls  modify pipe\n\t index 0 ref 0 bind 0\n");
  EXPECT_EQ(Printed("modify ttl 1", true),
            "\"kind\":\"mpls\",\"mpls_action\":\"modify\",\"ttl\":1,"
            "\"control_action\":{\"type\":\"pipe\"},\"index\":0,\"ref\":0,\"bind\":0");
}

TEST(MplsOffload, HardwareTakesPopPushAndModify) {
  for (const char* text : {"pop protocol ip", "push label 4", "modify ttl 3"}) {
    EXPECT_TRUE(Mpls_().Offloadable(Parsed(text))) << text;
  }
  for (const char* text : {"dec_ttl", "mac_push label 4"}) {
    EXPECT_FALSE(Mpls_().Offloadable(Parsed(text))) << text;
  }
}

}  // namespace
}  // namespace tcact::kinds
