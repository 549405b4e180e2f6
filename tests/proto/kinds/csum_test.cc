#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Verdict;

const Kind& Kind_() { return *FindKind("csum"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Kind_().Parse(&words, action);
}

// Read and normalized.
v1::Action Made(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  const RuleError rule = Kind_().Normalize({}, &action);
  EXPECT_FALSE(rule) << text << ": " << rule.field << " " << rule.text;
  return action;
}

ParseError Failed(absl::string_view text) {
  v1::Action action;
  ParseError error = Parse(text, &action);
  EXPECT_TRUE(error) << text;
  return error;
}

std::string Printed(const v1::Action& action, const PrintOptions& options = {}) {
  std::string text;
  Printer out(options, &text);
  out.OpenObject();
  Kind_().PrintHead(&out);
  Kind_().Print(action, options, &out);
  out.CloseObject();
  return text;
}

// The headers as tc prints them: "(iph, tcp)".
std::string Headers(absl::string_view text) {
  const std::string printed = Printed(Made(text));
  const size_t begin = printed.find('(');
  return printed.substr(begin, printed.find(')') + 1 - begin);
}

TEST(CsumParse, HeadersMayBeJoined) {
  EXPECT_EQ(Headers("iph"), "(iph)");
  EXPECT_EQ(Headers("tcp and udp or ip4h + sctp"), "(iph, tcp, udp, sctp)");
  EXPECT_EQ(Headers("udplite icmp igmp tcp tcp"), "(icmp, igmp, tcp, udplite)");
}

TEST(CsumParse, AbbreviationsGoToTcsFirstMatch) {
  EXPECT_EQ(Headers("i"), "(iph)");
  EXPECT_EQ(Headers("ipv"), "(iph)");
  EXPECT_EQ(Headers("ic ig"), "(icmp, igmp)");
  EXPECT_EQ(Headers("t u udpl s"), "(tcp, udp, udplite, sctp)");
  EXPECT_EQ(Headers("t o u a s"), "(tcp, udp, sctp)");
}

TEST(CsumParse, VerdictAndIndexFollow) {
  const v1::Action action = Made("tcp drop index 9");
  EXPECT_EQ(action.csum().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 9U);
  EXPECT_EQ(Made("tcp").csum().verdict().type(), Verdict::TYPE_PASS);
}

TEST(CsumParse, AnIndexAloneRecomputesNothing) {
  const v1::Action action = Made("index 4294967295");
  EXPECT_EQ(action.index(), 4294967295U);
  EXPECT_TRUE(action.has_csum());
  EXPECT_EQ(Headers("index 1"), "(?empty)");
}

TEST(CsumParse, TakesItsKindsWordAgain) {
  EXPECT_EQ(Headers("tcp csum udp"), "(tcp, udp)");
  EXPECT_EQ(Headers("csum tcp"), "(tcp)");
  // So "c" is not continue, and wants a word behind it.
  EXPECT_EQ(Made("tcp c drop").csum().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(Failed("tcp c").then, ParseError::Then::kExit);
}

TEST(CsumParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("tcp drop cookie aa");
  v1::Action action;
  EXPECT_FALSE(Kind_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "cookie");
}

TEST(CsumParse, WithoutAHeaderItReturns) {
  for (const char* text : {"foo", "drop", "and", "+ or"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(Failed(text).text, "Illegal csum construct, empty <UPDATE> list\n") << text;
  }
  EXPECT_EQ(Failed("").then, ParseError::Then::kExit);
}

TEST(CsumParse, BadIndexesReturn) {
  for (const char* text : {"tcp index 4294967296", "tcp index -1", "index 0x4", "index foo"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kReturn) << text;
  }
  EXPECT_EQ(Failed("tcp index").then, ParseError::Then::kExit);
}

TEST(CsumParse, HelpIsTheHelpAlone) {
  for (const char* text : {"help", "tcp help"}) EXPECT_EQ(Failed(text).text, Kind_().help());
}

TEST(CsumNormalize, GotoChainIsForFilters) {
  v1::Action action;
  ASSERT_FALSE(Parse("tcp goto chain 5", &action));
  EXPECT_EQ(Kind_().Normalize({}, &action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Kind_().Normalize({.in_filter = true}, &action));
}

TEST(CsumNormalize, UnknownVerdictsAreRefused) {
  v1::Action action;
  action.mutable_csum()->mutable_verdict()->set_type(static_cast<Verdict::Type>(13));
  EXPECT_EQ(Kind_().Normalize({}, &action).field, "csum.verdict");
}

TEST(CsumPrint, TextAndJsonAreTcs) {
  v1::Action action = Made("tcp iph pipe index 3");
  action.set_refcnt(2);
  action.set_bindcnt(1);
  EXPECT_EQ(Printed(action), "csum (iph, tcp) action pipe\n\tindex 3 ref 2 bind 1\n");
  EXPECT_EQ(Printed(action, {.json = true}),
            "{\"kind\":\"csum\",\"csum\":\"iph, tcp\",\"control_action\":{\"type\":\"pipe\"},"
            "\"index\":3,\"ref\":2,\"bind\":1}");
}

}  // namespace
}  // namespace tcact::kinds
