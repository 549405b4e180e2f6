#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Ct;
using v1::Verdict;

const Kind& Ct_() { return *FindKind("ct"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Ct_().Parse(&words, action);
}

// Read and normalized.
v1::Action Made(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  const RuleError rule = Ct_().Normalize({}, &action);
  EXPECT_FALSE(rule) << text << ": " << rule.field << " " << rule.text;
  return action;
}

ParseError Failed(absl::string_view text) {
  v1::Action action;
  ParseError error = Parse(text, &action);
  EXPECT_TRUE(error) << text;
  return error;
}

RuleError Normalized(const Ct& ct) {
  v1::Action action;
  *action.mutable_ct() = ct;
  return Ct_().Normalize({}, &action);
}

// Words that tc sends and the kernel refuses.
RuleError Refused(absl::string_view text) {
  v1::Action action;
  const ParseError parsed = Parse(text, &action);
  EXPECT_FALSE(parsed) << text << ": " << parsed.text;
  RuleError error = Ct_().Normalize({}, &action);
  EXPECT_TRUE(error) << text;
  return error;
}

std::string Printed(const v1::Action& action, const PrintOptions& options = {}) {
  std::string text;
  Printer out(options, &text);
  out.OpenObject();
  Ct_().PrintHead(&out);
  Ct_().Print(action, options, &out);
  out.CloseObject();
  return text;
}

// What stands between the kind and the line's end.
std::string Line(absl::string_view words) {
  const std::string text = Printed(Made(words));
  return text.substr(2, text.find('\n') - 2);
}

std::string Json(absl::string_view words) {
  PrintOptions options;
  options.json = true;
  return Printed(Made(words), options);
}

TEST(CtParse, NothingHasToBeSaid) {
  const v1::Action action = Made("");
  EXPECT_TRUE(action.has_ct());
  EXPECT_EQ(action.ct().verdict().type(), Verdict::TYPE_PIPE);
}

TEST(CtParse, KeywordsComeInAnyOrderBeforeTheVerdict) {
  const v1::Action action = Made("zone 5 index 4 force mark 7/0xf commit label aabb drop");
  EXPECT_TRUE(action.ct().commit());
  EXPECT_TRUE(action.ct().force());
  EXPECT_EQ(action.ct().zone(), 5u);
  EXPECT_EQ(action.ct().mark(), 7u);
  EXPECT_EQ(action.ct().mark_mask(), 15u);
  EXPECT_EQ(action.ct().label(), "\xaa\xbb" + std::string(14, '\0'));
  EXPECT_EQ(action.ct().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 4u);
}

TEST(CtParse, TheVerdictIsTheLastWord) {
  Words words = Words::Split("commit drop index 4");
  v1::Action action;
  EXPECT_FALSE(Ct_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "index");
  EXPECT_EQ(action.index(), 0u);
}

TEST(CtParse, AbbreviationsGoToTcsFirstMatch) {
  EXPECT_TRUE(Made("c").ct().clear());
  EXPECT_TRUE(Made("co").ct().commit());
  EXPECT_EQ(Made("con").ct().verdict().type(), Verdict::TYPE_CONTINUE);
  EXPECT_TRUE(Made("f").ct().force());
  const v1::Action action = Made("z 5 m 3 l aa co n s a 1.1.1.1 p 9 i 6");
  EXPECT_EQ(action.ct().zone(), 5u);
  EXPECT_EQ(action.ct().mark(), 3u);
  EXPECT_EQ(action.ct().nat().type(), Ct::Nat::TYPE_SRC);
  EXPECT_EQ(action.ct().nat().port_max(), 9u);
  EXPECT_EQ(action.index(), 6u);
  EXPECT_EQ(Failed("help").text, Ct_().help());
  EXPECT_EQ(Made("helpe ipv4-tcp-ftp").ct().helper().name(), "ftp");
}

TEST(CtParse, NumbersHaveAnyBaseButTheIndex) {
  EXPECT_EQ(Made("zone 0xffff").ct().zone(), 65535u);
  EXPECT_EQ(Made("mark 010/0x10").ct().mark(), 8u);
  EXPECT_EQ(Failed("index 0x10").text, "ct: Illegal \"index\"\n");
}

TEST(CtParse, NatHasATypeAnAddressRangeAndAPortRange) {
  const Ct::Nat source =
      Made("commit nat src addr 192.0.2.1-192.0.2.9 port 10-20 zone 3").ct().nat();
  EXPECT_EQ(source.type(), Ct::Nat::TYPE_SRC);
  EXPECT_EQ(source.address_min(), std::string("\xc0\x00\x02\x01", 4));
  EXPECT_EQ(source.address_max(), std::string("\xc0\x00\x02\x09", 4));
  EXPECT_EQ(source.port_min(), 10u);
  EXPECT_EQ(source.port_max(), 20u);
  const Ct::Nat destination = Made("nat dst addr 2001:db8::1 commit").ct().nat();
  EXPECT_EQ(destination.type(), Ct::Nat::TYPE_DST);
  EXPECT_EQ(destination.address_max(), destination.address_min());
  EXPECT_FALSE(destination.has_port_min());
  EXPECT_EQ(Made("nat zone 4").ct().nat().type(), Ct::Nat::TYPE_UNSPECIFIED);
  EXPECT_TRUE(Made("nat zone 4").ct().has_nat());
}

TEST(CtParse, APortOf0IsAPort) {
  EXPECT_EQ(Line("commit nat src addr 1.1.1.1 port 0 zone 0"),
            " commit zone 0 nat src addr 1.1.1.1 port 0 pipe");
  EXPECT_EQ(Line("commit nat src addr 1.1.1.1 port 0-65535 zone 0"),
            " commit zone 0 nat src addr 1.1.1.1 port 0-65535 pipe");
}

TEST(CtParse, AWordMustFollowNatAndItsAddress) {
  for (const char* text : {"nat", "commit nat src addr 1.1.1.1", "commit nat src",
                           "commit nat src addr", "commit nat src addr 1.1.1.1 port"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kExit) << text;
    EXPECT_EQ(Failed(text).code, 255) << text;
  }
}

TEST(CtParse, AWordThatIsNoAddressEndsTcWith1) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"foo", "Error: any valid address is expected rather than \"foo\".\n"},
      {"1.1.1.1-", "Error: inet address is expected rather than \"\".\n"},
      {"1.1.1.1-fe80::1", "Error: inet address is expected rather than \"fe80::1\".\n"},
      {"fe80::1-1.1.1.1", "Error: inet6 address is expected rather than \"1.1.1.1\".\n"},
  };
  for (const auto& [word, text] : cases) {
    const ParseError error = Failed(absl::StrCat("commit nat src addr ", word, " zone 1"));
    EXPECT_EQ(error.then, ParseError::Then::kExit) << word;
    EXPECT_EQ(error.code, 1) << word;
    EXPECT_EQ(error.text, text) << word;
  }
}

