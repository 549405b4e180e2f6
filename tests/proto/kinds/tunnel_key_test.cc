#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::TunnelKey;
using v1::Verdict;

const Kind& Kind_() { return *FindKind("tunnel_key"); }

constexpr absl::string_view kSet = "set src_ip 192.0.2.1 dst_ip 192.0.2.2 ";

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

// "set" with addresses, and these words behind them.
TunnelKey Set(absl::string_view words) { return Made(absl::StrCat(kSet, words)).tunnel_key(); }

ParseError Failed(absl::string_view text) {
  v1::Action action;
  ParseError error = Parse(text, &action);
  EXPECT_TRUE(error) << text;
  return error;
}

// Words that tc sends and the kernel refuses.
RuleError Refused(absl::string_view words) {
  v1::Action action;
  const ParseError parsed = Parse(absl::StrCat(kSet, words), &action);
  EXPECT_FALSE(parsed) << words << ": " << parsed.text;
  RuleError error = Kind_().Normalize({}, &action);
  EXPECT_TRUE(error) << words;
  return error;
}

RuleError Normalized(const TunnelKey& key) {
  v1::Action action;
  *action.mutable_tunnel_key() = key;
  return Kind_().Normalize({}, &action);
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

std::string Json(const v1::Action& action) {
  PrintOptions options;
  options.json = true;
  return Printed(action, options);
}

// A geneve option with so much data.
std::string Geneve(size_t bytes) { return absl::StrCat("1:2:", std::string(2 * bytes, 'a')); }

TEST(TunnelKeyParse, SetHasAddressesAndWhatTheTunnelNeeds) {
  const v1::Action action =
      Made(absl::StrCat(kSet, "id 42 dst_port 4789 nocsum nofrag tos 0x10 ttl 64 pass index 7"));
  const TunnelKey& key = action.tunnel_key();
  EXPECT_EQ(key.operation(), TunnelKey::OPERATION_SET);
  EXPECT_EQ(key.src_ip(), std::string("\xc0\x00\x02\x01", 4));
  EXPECT_EQ(key.dst_ip(), std::string("\xc0\x00\x02\x02", 4));
  EXPECT_EQ(key.key_id(), 42u);
  EXPECT_EQ(key.dst_port(), 4789u);
  EXPECT_TRUE(key.no_csum());
  EXPECT_TRUE(key.no_frag());
  EXPECT_EQ(key.tos(), 16u);
  EXPECT_EQ(key.ttl(), 64u);
  EXPECT_EQ(key.verdict().type(), Verdict::TYPE_PASS);
  EXPECT_EQ(action.index(), 7u);
}

TEST(TunnelKeyParse, AbbreviationsGoToTcsFirstMatch) {
  const TunnelKey key = Made("s sr 1.1.1.1 d 2.2.2.2 i 4 dst_p 5 t 6 tt 7 n").tunnel_key();
  EXPECT_EQ(key.dst_ip(), "\x02\x02\x02\x02");
  EXPECT_EQ(key.key_id(), 4u);
  EXPECT_EQ(key.dst_port(), 5u);
  EXPECT_EQ(key.tos(), 6u);
  EXPECT_EQ(key.ttl(), 7u);
  EXPECT_TRUE(key.no_csum());
  EXPECT_FALSE(key.no_frag());
  EXPECT_TRUE(Set("nof").no_frag());
  // "c" is csum, not continue.
  EXPECT_EQ(Set("nocsum c").verdict().type(), Verdict::TYPE_PIPE);
  EXPECT_FALSE(Set("nocsum c").no_csum());
  EXPECT_EQ(Made("u co").tunnel_key().verdict().type(), Verdict::TYPE_CONTINUE);
}

TEST(TunnelKeyParse, TheLastValueCounts) {
  EXPECT_EQ(Set("id 4 id 5").key_id(), 5u);
  EXPECT_FALSE(Set("nocsum csum").no_csum());
  EXPECT_EQ(Set("src_ip 1.1.1.1").src_ip(), "\x01\x01\x01\x01");
  const TunnelKey key = Set("geneve_opts 1:2:33445566 erspan_opts 1:2 vxlan_opts 5");
  EXPECT_EQ(key.vxlan().gbp(), 5u);
  EXPECT_EQ(key.geneve_size(), 0);
  EXPECT_FALSE(key.has_erspan());
  EXPECT_EQ(Set("geneve_opts 1:2:33445566 geneve_opts 7:8:33445566").geneve_size(), 1);
}

TEST(TunnelKeyParse, TosAndTtlAreDecimalOrElseHexadecimal) {
  EXPECT_EQ(Set("tos 10").tos(), 10u);
  EXPECT_EQ(Set("tos 1f").tos(), 31u);
  EXPECT_EQ(Set("ttl ff").ttl(), 255u);
  EXPECT_EQ(Set("ttl 255").ttl(), 255u);
}

TEST(TunnelKeyParse, GeneveOptionsAreHexadecimalAndAList) {
  const TunnelKey key = Set("geneve_opts 102:80:00880022,ffff:ff:0040007611223344");
  ASSERT_EQ(key.geneve_size(), 2);
  EXPECT_EQ(key.geneve(0).option_class(), 0x102u);
  EXPECT_EQ(key.geneve(0).type(), 0x80u);
  EXPECT_EQ(key.geneve(0).data(), std::string("\x00\x88\x00\x22", 4));
  EXPECT_EQ(key.geneve(1).option_class(), 0xffffu);
  EXPECT_EQ(key.geneve(1).data().size(), 8u);
  // A last single digit is dropped.
  EXPECT_EQ(Set("geneve_opts 1:2:334455667").geneve(0).data(), "\x33\x44\x55\x66");
}

TEST(TunnelKeyParse, AnErspanVersionNeedsOnlyItsOwn) {
  EXPECT_EQ(Set("erspan_opts 1:0x2a").erspan().index(), 42u);
  const TunnelKey::Erspan second = Set("erspan_opts 2:9:1:63").erspan();
  EXPECT_EQ(second.index(), 0u);
  EXPECT_EQ(second.direction(), 1u);
  EXPECT_EQ(second.hwid(), 63u);
  EXPECT_EQ(Failed(absl::StrCat(kSet, "erspan_opts 1")).text,
            "Error: Missing tunnel key erspan option index.\n");
  EXPECT_EQ(Failed(absl::StrCat(kSet, "erspan_opts 2:0:1")).text,
            "Error: Missing tunnel key erspan option dir or hwid.\n");
}

TEST(TunnelKeyParse, ValuesThatCannotBeReadReturn) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"id 4294967296", "Illegal \"id\"\n"},
      {"id 0x4", "Illegal \"id\"\n"},
      {"dst_port 65536", "Illegal \"dst port\"\n"},
      {"tos 256", "Illegal \"tos\"\n"},
      {"tos -1", "Illegal \"tos\"\n"},
      {"ttl xy", "Illegal \"ttl\"\n"},
      {"geneve_opts 10000:2:33445566", "Illegal \"geneve_opts\"\n"},
      {"geneve_opts 1:100:33445566", "Illegal \"geneve_opts\"\n"},
      {"geneve_opts 1:2:3344556g", "Illegal \"geneve_opts\"\n"},
      {"geneve_opts 1:2:33445566:7", "Illegal \"geneve_opts\"\n"},
      {"geneve_opts ,", "Error: Empty list of tunnel options.\n"},
      {"vxlan_opts 4294967296", "Illegal \"vxlan_opts\"\n"},
      {"vxlan_opts foo", "Illegal \"vxlan_opts\"\n"},
      {"erspan_opts 1:2:0:0:0", "Illegal \"erspan_opts\"\n"},
      {"erspan_opts 256:0", "Illegal \"erspan_opts\"\n"},
      {"erspan_opts 2:0:256:0", "Illegal \"erspan_opts\"\n"},
      {"index 4294967296", "tunnel_key: Illegal \"index\"\n"},
      {"index foo", "tunnel_key: Illegal \"index\"\n"},
      {"goto chain x", "Illegal \"chain index\"\n"},
  };
  for (const auto& [words, text] : cases) {
    const ParseError error = Failed(absl::StrCat(kSet, words));
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << words;
    EXPECT_EQ(error.text, text) << words;
  }
}

