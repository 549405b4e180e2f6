#include "gtest/gtest.h"
#include "proto/kinds/addresses.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Ife;
using v1::Verdict;

const Kind& Ife_() { return *FindKind("ife"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Ife_().Parse(&words, action);
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
  return Ife_().Normalize({in_filter}, action);
}

std::string Printed(absl::string_view text, bool json = false) {
  v1::Action action = Parsed(text);
  EXPECT_FALSE(Normalized(&action)) << text;
  std::string result;
  PrintOptions options;
  options.json = json;
  Printer out(options, &result);
  Ife_().PrintHead(&out);
  Ife_().Print(action, options, &out);
  return result;
}

TEST(IfeParse, ReadsAllKeywords) {
  const v1::Action action = Parsed(
      "encode allow mark use prio 0x10 use tcindex 65535 dst 1:2:3:4:5:6 src 7:8:9:a:b:c "
      "type 0xabc drop index 5");
  const Ife& ife = action.ife();
  EXPECT_EQ(ife.operation(), Ife::OPERATION_ENCODE);
  EXPECT_TRUE(ife.mark().allow());
  EXPECT_FALSE(ife.prio().allow());
  EXPECT_EQ(ife.prio().value(), 16u);
  EXPECT_EQ(ife.tcindex().value(), 65535u);
  EXPECT_EQ(FormatMac(ife.dst_mac()), "01:02:03:04:05:06");
  EXPECT_EQ(FormatMac(ife.src_mac()), "07:08:09:0a:0b:0c");
  EXPECT_EQ(ife.ethertype(), 0xabcu);
  EXPECT_EQ(ife.verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 5u);
}

TEST(IfeParse, AValueGoesBeforeAllowUnlessItIs0) {
  EXPECT_EQ(Parsed("encode use mark 5 allow mark").ife().mark().value(), 5u);
  EXPECT_FALSE(Parsed("encode use mark 5 allow mark").ife().mark().allow());
  EXPECT_TRUE(Parsed("encode allow mark use mark 0").ife().mark().allow());
  EXPECT_FALSE(Parsed("encode use mark 0").ife().has_mark());
  EXPECT_FALSE(Parsed("encode use mark 5 use mark 0").ife().has_mark());
}

TEST(IfeParse, TheLastOperationCountsAndAnIndexAloneIsDecode) {
  EXPECT_EQ(Parsed("encode decode").ife().operation(), Ife::OPERATION_DECODE);
  EXPECT_EQ(Parsed("decode encode").ife().operation(), Ife::OPERATION_ENCODE);
  EXPECT_EQ(Parsed("index 3").ife().operation(), Ife::OPERATION_DECODE);
  EXPECT_EQ(Parsed("allow mark pipe index 3").ife().operation(), Ife::OPERATION_DECODE);
}

TEST(IfeParse, AbbreviatesInTheOrderOfTc) {
  const v1::Action action = Parsed("e a m a p u t 7 t 9 ds 1:2:3:4:5:6 s 1:2:3:4:5:6 in 0x10");
  EXPECT_EQ(action.ife().operation(), Ife::OPERATION_ENCODE);
  EXPECT_TRUE(action.ife().mark().allow());
  EXPECT_TRUE(action.ife().prio().allow());
  EXPECT_EQ(action.ife().tcindex().value(), 7u);
  EXPECT_EQ(action.ife().ethertype(), 9u);
  EXPECT_EQ(action.index(), 16u);
  EXPECT_EQ(Parsed("ife i d").ife().operation(), Ife::OPERATION_DECODE);
}

TEST(IfeParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("decode pipe index 3 cookie aa");
  v1::Action action;
  EXPECT_FALSE(Ife_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "cookie");
}

TEST(IfeParse, ValuesThatCannotBeReadEndTc) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"encode allow foo", "\"foo\" is wrong: Illegal meta define"},
      {"encode use foo 1", "\"foo\" is wrong: Illegal meta use type"},
      {"encode use mark 4294967296", "\"4294967296\" is wrong: ife mark val is invalid"},
      {"encode use prio index", "\"index\" is wrong: ife prio val is invalid"},
      {"encode use tcindex 65536", "\"65536\" is wrong: ife tcindex val is invalid"},
      {"encode type 65536", "\"65536\" is wrong: ife type is invalid"},
      {"encode dst foo", "\"foo\" is wrong: Invalid mac address"},
      {"encode src 1:2:3:4:5:x", "\"1:2:3:4:5:x\" is wrong: Invalid mac address"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(Refused(text).then, ParseError::Then::kExit) << text;
    EXPECT_EQ(Refused(text).text, "Error: argument " + std::string(error) + "\n") << text;
  }
}

TEST(IfeParse, WithoutOperationAndIndexItShowsTheHelpAndEndsTc) {
  const std::string help(Ife_().help());
  for (const char* text : {"foo", "pipe", "allow mark"}) {
    EXPECT_EQ(Refused(text).then, ParseError::Then::kExit) << text;
    EXPECT_EQ(Refused(text).text, "IFE requires decode/encode specified\n" + help) << text;
  }
  EXPECT_EQ(Refused("help").text, help);
}