TEST(CtParse, ValuesThatCannotBeReadReturn) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"zone 65536", "ct: Illegal \"zone\"\n"},
      {"zone -1", "ct: Illegal \"zone\"\n"},
      {"zone 5/3", "ct: Illegal \"zone\"\n"},
      {"mark 4294967296", "ct: Illegal \"mark\"\n"},
      {"mark 5/", "ct: Illegal \"mark\"\n"},
      {"mark /5", "ct: Illegal \"mark\"\n"},
      {"index 4294967296", "ct: Illegal \"index\"\n"},
      {"helper ftp", "ct: Illegal \"helper\"\n"},
      {"helper ipv4-tcp-", "ct: Illegal \"helper\"\n"},
      {"helper ipv5-tcp-ftp", "ct: Illegal \"helper\"\n"},
      {"helper ipv4-foo-ftp", "ct: Illegal \"helper\"\n"},
      {"helper ipv4-tcp-0123456789012345678901234", "ct: Illegal \"helper\"\n"},
      {"commit nat src addr 1.1.1.1 port 65536", "ct: Illegal nat port range\n"},
      {"commit nat src addr 1.1.1.1 port 10-", "ct: Illegal nat port range\n"},
      {"commit nat src addr 1.1.1.1 port 0x10", "ct: Illegal nat port range\n"},
      {"goto chain x", "Illegal \"chain index\"\n"},
  };
  for (const auto& [words, text] : cases) {
    EXPECT_EQ(Failed(words).then, ParseError::Then::kReturn) << words;
    EXPECT_EQ(Failed(words).text, text) << words;
  }
}