TEST(TunnelKeyParse, AWordThatIsNoAddressEndsTcWith1) {
  for (const char* words : {"set src_ip 300.1.1.1 dst_ip 1.1.1.1", "set dst_ip fe80::x"}) {
    const ParseError error = Failed(words);
    EXPECT_EQ(error.then, ParseError::Then::kExit) << words;
    EXPECT_EQ(error.code, 1) << words;
  }
  EXPECT_EQ(Failed("set src_ip foo").text,
            "Error: any valid address is expected rather than \"foo\".\n");
  EXPECT_EQ(Failed("set src_ip any dst_ip 1.1.1.1").then, ParseError::Then::kReturn);
}

TEST(TunnelKeyParse, AnOperationIsGivenOnceAndSetNeedsBothAddresses) {
  const std::string help(Kind_().help());
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"set unset", "unexpected \"unset\" - action already specified\n"},
      {"unset set", "unexpected \"set\" - action already specified\n"},
      {"s s", "unexpected \"s\" - action already specified\n"},
      {"set", "set needs tunnel_key parameters\n"},
      {"set id 1 index 7", "set needs tunnel_key parameters\n"},
      {"set src_ip 1.1.1.1", "set needs tunnel_key parameters\n"},
      {"set dst_ip 1.1.1.1 drop", "set needs tunnel_key parameters\n"},
  };
  for (const auto& [words, text] : cases) {
    EXPECT_EQ(Failed(words).then, ParseError::Then::kReturn) << words;
    EXPECT_EQ(Failed(words).text, text + help) << words;
  }
}

