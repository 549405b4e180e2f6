#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Pedit;
using v1::Verdict;

const Kind& Kind_() { return *FindKind("pedit"); }

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

RuleError Refused(const v1::Action& action) {
  v1::Action copy = action;
  RuleError error = Kind_().Normalize({}, &copy);
  EXPECT_TRUE(error) << action.ShortDebugString();
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

// The keys as tc prints them: "ipv4+8: val 40000000 mask 00ffffff", one after the other.
std::string Keys(absl::string_view text) {
  std::string printed = Printed(Made(text));
  std::string keys;
  for (size_t at = printed.find(" at "); at != std::string::npos; at = printed.find(" at ", at)) {
    at += 4;
    absl::StrAppend(&keys, keys.empty() ? "" : "; ",
                    printed.substr(at, printed.find('\n', at) - at));
  }
  return keys;
}

// One key that Normalize takes.
v1::Action OneKey() {
  v1::Action action;
  action.mutable_pedit()->add_keys()->set_value(1);
  return action;
}

TEST(PeditRaw, AnEditBecomesAKeyOfAWholeWord) {
  EXPECT_EQ(Keys("munge offset 0 u8 set 0x12"), "0: val 12000000 mask 00ffffff");
  EXPECT_EQ(Keys("munge offset 1 u8 set 0x12"), "0: val 00120000 mask ff00ffff");
  EXPECT_EQ(Keys("munge offset 2 u8 set 0x12"), "0: val 00001200 mask ffff00ff");
  EXPECT_EQ(Keys("munge offset 3 u8 set 0x12"), "0: val 00000012 mask ffffff00");
  EXPECT_EQ(Keys("munge offset 4 u16 set 0x1234"), "4: val 12340000 mask 0000ffff");
  EXPECT_EQ(Keys("munge offset 5 u16 set 0x1234"), "4: val 00123400 mask ff0000ff");
  EXPECT_EQ(Keys("munge offset 6 u16 set 0x1234"), "4: val 00001234 mask ffff0000");
  EXPECT_EQ(Keys("munge offset 8 u32 set 0x12345678"), "8: val 12345678 mask 00000000");
}

TEST(PeditRaw, OffsetsMayBeNegative) {
  EXPECT_EQ(Keys("munge offset -1 u8 set 1"), "-4: val 00000001 mask ffffff00");
  EXPECT_EQ(Keys("munge offset -14 u16 set 1"), "-16: val 00000001 mask ffff0000");
  EXPECT_EQ(Keys("munge offset -2147483648 u32 set 1"), "-2147483648: val 00000001 mask 00000000");
}

TEST(PeditRaw, OffsetsAreIntegersAndDoNotCrossAWord) {
  for (const char* text :
       {"munge offset 2147483648 u32 clear", "munge offset -2147483649 u32 clear",
        "munge offset x u32 clear", "munge offset 1 u32 clear", "munge offset 3 u16 clear"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kReturn) << text;
  }
}

TEST(PeditRaw, ValuesFitTheirWidth) {
  EXPECT_EQ(Keys("munge offset 0 u8 set 255"), "0: val ff000000 mask 00ffffff");
  EXPECT_EQ(Keys("munge offset 0 u16 set 65535"), "0: val ffff0000 mask 0000ffff");
  EXPECT_EQ(Keys("munge offset 0 u32 set 4294967295"), "0: val ffffffff mask 00000000");
  for (const char* text : {"munge offset 0 u8 set 256", "munge offset 0 u16 set 65536",
                           "munge offset 0 u32 set 4294967296", "munge offset 0 u32 set -1"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kReturn) << text;
  }
}

TEST(PeditRaw, AtReadsAByteOfThePacket) {
  const Pedit pedit = Made("munge offset 4 u8 at 9 f0 4 set 1").pedit();
  EXPECT_EQ(pedit.keys(0).at(), 9);
  EXPECT_EQ(pedit.keys(0).offset_mask(), 0xf0U);
  EXPECT_EQ(pedit.keys(0).offset_shift(), 4U);
  // Its mask is hexadecimal, and the words offmask and shift of tc's manual are not taken.
  EXPECT_TRUE(Failed("munge offset 4 u8 at 9 offmask f0 shift 4 set 1"));
  EXPECT_TRUE(Failed("munge offset 4 u8 at 9 fg 4 set 1"));
  EXPECT_EQ(Failed("munge offset 4 u8 at 9 f0").then, ParseError::Then::kExit);
}

TEST(PeditCommand, ClearInvertPreserve) {
  EXPECT_EQ(Keys("munge offset 0 u16 clear"), "0: val 00000000 mask 0000ffff");
  EXPECT_EQ(Keys("munge offset 0 u16 invert"), "0: val ffff0000 mask ffffffff");
  EXPECT_EQ(Keys("munge offset 0 u16 preserve"), "0: val 00000000 mask ffffffff");
}

TEST(PeditCommand, RetainSaysWhichBitsChange) {
  EXPECT_EQ(Keys("munge offset 0 u8 set 0x11 retain 0x0f"), "0: val 01000000 mask f0ffffff");
  EXPECT_EQ(Keys("munge ip tos set 0x13 retain 0xfc"), "0: val 00100000 mask ff03ffff");
  // As in tc it takes back a preserve.
  EXPECT_EQ(Keys("munge offset 0 u8 preserve retain 0xff"), "0: val 00000000 mask 00ffffff");
  EXPECT_EQ(Failed("munge offset 0 u8 clear retain").then, ParseError::Then::kExit);
  EXPECT_EQ(Failed("munge offset 0 u8 clear retain x").then, ParseError::Then::kReturn);
}

TEST(PeditCommand, RetainIsForNumbers) {
  EXPECT_TRUE(Failed("ex munge eth src set 1:2:3:4:5:6 retain 0xff"));
  EXPECT_TRUE(Failed("ex munge ip6 src preserve"));
  EXPECT_EQ(Keys("ex munge eth dst set 1:2:3:4:5:6 retain 0xffffffff"),
            "eth+0: val 01020304 mask 00000000; eth+4: val 05060000 mask 0000ffff");
}

TEST(PeditCommand, InvertOfALongAddressSetsItsFirstByteAsInTc) {
  EXPECT_EQ(Keys("ex munge eth dst invert"),
            "eth+0: val ff000000 mask 00000000; eth+4: val 00000000 mask 0000ffff");
  EXPECT_EQ(Keys("ex munge ip src invert"), "ipv4+12: val ffffffff mask ffffffff");
}

TEST(PeditCommand, AddNeedsEx) {
  EXPECT_EQ(Keys("ex munge offset 16 u8 add 0xf"), "16: add 0f000000 mask 00ffffff");
  EXPECT_EQ(Keys("ex munge ip ttl add 255"), "ipv4+8: add ff000000 mask 00ffffff");
  EXPECT_NE(Failed("munge ip ttl add 1").text.find("Non extended mode. only 'set'"),
            std::string::npos);
}

TEST(PeditCommand, DecrementAddsTheLargestValue) {
  EXPECT_EQ(Keys("ex munge ip ttl decrement"), "ipv4+8: add ff000000 mask 00ffffff");
  EXPECT_EQ(Keys("ex munge ip6 hoplimit dec"), "ipv6+4: add 000000ff mask ffffff00");
}

TEST(PeditCommand, DecrementIsForTtlAndHoplimitWithEx) {
  EXPECT_NE(Failed("munge ip ttl decrement").text.find("Non extended mode. only 'set'"),
            std::string::npos);
  for (const char* text : {"ex munge offset 0 u8 decrement", "ex munge ip tos decrement",
                           "ex munge ip src decrement", "ex munge tcp sport decrement"}) {
    EXPECT_NE(Failed(text).text.find("decrement command is not supported for this field"),
              std::string::npos)
        << text;
  }
}

TEST(PeditField, WithoutExTheKeysCountFromTheNetworkHeader) {
  EXPECT_EQ(Keys("munge ip src set 192.0.2.1"), "12: val c0000201 mask 00000000");
  EXPECT_EQ(Keys("ex munge ip src set 192.0.2.1"), "ipv4+12: val c0000201 mask 00000000");
  for (const char* header : {"eth type", "ip6 hoplimit", "tcp sport", "udp sport"}) {
    EXPECT_TRUE(Failed(absl::StrCat("munge ", header, " set 1"))) << header;
  }
}

TEST(PeditField, WithExTheIpv4HeaderEndsWhereItEnds) {
  for (const char* field : {"sport", "dport", "icmp_type", "icmp_code"}) {
    EXPECT_TRUE(Failed(absl::StrCat("ex munge ip ", field, " set 1"))) << field;
  }
  EXPECT_EQ(Keys("munge ip dport set 80"), "20: val 00000050 mask ffff0000");
  EXPECT_EQ(Keys("munge ip sport set 80"), "20: val 00500000 mask 0000ffff");
  EXPECT_EQ(Keys("munge ip icmp_type set 8"), "20: val 08000000 mask 00ffffff");
  EXPECT_EQ(Keys("munge ip icmp_code set 8"), "20: val 08000000 mask 00ffffff");
}

TEST(PeditField, EveryFieldHasItsPlaceAndItsBits) {
  const struct {
    const char* edit;
    const char* key;
  } kCases[] = {
      {"eth type set 0xffff", "eth+12: val ffff0000 mask 0000ffff"},
      {"ip tos set 0xff", "ipv4+0: val 00ff0000 mask ff00ffff"},
      {"ip dsfield set 0xff", "ipv4+0: val 00ff0000 mask ff00ffff"},
      {"ip precedence set 0xff", "ipv4+0: val 00ff0000 mask ff00ffff"},
      {"ip ihl set 0xff", "ipv4+0: val 0f000000 mask f0ffffff"},
      {"ip ttl set 0xff", "ipv4+8: val ff000000 mask 00ffffff"},
      {"ip protocol set 0xff", "ipv4+8: val 00ff0000 mask ff00ffff"},
      {"ip nofrag set 0xff", "ipv4+4: val 00003f00 mask ffffc0ff"},
      {"ip firstfrag set 0xff", "ipv4+4: val 00001f00 mask ffffe0ff"},
      {"ip ce set 0xff", "ipv4+4: val 00008000 mask ffff7fff"},
      {"ip df set 0xff", "ipv4+4: val 00004000 mask ffffbfff"},
      {"ip mf set 0xff", "ipv4+4: val 00002000 mask ffffdfff"},
      {"ip6 flow_lbl set 0xffff", "ipv6+0: val 0000ffff mask fff80000"},
      {"ip6 payload_len set 0xffff", "ipv6+4: val ffff0000 mask 0000ffff"},
      {"ip6 nexthdr set 0xff", "ipv6+4: val 0000ff00 mask ffff00ff"},
      {"ip6 hoplimit set 0xff", "ipv6+4: val 000000ff mask ffffff00"},
      {"ip6 traffic_class set 0xff", "ipv6+0: val 0ff00000 mask f00fffff"},
      {"tcp sport set 0xffff", "tcp+0: val ffff0000 mask 0000ffff"},
      {"tcp dport set 0xffff", "tcp+0: val 0000ffff mask ffff0000"},
      {"tcp flags set 0xff", "tcp+12: val 00ff0000 mask ff00ffff"},
      {"udp sport set 0xffff", "udp+0: val ffff0000 mask 0000ffff"},
      {"udp dport set 0xffff", "udp+0: val 0000ffff mask ffff0000"},
  };
  for (const auto& each : kCases) {
    EXPECT_EQ(Keys(absl::StrCat("ex munge ", each.edit)), each.key) << each.edit;
  }
}

TEST(PeditField, AddressesTakeSeveralKeys) {
  EXPECT_EQ(Keys("ex munge eth src set 11:22:33:44:55:66"),
            "eth+4: val 00001122 mask ffff0000; eth+8: val 33445566 mask 00000000");
  EXPECT_EQ(Keys("ex munge ip6 dst set 2001:db8::1"),
            "ipv6+24: val 20010db8 mask 00000000; ipv6+28: val 00000000 mask 00000000; "
            "ipv6+32: val 00000000 mask 00000000; ipv6+36: val 00000001 mask 00000000");
  for (const char* text : {"ex munge eth src set 11:22:33:44:55", "munge ip src set 2001:db8::1",
                           "ex munge ip6 src set 192.0.2.1", "munge ip src set 256.0.0.1"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kReturn) << text;
  }
}

TEST(PeditField, NamesAreWholeButForTcsTwo) {
  EXPECT_EQ(Keys("munge ip d set 1"), "0: val 00010000 mask ff00ffff");
  EXPECT_EQ(Keys("munge ip pre set 1"), "0: val 00010000 mask ff00ffff");
  for (const char* field : {"sr", "tt", "to", "df0", "protoco"}) {
    EXPECT_TRUE(Failed(absl::StrCat("munge ip ", field, " set 1"))) << field;
  }
  EXPECT_TRUE(Failed("ex munge icmp type set 1"));
  EXPECT_TRUE(Failed("ex munge vlan id set 1"));
}

TEST(PeditParse, KeepsTheOrderOfItsEditsThenReadsVerdictAndIndex) {
  const v1::Action action =
      Made("ex munge ip ttl set 1 munge offset 0 u8 set 2 munge udp sport set 3 drop index 7");
  ASSERT_EQ(action.pedit().keys_size(), 3);
  EXPECT_EQ(action.pedit().keys(0).header(), Pedit::HEADER_IP4);
  EXPECT_EQ(action.pedit().keys(1).header(), Pedit::HEADER_NETWORK);
  EXPECT_EQ(action.pedit().keys(2).header(), Pedit::HEADER_UDP);
  EXPECT_EQ(action.pedit().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 7U);
  EXPECT_EQ(Made("munge ip ttl set 1").pedit().verdict().type(), Verdict::TYPE_PASS);
}

TEST(PeditParse, TakesItsKindsWordAgain) {
  EXPECT_EQ(Keys("pedit munge ip ttl set 1"), "8: val 01000000 mask 00ffffff");
  EXPECT_EQ(Keys("munge ip ttl set 1 pe munge ip ttl set 2"),
            "8: val 01000000 mask 00ffffff; 8: val 02000000 mask 00ffffff");
  // So "p" is not pass, and wants a word behind it.
  EXPECT_EQ(Failed("munge ip ttl set 1 p").then, ParseError::Then::kExit);
  EXPECT_EQ(Failed("pedit ex munge ip ttl set 1").then, ParseError::Then::kReturn);
}

TEST(PeditParse, PacksAsManyKeysAsTc) {
  std::string text;
  for (int i = 0; i < 128; ++i) absl::StrAppend(&text, " munge offset 0 u8 clear");
  EXPECT_EQ(Made(text).pedit().keys_size(), 128);
  EXPECT_EQ(Failed(absl::StrCat(text, " munge offset 0 u8 clear")).then, ParseError::Then::kReturn);
}

TEST(PeditParse, BadEditsReturnWithTheirWordAndTheHelp) {
  const ParseError error = Failed("munge offset 0 u8 foo");
  EXPECT_EQ(error.then, ParseError::Then::kReturn);
  EXPECT_EQ(error.text, absl::StrCat("Bad pedit construct (foo)\n", Kind_().help()));
}

TEST(PeditParse, MissingWordsEndTc) {
  for (const char* text : {"", "ex", "munge", "munge ip", "munge offset", "munge offset 0 u8",
                           "munge offset 0 u8 set", "munge ip ttl clear index"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kExit) << text;
  }
}

TEST(PeditParse, HelpIsTheHelpAlone) {
  EXPECT_EQ(Failed("help").text, Kind_().help());
  EXPECT_EQ(Failed("munge ip ttl set 1 help").text, Kind_().help());
}

TEST(PeditParse, BadIndexesReturn) {
  EXPECT_EQ(Failed("munge ip ttl set 1 index 4294967296").text, "Pedit: Illegal \"index\"\n");
}

TEST(PeditNormalize, OneTo255Keys) {
  v1::Action action;
  action.mutable_pedit();
  EXPECT_EQ(Refused(action).kernel_text, "Error: act_pedit: Pedit requires keys to be passed.");
  while (action.pedit().keys_size() < 255) action.mutable_pedit()->add_keys();
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  action.mutable_pedit()->add_keys();
  const RuleError error = Refused(action);
  EXPECT_EQ(error.field, "pedit.keys");
  EXPECT_EQ(error.text, "256 keys; 1 to 255 are allowed");
}

TEST(PeditNormalize, OffsetsAreMultiplesOf4UnlessThePacketAddsToThem) {
  v1::Action action = OneKey();
  action.mutable_pedit()->mutable_keys(0)->set_offset(-4);
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  action.mutable_pedit()->mutable_keys(0)->set_offset(2);
  const RuleError error = Refused(action);
  EXPECT_EQ(error.field, "pedit.keys[0].offset");
  EXPECT_EQ(error.kernel_text, "Error: act_pedit: Offsets must be on 32bit boundaries.");
  action.mutable_pedit()->mutable_keys(0)->set_offset_mask(0xff);
  EXPECT_FALSE(Kind_().Normalize({}, &action));
}

TEST(PeditNormalize, WithoutAMaskNothingIsReadFromThePacket) {
  v1::Action action = OneKey();
  action.mutable_pedit()->mutable_keys(0)->set_at(9);
  action.mutable_pedit()->mutable_keys(0)->set_offset_shift(4);
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  EXPECT_EQ(action.pedit().keys(0).at(), 0);
  EXPECT_EQ(action.pedit().keys(0).offset_shift(), 0U);
}

TEST(PeditNormalize, ShiftsEndAt31) {
  EXPECT_EQ(Made("munge offset 0 u8 at 0 ff 31 clear").pedit().keys(0).offset_shift(), 31U);
  EXPECT_EQ(Made("munge offset 0 u8 at 0 ff 32 clear").pedit().keys(0).offset_shift(), 31U);
}

TEST(PeditNormalize, HeadersAndCommandsAreForExtendedKeys) {
  v1::Action action = OneKey();
  action.mutable_pedit()->mutable_keys(0)->set_header(Pedit::HEADER_TCP);
  EXPECT_EQ(Refused(action).field, "pedit.keys[0].header");
  action.mutable_pedit()->set_extended(true);
  EXPECT_FALSE(Kind_().Normalize({}, &action));

  action = OneKey();
  action.mutable_pedit()->mutable_keys(0)->set_command(Pedit::COMMAND_ADD);
  EXPECT_EQ(Refused(action).field, "pedit.keys[0].command");
  action.mutable_pedit()->set_extended(true);
  EXPECT_FALSE(Kind_().Normalize({}, &action));
}

TEST(PeditNormalize, UnknownEnumValuesAreRefused) {
  v1::Action action = OneKey();
  action.mutable_pedit()->set_extended(true);
  action.mutable_pedit()->mutable_keys(0)->set_header(static_cast<Pedit::Header>(6));
  EXPECT_EQ(Refused(action).text, "6; 0 to 5 are allowed");
  action.mutable_pedit()->mutable_keys(0)->set_header(Pedit::HEADER_ETH);
  action.mutable_pedit()->mutable_keys(0)->set_command(static_cast<Pedit::Command>(2));
  EXPECT_EQ(Refused(action).text, "2; 0 to 1 are allowed");
}

TEST(PeditNormalize, GotoChainIsForFilters) {
  v1::Action action;
  ASSERT_FALSE(Parse("munge ip ttl set 1 goto chain 5", &action));
  EXPECT_EQ(Refused(action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Kind_().Normalize({.in_filter = true}, &action));
}

TEST(PeditPrint, TextAndJsonAreTcs) {
  v1::Action action = Made("ex munge ip ttl add 255 munge offset 4 u16 set 0x12 pipe index 3");
  action.set_refcnt(2);
  action.set_bindcnt(1);
  EXPECT_EQ(Printed(action),
            " pedit action pipe keys 2\n \t index 3 ref 2 bind 1"
            "\n\t key #0  at ipv4+8: add ff000000 mask 00ffffff"
            "\n\t key #1  at 4: val 00120000 mask 0000ffff\n");
  EXPECT_EQ(Printed(action, {.json = true}),
            "{\"kind\":\"pedit\",\"control_action\":{\"type\":\"pipe\"},\"nkeys\":2,\"index\":3,"
            "\"ref\":2,\"bind\":1,\"keys\":[{\"htype\":\"ipv4\",\"offset\":8,\"cmd\":\"add\","
            "\"val\":\"ff000000\",\"mask\":\"ffffff\"},{\"htype\":\"network\",\"offset\":4,"
            "\"cmd\":\"set\",\"val\":\"120000\",\"mask\":\"ffff\"}]}");
}

TEST(PeditOffload, HardwareTakesExtendedKeysOfOneCommand) {
  const auto offloadable = [](absl::string_view text) { return Kind_().Offloadable(Made(text)); };
  EXPECT_FALSE(offloadable("munge ip ttl set 1"));
  EXPECT_TRUE(offloadable("ex munge ip ttl set 1 munge tcp sport set 1"));
  EXPECT_TRUE(offloadable("ex munge ip ttl add 1 munge tcp sport add 1"));
  EXPECT_FALSE(offloadable("ex munge ip ttl add 1 munge tcp sport set 1"));
}

}  // namespace
}  // namespace tcact::kinds
