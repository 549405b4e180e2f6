#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Police;
using v1::Verdict;

const Kind& Kind_() { return *FindKind("police"); }

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

RuleError Refused(const Police& police) {
  v1::Action action;
  *action.mutable_police() = police;
  RuleError error = Kind_().Normalize({}, &action);
  EXPECT_TRUE(error) << police.ShortDebugString();
  return error;
}

TEST(PoliceParse, AbbreviationsGoToTcsFirstMatch) {
  EXPECT_EQ(Made("rate 1mbit b 10k mtu 9k p 10kbit").police().peak_rate(), 1250u);
  EXPECT_EQ(Made("rate 1mbit burst 10k pi").police().exceed().type(), Verdict::TYPE_PIPE);
  EXPECT_EQ(Made("rate 1mbit burst 10k o").police().exceed().type(), Verdict::TYPE_PASS);
  EXPECT_EQ(Made("rate 1mbit burst 10k ov 24").police().overhead(), 24u);
  EXPECT_EQ(Made("pkts_r 10 pkts_b 10").police().packet_rate(), 10u);
  EXPECT_EQ(Made("pk 10 pkts_b 10").police().packet_rate(), 10u);
  EXPECT_EQ(Made("rate 1mbit burst 10k i 5").index(), 5u);
}

TEST(PoliceParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("rate 1mbit burst 10k trap");
  v1::Action action;
  EXPECT_FALSE(Kind_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "trap");
}

TEST(PoliceParse, ValuesGivenTwiceEndTc) {
  EXPECT_EQ(Failed("rate 10kbit burst 10k rate 20kbit").text,
            "Error: duplicate \"rate\": \"20kbit\" is the second value.\n");
  for (const char* text : {"burst 1k buffer 2k", "mtu 1k minburst 2k", "pkts_rate 1 pkts_rate 2",
                           "peakrate 1kbit peakrate 2kbit", "mpu 1 mpu 2"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kExit) << text;
  }
}

TEST(PoliceParse, BadValuesEndTcAndNameTheWord) {
  EXPECT_EQ(Failed("rate foo burst 10k").text, "Error: argument \"foo\" is wrong: rate\n");
  EXPECT_EQ(Failed("rate 1mbit burst 10k index 4294967296").text,
            "Error: argument \"4294967296\" is wrong: index\n");
  for (const char* text : {"rate 90kbit burst 10k mtu 2kb peakrate 100T", "burst 10k/7", "mtu 4g",
                           "overhead 65536", "linklayer foo", "pkts_rate x", "rate"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kExit) << text;
  }
}

TEST(PoliceParse, PartsThatNeedOrExcludeEachOtherReturn) {
  const struct {
    const char* words;
    const char* text;
  } cases[] = {
      {"rate 1mbit index 200", "'burst' requires 'rate'.\n"},
      {"burst 10k", "'rate' or 'avrate' or 'mtu' or 'pkts_rate' MUST be specified.\n"},
      {"pkts_rate 10 index 1", "'pkts_burst' requires 'pkts_rate'.\n"},
      {"rate 1mbit burst 10k pkts_rate 10 pkts_burst 10",
       "'rate' and 'pkts_rate' are not allowed in same action.\n"},
      {"peakrate 1mbit index 200", "'peakrate' requires 'rate'.\n"},
      {"rate 1mbit burst 10k peakrate 2mbit", "'mtu' is required, if 'peakrate' is requested.\n"},
      {"rate 1mbit avrate 1mbit burst 10k", ""},
      {"rate 1kbit burst 1m", "POLICE: burst out of range\n"},
      {"foo", ""},
      {"rate 1mbit burst 10k conform-exceed foo", "Bad action type foo\n"},
  };
  for (const auto& c : cases) {
    const ParseError error = Failed(c.words);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << c.words;
    EXPECT_EQ(error.text, c.text) << c.words;
  }
}

TEST(PoliceParse, ACellSetsTheMtuThatItsTableReaches) {
  EXPECT_EQ(Made("rate 1mbit burst 10k/16").police().mtu(), 255u * 16);
  EXPECT_EQ(Made("rate 1mbit burst 10k/16 mtu 1500").police().mtu(), 1500u);
}

TEST(PoliceNormalize, FillsTheKernelsDefaults) {
  const Police police = Made("rate 1mbit burst 10k").police();
  EXPECT_EQ(police.mtu(), 2040u);
  EXPECT_EQ(police.link_layer(), Police::LINK_LAYER_ETHERNET);
  EXPECT_EQ(police.exceed().type(), Verdict::TYPE_RECLASSIFY);
  EXPECT_EQ(police.conform().type(), Verdict::TYPE_PASS);
}

TEST(PoliceNormalize, WithoutARateNothingOfItIsKept) {
  const Police police = Made("burst 10k overhead 3 mpu 64 linklayer atm index 200").police();
  EXPECT_EQ(police.burst(), 0u);
  EXPECT_EQ(police.overhead(), 0u);
  EXPECT_EQ(police.mpu(), 0u);
  EXPECT_EQ(police.link_layer(), Police::LINK_LAYER_UNSPECIFIED);
  EXPECT_EQ(police.mtu(), 4294967295u);
  EXPECT_EQ(Made("pkts_burst 10 index 1").police().packet_burst(), 0u);
}