TEST(TunnelKeyParse, MissingValuesEndTc) {
  for (const char* text : {"", "set src_ip", "set dst_ip", "set id", "set dst_port", "set tos",
                           "set ttl", "set geneve_opts", "set vxlan_opts", "set erspan_opts",
                           "unset index", "unset goto chain"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kExit) << text;
    EXPECT_EQ(Failed(text).code, 255) << text;
  }
}

TEST(TunnelKeyParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("unset pipe index 3 set");
  v1::Action action;
  EXPECT_FALSE(Kind_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "set");
}

TEST(TunnelKeyParse, HelpIsTheHelpAlone) {
  EXPECT_EQ(Failed("help").text, Kind_().help());
  EXPECT_EQ(Failed("unset h").text, Kind_().help());
}

TEST(TunnelKeyNormalize, AnOperationIsRequired) {
  const RuleError error = Normalized(TunnelKey());
  EXPECT_EQ(error.field, "tunnel_key.operation");
  EXPECT_EQ(error.text, "0; 1 to 2 are allowed");
  EXPECT_EQ(error.kernel_text, "Error: Unknown tunnel key action.");
  TunnelKey key;
  key.set_operation(static_cast<TunnelKey::Operation>(3));
  EXPECT_EQ(Normalized(key).field, "tunnel_key.operation");
}

TEST(TunnelKeyNormalize, UnsetKeepsNothingButItsVerdict) {
  const TunnelKey key =
      Made("unset src_ip 1.1.1.1 id 4 geneve_opts 1:2:33445566 nocsum nofrag tos 4 drop")
          .tunnel_key();
  TunnelKey bare;
  bare.set_operation(TunnelKey::OPERATION_UNSET);
  bare.mutable_verdict()->set_type(Verdict::TYPE_DROP);
  EXPECT_EQ(key.SerializeAsString(), bare.SerializeAsString());
}

TEST(TunnelKeyNormalize, BothAddressesAreOfOneFamily) {
  const RuleError error = Refused("dst_ip fec0::2");
  EXPECT_EQ(error.field, "tunnel_key.src_ip");
  EXPECT_EQ(error.text, "4 bytes, and dst_ip 16; both 4 (IPv4) or both 16 (IPv6) are required");
  EXPECT_EQ(error.kernel_text, "Error: Missing either ipv4 or ipv6 src and dst.");
  TunnelKey key;
  key.set_operation(TunnelKey::OPERATION_SET);
  EXPECT_EQ(Normalized(key).field, "tunnel_key.src_ip");
  key.set_src_ip("abc");
  key.set_dst_ip("def");
  EXPECT_EQ(Normalized(key).field, "tunnel_key.src_ip");
  EXPECT_EQ(Made("set src_ip fec0::1 dst_ip fec0::2").tunnel_key().src_ip().size(), 16u);
}