TEST(CtParse, PartsThatNeedOrExcludeEachOtherReturn) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"clear commit", "ct: clear can only be used alone\n"},
      {"clear force", "ct: clear can only be used alone\n"},
      {"clear nat zone 1", "ct: clear can only be used alone\n"},
      {"commit nat zone 1", "ct: commit and nat must set src or dst\n"},
      {"nat src addr 1.1.1.1 zone 1", "ct: src or dst is only valid if commit is set\n"},
      {"commit nat src addr 1.1.1.1 nat dst addr 2.2.2.2 zone 1",
       "ct: src and dst nat can't be used together\n"},
  };
  for (const auto& [words, text] : cases) {
    EXPECT_EQ(Failed(words).then, ParseError::Then::kReturn) << words;
    EXPECT_EQ(Failed(words).text, text) << words;
  }
  EXPECT_EQ(Failed("commit nat src 1.1.1.1").text, Ct_().help());
}

TEST(CtParse, ALabelIsHexadecimalAndFilledWithZeros) {
  EXPECT_EQ(Made("label 0102030405060708090a0b0c0d0e0f10").ct().label().size(), 16u);
  // A last single digit is dropped.
  EXPECT_EQ(Made("label aabbc").ct().label(), "\xaa\xbb" + std::string(14, '\0'));
  EXPECT_EQ(Line("label /ff"),
            " zone 0 label 00000000000000000000000000000000/ff000000000000000000000000000000 pipe");
  EXPECT_EQ(Failed("label xx").text,
            "Error: argument \"xx\" is wrong: ct: labels must be a hex string\n\n");
  EXPECT_EQ(Failed("label aa/xx").text,
            "Error: argument \"xx\" is wrong: ct: labels mask must be a hex string\n\n");
  const std::string longest(32, 'a');
  EXPECT_EQ(Failed(absl::StrCat("label ", longest, "a")).text,
            absl::StrCat("Error: argument \"", longest, "a\" is wrong: 33 Max allowed size 32\n"));
}

TEST(CtNormalize, ClearKeepsNothingButItsVerdict) {
  const Ct ct = Made("clear zone 5 mark 3 label aa helper ipv4-tcp-ftp drop").ct();
  Ct bare;
  bare.set_clear(true);
  bare.mutable_verdict()->set_type(Verdict::TYPE_DROP);
  EXPECT_EQ(ct.SerializeAsString(), bare.SerializeAsString());
  bare.set_commit(true);
  EXPECT_EQ(Normalized(bare).field, "ct.clear");
}

TEST(CtNormalize, AMaskOfAllBitsIsTheDefaultAndOneOfNoneTakesTheValueAway) {
  const std::string plain = Made("mark 7").ct().SerializeAsString();
  EXPECT_EQ(Made("mark 7/0xffffffff").ct().SerializeAsString(), plain);
  EXPECT_FALSE(Made("mark 7").ct().has_mark_mask());
  EXPECT_TRUE(Made("mark 0").ct().has_mark());
  EXPECT_FALSE(Made("mark 7/0").ct().has_mark());
  EXPECT_FALSE(Made("mark 7/0").ct().has_mark_mask());
  const std::string all(32, 'f');
  EXPECT_EQ(Made(absl::StrCat("label aa/", all)).ct().SerializeAsString(),
            Made("label aa").ct().SerializeAsString());
  EXPECT_TRUE(Made("label aa/00").ct().label().empty());
  EXPECT_TRUE(Made("label aa/").ct().label().empty());
  EXPECT_TRUE(Made("label aa/00").ct().label_mask().empty());
  Ct ct;
  ct.set_mark_mask(3);
  ct.set_label_mask("abc");
  v1::Action action;
  *action.mutable_ct() = ct;
  EXPECT_FALSE(Ct_().Normalize({}, &action));
  EXPECT_FALSE(action.ct().has_mark_mask());
  EXPECT_TRUE(action.ct().label_mask().empty());
}