TEST(IfeParse, ABadIndexReturns) {
  EXPECT_EQ(Refused("decode index foo").then, ParseError::Then::kReturn);
  EXPECT_EQ(Refused("decode index foo").text, "ife: Illegal \"index\"\n");
}

TEST(IfeParse, MissingValuesEndTc) {
  for (const char* text :
       {"", "ife", "encode allow", "encode use", "encode use mark", "encode dst", "decode index"}) {
    EXPECT_EQ(Refused(text).text, ParseError::Incomplete().text) << text;
  }
}

TEST(IfeNormalize, NeedsAnOperation) {
  v1::Action action;
  action.mutable_ife();
  EXPECT_EQ(Normalized(&action).field, "ife.operation");
  EXPECT_EQ(Normalized(&action).text, "0; 1 to 2 are allowed");
  action.mutable_ife()->set_operation(static_cast<Ife::Operation>(3));
  EXPECT_EQ(Normalized(&action).field, "ife.operation");
}

TEST(IfeNormalize, TheEthertypeHasADefaultAnd0IsNone) {
  v1::Action action = Parsed("encode");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(action.ife().ethertype(), 0xed3eu);
  EXPECT_EQ(action.ife().verdict().type(), Verdict::TYPE_PIPE);
  action = Parsed("encode type 0");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(action.ife().ethertype(), 0u);
  action.mutable_ife()->set_ethertype(65536);
  EXPECT_EQ(Normalized(&action).text, "65536; 0 to 65535 are allowed");
}

TEST(IfeNormalize, AddressesHaveSixBytesAndZerosAreNone) {
  v1::Action action = Parsed("encode dst 0:0:0:0:0:0");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_TRUE(action.ife().dst_mac().empty());
  action.mutable_ife()->set_dst_mac("12345");
  EXPECT_EQ(Normalized(&action).field, "ife.dst_mac");
  action.mutable_ife()->clear_dst_mac();
  action.mutable_ife()->set_src_mac(std::string(7, '\0'));
  EXPECT_EQ(Normalized(&action).text, "7 bytes; an Ethernet address has 6");
}

TEST(IfeNormalize, MetadataHasItsLimits) {
  v1::Action action = Parsed("encode use tcindex 65535");
  EXPECT_FALSE(Normalized(&action));
  action.mutable_ife()->mutable_tcindex()->set_value(65536);
  EXPECT_EQ(Normalized(&action).field, "ife.tcindex.value");
  // The packet's own value needs no other.
  action.mutable_ife()->mutable_tcindex()->set_allow(true);
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(action.ife().tcindex().value(), 0u);
}

TEST(IfeNormalize, DecodeKeepsNothingOfWhatIsForEncode) {
  v1::Action action = Parsed("encode allow mark use prio 3 dst 1:2:3:4:5:6 type 5 decode drop");
  action.mutable_ife()->set_src_mac("short");
  EXPECT_FALSE(Normalized(&action));
  v1::Action decode = Parsed("decode drop");
  EXPECT_FALSE(Normalized(&decode));
  EXPECT_EQ(action.ife().SerializeAsString(), decode.ife().SerializeAsString());
}

TEST(IfeNormalize, GotoChainIsForFilters) {
  v1::Action action = Parsed("decode goto chain 7");
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Normalized(&action, true));
}

TEST(IfePrint, IsTcs) {
  EXPECT_EQ(Printed("encode use mark 5 allow prio dst 1:2:3:4:5:6 index 2"),
            "ife encode action pipe type 0XED3E \n\tuse mark 5 allow prio dst 01:02:03:04:05:06 \n"
            "\t index 2 ref 0 bind 0\n");
  EXPECT_EQ(Printed("encode"),
            "ife encode action pipe type 0XED3E \n\t\n\t index 0 ref 0 bind 0\n");
  EXPECT_EQ(Printed("decode pass"),
            "ife decode action pass type 0 \n\tallow mark allow tcindex allow prio \n"
            "\t index 0 ref 0 bind 0\n");
  EXPECT_EQ(Printed("encode use tcindex 5 allow prio", true),
            "\"kind\":\"ife\",\"mode\":\"encode\",\"control_action\":{\"type\":\"pipe\"},"
            "\"type\":\"0xed3e\",\"tcindex\":5,\"prio\":\"allow\",\"index\":0,\"ref\":0,"
            "\"bind\":0");
}

TEST(IfePrint, ZeroFromTheApiIsAValue) {
  v1::Action action = Parsed("encode");
  action.mutable_ife()->mutable_mark();
  EXPECT_FALSE(Normalized(&action));
  std::string text;
  Printer out(PrintOptions(), &text);
  Ife_().Print(action, {}, &out);
  EXPECT_NE(text.find("use mark 0 "), std::string::npos) << text;
}

TEST(IfeOffload, HardwareTakesNone) {
  for (const std::string& text : Ife_().examples()) {
    EXPECT_FALSE(Ife_().Offloadable(Parsed(text))) << text;
  }
}

}  // namespace
}  // namespace tcact::kinds