TEST(TunnelKeyNormalize, NumbersHaveTheirLimits) {
  TunnelKey key = Set("dst_port 65535 tos 255 ttl 255");
  EXPECT_FALSE(Normalized(key));
  key.set_dst_port(65536);
  EXPECT_EQ(Normalized(key).text, "65536; 0 to 65535 are allowed");
  key.set_dst_port(0);
  key.set_tos(256);
  EXPECT_EQ(Normalized(key).field, "tunnel_key.tos");
  key.set_tos(0);
  key.set_ttl(256);
  EXPECT_EQ(Normalized(key).field, "tunnel_key.ttl");
}

TEST(TunnelKeyNormalize, AnIdOf0IsAnId) {
  EXPECT_TRUE(Set("id 0").has_key_id());
  EXPECT_FALSE(Set("dst_port 1").has_key_id());
}

TEST(TunnelKeyNormalize, GeneveDataIsInWordsOf4Bytes) {
  EXPECT_EQ(Set(absl::StrCat("geneve_opts ", Geneve(4))).geneve(0).data().size(), 4u);
  EXPECT_EQ(Set(absl::StrCat("geneve_opts ", Geneve(124))).geneve(0).data().size(), 124u);
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"1", "Error: Missing tunnel key geneve option class, type or data."},
      {"1:2", "Error: Missing tunnel key geneve option class, type or data."},
      {Geneve(3), "Error: Tunnel key geneve option data is less than 4 bytes long."},
      {Geneve(5), "Error: Tunnel key geneve option data is not a multiple of 4 bytes long."},
      {Geneve(128), "Error: Attribute failed policy validation."},
  };
  for (const auto& [option, text] : cases) {
    const RuleError error = Refused(absl::StrCat("geneve_opts 1:2:33445566,", option));
    EXPECT_EQ(error.field, "tunnel_key.geneve[1].data") << option;
    EXPECT_EQ(error.kernel_text, text) << option;
  }
  EXPECT_EQ(Refused(absl::StrCat("geneve_opts ", Geneve(6))).text,
            "6 bytes; a multiple of 4, 4 to 124 are allowed");
}

TEST(TunnelKeyNormalize, GeneveOptionsTake255BytesAtMost) {
  // 128 bytes and 124, with 4 for the head of each.
  EXPECT_FALSE(Normalized(Set(absl::StrCat("geneve_opts ", Geneve(124), ",", Geneve(120)))));
  const RuleError error = Refused(absl::StrCat("geneve_opts ", Geneve(124), ",", Geneve(124)));
  EXPECT_EQ(error.field, "tunnel_key.geneve");
  EXPECT_EQ(error.kernel_text, "Error: Tunnel options exceeds max size.");
}

TEST(TunnelKeyNormalize, GeneveClassAndTypeHaveTheirLimits) {
  TunnelKey key = Set("geneve_opts ffff:ff:33445566");
  EXPECT_FALSE(Normalized(key));
  key.mutable_geneve(0)->set_type(256);
  EXPECT_EQ(Normalized(key).field, "tunnel_key.geneve[0].type");
  key.mutable_geneve(0)->set_type(0);
  key.mutable_geneve(0)->set_option_class(65536);
  EXPECT_EQ(Normalized(key).field, "tunnel_key.geneve[0].option_class");
}

TEST(TunnelKeyNormalize, OnlyTheBitsThatTheKernelHoldsAreKept) {
  EXPECT_EQ(Set("vxlan_opts 4294967295").vxlan().gbp(), 0x48ffffu);
  EXPECT_EQ(Set("vxlan_opts 0x10101").vxlan().gbp(), 257u);
  EXPECT_EQ(Set("erspan_opts 2:0:255:255").erspan().direction(), 1u);
  EXPECT_EQ(Set("erspan_opts 2:0:255:255").erspan().hwid(), 63u);
  EXPECT_EQ(Set("erspan_opts 1:4294967295:1:1").erspan().index(), 4294967295u);
  EXPECT_EQ(Set("erspan_opts 1:7:1:1").erspan().direction(), 0u);
}