TEST(CtNormalize, LimitsHoldOnBothSides) {
  Ct ct;
  ct.set_zone(65535);
  ct.set_label(std::string(16, 'a'));
  ct.set_label_mask(std::string(16, 'b'));
  EXPECT_FALSE(Normalized(ct));
  ct.set_label_mask(std::string(17, 'b'));
  EXPECT_EQ(Normalized(ct).field, "ct.label_mask");
  ct.set_label(std::string(17, 'a'));
  EXPECT_EQ(Normalized(ct).text, "17 bytes; 0 to 16 are allowed");
  ct.set_zone(65536);
  EXPECT_EQ(Normalized(ct).field, "ct.zone");
  EXPECT_EQ(Normalized(ct).text, "65536; 0 to 65535 are allowed");
}

TEST(CtNormalize, NatWithATypeNeedsCommitAndAddressesOfOneFamily) {
  Ct ct;
  Ct::Nat* nat = ct.mutable_nat();
  nat->set_type(Ct::Nat::TYPE_SRC);
  nat->set_address_min("abcd");
  EXPECT_EQ(Normalized(ct).field, "ct.commit");
  ct.set_commit(true);
  EXPECT_FALSE(Normalized(ct));
  nat->set_address_max("0123456789abcdef");
  EXPECT_EQ(Normalized(ct).field, "ct.nat.address_min");
  nat->set_address_min("abc");
  nat->set_address_max("abc");
  EXPECT_EQ(Normalized(ct).text, "3 bytes, and address_max 3; both none, 4 (IPv4) or 16 (IPv6)");
  nat->clear_address_min();
  nat->clear_address_max();
  EXPECT_FALSE(Normalized(ct));
  nat->set_port_min(65535);
  EXPECT_FALSE(Normalized(ct));
  nat->set_port_max(65536);
  EXPECT_EQ(Normalized(ct).field, "ct.nat.port_max");
  nat->set_port_min(65536);
  EXPECT_EQ(Normalized(ct).field, "ct.nat.port_min");
  nat->set_type(Ct::Nat::TYPE_UNSPECIFIED);
  EXPECT_EQ(Normalized(ct).field, "ct.nat.type");
  nat->set_type(static_cast<Ct::Nat::Type>(3));
  EXPECT_EQ(Normalized(ct).text, "3; 0 to 2 are allowed");
}

TEST(CtNormalize, NatWithoutATypeKeepsNothing) {
  v1::Action action;
  Ct::Nat* nat = action.mutable_ct()->mutable_nat();
  nat->set_address_min("abcd");
  nat->set_port_min(7);
  EXPECT_FALSE(Ct_().Normalize({}, &action));
  EXPECT_TRUE(action.ct().has_nat());
  EXPECT_EQ(action.ct().nat().ByteSizeLong(), 0u);
}