TEST(PoliceNormalize, LimitsHoldOnBothSides) {
  Police police;
  police.set_rate(1);
  EXPECT_EQ(Refused(police).text, "0; 1 to 274 are allowed");
  police.set_burst(275);
  EXPECT_EQ(Refused(police).field, "police.burst");
  police.set_burst(274);
  police.set_mtu(255);
  EXPECT_EQ(Refused(police).field, "police.mtu");
  police.set_mtu(256);
  police.set_overhead(65536);
  EXPECT_EQ(Refused(police).text, "65536; 0 to 65535 are allowed");
  police.set_overhead(65535);
  police.set_mpu(65536);
  EXPECT_EQ(Refused(police).field, "police.mpu");
  police.set_mpu(65535);
  police.set_link_layer(static_cast<Police::LinkLayer>(3));
  EXPECT_EQ(Refused(police).field, "police.link_layer");
  police.clear_link_layer();
  v1::Action action;
  *action.mutable_police() = police;
  EXPECT_FALSE(Kind_().Normalize({}, &action));
}

TEST(PoliceNormalize, PartsThatNeedOrExcludeEachOtherAreRefusedInTheApiToo) {
  Police police;
  police.set_peak_rate(5);
  EXPECT_EQ(Refused(police).field, "police.peak_rate");
  police.set_rate(1000);
  police.set_burst(1000);
  EXPECT_EQ(Refused(police).text, "0; required with peak_rate");
  police.clear_peak_rate();
  police.set_packet_rate(5);
  EXPECT_EQ(Refused(police).field, "police.packet_rate");
  police.clear_rate();
  EXPECT_EQ(Refused(police).field, "police.packet_burst");
}

TEST(PoliceNormalize, AnAverageRateHasNoEstimator) {
  Police police;
  police.set_average_rate(5);
  EXPECT_EQ(Refused(police).kernel_text, "RTNETLINK answers: Invalid argument");
}

TEST(PoliceNormalize, VerdictsAreChecked) {
  Police police;
  police.mutable_exceed()->set_type(Verdict::TYPE_GOTO_CHAIN);
  EXPECT_EQ(Refused(police).kernel_text, "Error: can't goto NULL proto/chain.");
  police.mutable_conform()->set_type(Verdict::TYPE_GOTO_CHAIN);
  EXPECT_EQ(Refused(police).kernel_text, "Error: goto chain not allowed on fallback.");
}

TEST(PolicePrint, TextHasRatesThatJsonLacks) {
  v1::Action action = Made("rate 1mbit burst 10k mtu 9k peakrate 10kbit index 200");
  action.set_refcnt(1);
  EXPECT_EQ(Printed(action),
            " police 0xc8 rate 1Mbit burst 10Kb mtu 9Kb peakrate 10Kbit action reclassify "
            "overhead 0b \n\tref 1 bind 0 \n");
  PrintOptions options;
  options.json = true;
  EXPECT_EQ(Printed(action, options),
            "{\"kind\":\"police\",\"index\":200,\"control_action\":{\"type\":\"reclassify\"},"
            "\"overhead\":0,\"ref\":1,\"bind\":0}");
}

TEST(PolicePrint, PacketRatesAreInBoth) {
  v1::Action action = Made("pkts_rate 1000 pkts_burst 200 index 3");
  EXPECT_EQ(Printed(action),
            " police 0x3 rate 0bit burst 0b mtu 4Gb pkts_rate 1000 pkts_burst 200 action "
            "reclassify overhead 0b \n\tref 0 bind 0 \n");
  PrintOptions options;
  options.json = true;
  EXPECT_NE(Printed(action, options).find("\"pkts_rate\":1000,\"pkts_burst\":200"),
            std::string::npos);
}

TEST(PolicePrint, AConformingVerdictIsPrintedUnlessItIsPass) {
  EXPECT_NE(Printed(Made("rate 1mbit burst 10k conform-exceed continue/drop"))
                .find("action continue/drop overhead"),
            std::string::npos);
  EXPECT_NE(
      Printed(Made("rate 1mbit burst 10k conform-exceed drop/pass")).find("action drop overhead"),
      std::string::npos);
}

TEST(PolicePrint, DetailsAndRawAddToTheLine) {
  const v1::Action action = Made("rate 1mbit burst 10k");
  PrintOptions options;
  options.details = true;
  EXPECT_NE(Printed(action, options).find("overhead 0b linklayer ethernet \n"), std::string::npos);
  options.raw = true;
  EXPECT_NE(Printed(action, options).find("mtu 2Kb [00138800] action"), std::string::npos);
  EXPECT_NE(Printed(Made("rate 1mbit burst 10k linklayer adsl")).find("linklayer atm \n"),
            std::string::npos);
}

TEST(PolicePrint, BurstsAreRoundedThroughTicks) {
  EXPECT_NE(Printed(Made("rate 40gbit burst 10000")).find("burst 10Kb"), std::string::npos);
  EXPECT_NE(Printed(Made("rate 10gbit burst 8g")).find("burst 8Gb"), std::string::npos);
}

}  // namespace
}  // namespace tcact::kinds