TEST(TunnelKeyNormalize, AnErspanVersionIs1Or2) {
  for (const char* words : {"erspan_opts 0:1:0:0", "erspan_opts 3:1:0:0"}) {
    EXPECT_EQ(Refused(words).field, "tunnel_key.erspan.version") << words;
    EXPECT_EQ(Refused(words).kernel_text, "Error: Tunnel key erspan option ver is incorrect.");
  }
}

TEST(TunnelKeyNormalize, OptionsAreOfOneType) {
  TunnelKey key = Set("vxlan_opts 5");
  key.mutable_erspan()->set_version(1);
  EXPECT_EQ(Normalized(key).field, "tunnel_key");
  key.clear_erspan();
  key.add_geneve()->set_data("abcd");
  EXPECT_EQ(Normalized(key).field, "tunnel_key");
  key.clear_vxlan();
  EXPECT_FALSE(Normalized(key));
}

TEST(TunnelKeyNormalize, GotoChainIsForFilters) {
  EXPECT_EQ(Refused("goto chain 7").kernel_text, "Error: can't goto NULL proto/chain.");
  v1::Action action;
  EXPECT_FALSE(Parse("unset goto chain 7", &action));
  EXPECT_FALSE(Kind_().Normalize({.in_filter = true}, &action));
}

TEST(TunnelKeyPrint, SetHasALineForEachPart) {
  EXPECT_EQ(Printed(Made("unset index 4")), "tunnel_key  unset pipe\n\t index 4 ref 0 bind 0\n");
  EXPECT_EQ(Printed(Made(kSet)),
            "tunnel_key  set\n\tsrc_ip 192.0.2.1\n\tdst_ip 192.0.2.2\n\tcsum pipe\n"
            "\t index 0 ref 0 bind 0\n");
  EXPECT_EQ(
      Printed(Made("set src_ip fec0::1 dst_ip fec0::2 id 0 dst_port 7 nocsum nofrag tos 16 ttl 9 "
                   "geneve_opts 102:80:00880022,408:42:00400076 drop index 4")),
      "tunnel_key  set\n\tsrc_ip fec0::1\n\tdst_ip fec0::2\n\tkey_id 0\n\tdst_port 7\n"
      "\tgeneve_opts 0102:80:00880022,0408:42:00400076\n\tnocsum\tnofrag\n\ttos 0x10\n\tttl 9 "
      "drop\n\t index 4 ref 0 bind 0\n");
}

TEST(TunnelKeyPrint, JsonHoldsOptionsInArrays) {
  const std::string head =
      "{\"kind\":\"tunnel_key\",\"mode\":\"set\",\"src_ip\":\"192.0.2.1\","
      "\"dst_ip\":\"192.0.2.2\",";
  const std::string tail =
      "\"flag\":\"csum\",\"nofrag\":false,\"control_action\":{\"type\":\"pipe\"},\"index\":0,"
      "\"ref\":0,\"bind\":0}";
  const auto json = [](absl::string_view words) { return Json(Made(absl::StrCat(kSet, words))); };
  EXPECT_EQ(json("geneve_opts 102:80:00880022"),
            head + "\"geneve_opts\":[{\"class\":258,\"type\":128,\"data\":[0,136,0,34]}]," + tail);
  EXPECT_EQ(json("vxlan_opts 257"), head + "\"vxlan_opts\":[{\"gbp\":257}]," + tail);
  EXPECT_EQ(json("erspan_opts 2:0:1:63"),
            head + "\"erspan_opts\":[{\"ver\":2,\"index\":0,\"dir\":1,\"hwid\":63}]," + tail);
  EXPECT_EQ(Json(Made("unset")),
            "{\"kind\":\"tunnel_key\",\"mode\":\"unset\",\"control_action\":{\"type\":\"pipe\"},"
            "\"index\":0,\"ref\":0,\"bind\":0}");
}

TEST(TunnelKeyOffload, HardwareTakesAll) {
  EXPECT_TRUE(Kind_().Offloadable(Made("unset")));
  EXPECT_TRUE(Kind_().Offloadable(Made(kSet)));
}

}  // namespace
}  // namespace tcact::kinds