TEST(CtNormalize, AHelperIsOneOfTheKernels) {
  for (const char* words :
       {"ipv4-tcp-ftp", "ipv6-6-ftp", "ipv4-udp-tftp", "ipv4-17-sip", "ipv6-TCP-sip",
        "ipv4-udp-amanda", "ipv4-tcp-irc", "ipv4-tcp-pptp", "ipv4-udp-RAS", "ipv6-tcp-Q.931"}) {
    EXPECT_TRUE(Made(absl::StrCat("commit helper ", words)).ct().has_helper()) << words;
  }
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"ipv4-tcp-foo", "ct.helper.name"},     {"ipv4-tcp-FTP", "ct.helper.name"},
      {"ipv4-udp-ftp", "ct.helper.protocol"}, {"ipv4-132-sip", "ct.helper.protocol"},
      {"ipv6-tcp-irc", "ct.helper.family"},
  };
  for (const auto& [words, field] : cases) {
    const RuleError error = Refused(absl::StrCat("commit helper ", words));
    EXPECT_EQ(error.field, field) << words;
    EXPECT_EQ(error.kernel_text, "Error: act_ct: Failed to add helper.") << words;
  }
  EXPECT_EQ(Refused("helper ipv6-tcp-irc").text, "10; irc has 2 (IPv4)");
  EXPECT_EQ(Refused("helper ipv4-udp-ftp").text, "17; ftp has 6 (TCP)");
  Ct ct;
  ct.mutable_helper();
  EXPECT_EQ(Normalized(ct).field, "ct.helper.name");
}

TEST(CtNormalize, NatLimitsTheHelpers) {
  EXPECT_TRUE(Made("helper ipv4-tcp-ftp nat zone 1").ct().has_helper());
  EXPECT_EQ(Refused("helper ipv4-tcp-sane nat zone 1").text, "\"sane\"; not together with nat");
}

TEST(CtNormalize, GotoChainIsForFilters) {
  EXPECT_EQ(Refused("goto chain 5").kernel_text, "Error: can't goto NULL proto/chain.");
  v1::Action action;
  EXPECT_FALSE(Parse("goto chain 5", &action));
  EXPECT_FALSE(Ct_().Normalize({.in_filter = true}, &action));
}

TEST(CtPrint, SaysTheZoneAlwaysButWithClear) {
  EXPECT_EQ(Printed(Made("index 4")), "ct zone 0 pipe\n\t index 4 ref 0 bind 0\n");
  EXPECT_EQ(Line("clear"), " clear pipe");
  EXPECT_EQ(Line("commit force zone 65535 jump 2"), " commit force zone 65535 jump 2");
  EXPECT_EQ(Line("force"), " zone 0 pipe");
  EXPECT_EQ(Line("mark 0x42/0xf0"), " mark 66/0xf0 zone 0 pipe");
  EXPECT_EQ(Line("nat drop"), " zone 0 nat drop");
  EXPECT_EQ(Line("commit helper ipv6-tcp-sip mark 1 label aa nat dst addr fe80::1-fe80::2 drop"),
            " commit mark 1 zone 0 label aa000000000000000000000000000000 helper ipv6-tcp-sip "
            "nat dst addr fe80::1-fe80::2 drop");
}

TEST(CtPrint, JsonHasOneStringForNat) {
  const std::string tail =
      "\"control_action\":{\"type\":\"pipe\"},\"index\":0,\"ref\":0,\"bind\":0}";
  EXPECT_EQ(Json(""), "{\"kind\":\"ct\",\"zone\":0," + tail);
  EXPECT_EQ(Json("clear"), "{\"kind\":\"ct\",\"action\":\"clear\"," + tail);
  EXPECT_EQ(Json("nat zone 1"), "{\"kind\":\"ct\",\"zone\":1,\"nat\":\"\"," + tail);
  EXPECT_EQ(Json("commit force mark 7/0xff nat src addr 1.1.1.1 port 5 helper ipv4-tcp-ftp"),
            "{\"kind\":\"ct\",\"action\":\"commit force\",\"mark\":7,\"mark_mask\":\"ff\","
            "\"zone\":0,\"helper\":\"ipv4-tcp-ftp\",\"nat\":\"src addr 1.1.1.1 port 5\"," +
                tail);
}

TEST(CtOffload, HardwareTakesAll) { EXPECT_TRUE(Ct_().Offloadable(Made("commit"))); }

}  // namespace
}  // namespace tcact::kinds
