#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Gate;
using v1::Verdict;

const Kind& Kind_() { return *FindKind("gate"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Kind_().Parse(&words, action);
}

v1::Action Parsed(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  return action;
}

// Read and normalized.
v1::Action Made(absl::string_view text) {
  v1::Action action = Parsed(text);
  const RuleError rule = Kind_().Normalize({}, &action);
  EXPECT_FALSE(rule) << text << ": " << rule.field << " " << rule.text;
  return action;
}

// The only entry of what was made.
Gate::Entry Entry(absl::string_view text) {
  const v1::Action action = Made(text);
  EXPECT_EQ(action.gate().entries_size(), 1) << text;
  return action.gate().entries(0);
}

ParseError Failed(absl::string_view text) {
  v1::Action action;
  ParseError error = Parse(text, &action);
  EXPECT_TRUE(error) << text;
  return error;
}

RuleError Refused(const Gate& gate) {
  v1::Action action;
  *action.mutable_gate() = gate;
  RuleError error = Kind_().Normalize({}, &action);
  EXPECT_TRUE(error) << gate.ShortDebugString();
  return error;
}

// A gate that nothing is wrong with.
Gate Open() {
  Gate gate;
  Gate::Entry* entry = gate.add_entries();
  entry->set_open(true);
  entry->set_interval_ns(1);
  return gate;
}

std::string Printed(const v1::Action& action, bool json = false) {
  std::string text;
  PrintOptions options;
  options.json = json;
  Printer out(options, &text);
  out.OpenObject();
  Kind_().PrintHead(&out);
  Kind_().Print(action, options, &out);
  out.CloseObject();
  return text;
}

TEST(GateParse, ReadsAllKeywords) {
  const v1::Action action = Made(
      "priority 7 base-time 200s cycle-time 600ms cycle-time-ext 20us clockid CLOCK_BOOTTIME "
      "flags 0x1 sched-entry open 100ms 3 1000 sched-entry close 500ms index 4 drop");
  const Gate& gate = action.gate();
  EXPECT_EQ(gate.priority(), 7);
  EXPECT_EQ(gate.base_time_ns(), 200000000000u);
  EXPECT_EQ(gate.cycle_time_ns(), 600000000u);
  EXPECT_EQ(gate.cycle_time_ext_ns(), 20000u);
  EXPECT_EQ(gate.clock_id(), Gate::CLOCK_ID_BOOTTIME);
  EXPECT_EQ(gate.flags(), 1u);
  ASSERT_EQ(gate.entries_size(), 2);
  EXPECT_TRUE(gate.entries(0).open());
  EXPECT_EQ(gate.entries(0).interval_ns(), 100000000u);
  EXPECT_EQ(gate.entries(0).ipv(), 3);
  EXPECT_EQ(gate.entries(0).max_octets(), 1000);
  EXPECT_FALSE(gate.entries(1).open());
  EXPECT_EQ(gate.verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 4u);
}

TEST(GateParse, AbbreviationsGoToTcsFirstMatch) {
  const Gate gate = Made("p 1 b 2 c 3 cycle-time- 4 cl TAI f 5 s open 6 i 7").gate();
  EXPECT_EQ(gate.priority(), 1);
  EXPECT_EQ(gate.base_time_ns(), 2u);
  EXPECT_EQ(gate.cycle_time_ns(), 3u);
  EXPECT_EQ(gate.cycle_time_ext_ns(), 4u);
  EXPECT_EQ(gate.flags(), 5u);
  EXPECT_EQ(gate.entries(0).interval_ns(), 6u);
}

TEST(GateParse, TheVerdictEndsIt) {
  Words words = Words::Split("sched-entry open 1s pipe index 3");
  v1::Action action;
  EXPECT_FALSE(Kind_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "index");
}

TEST(GateParse, ClocksGoByTheirNamesInAnyCase) {
  const struct {
    const char* word;
    Gate::ClockId id;
  } cases[] = {{"CLOCK_TAI", Gate::CLOCK_ID_TAI},
               {"tai", Gate::CLOCK_ID_TAI},
               {"clock_realtime", Gate::CLOCK_ID_REALTIME},
               {"MONOTONIC", Gate::CLOCK_ID_MONOTONIC},
               {"Boottime", Gate::CLOCK_ID_BOOTTIME}};
  for (const auto& c : cases) {
    EXPECT_EQ(Made(absl::StrCat("sched-entry open 1 clockid ", c.word)).gate().clock_id(), c.id)
        << c.word;
  }
  EXPECT_EQ(Failed("sched-entry open 1 clockid FOO").text,
            "Error: argument \"FOO\" is wrong: clockid\n");
}

TEST(GateParse, TimesHaveUnits) {
  const struct {
    const char* word;
    uint64_t ns;
  } cases[] = {{"7", 7},
               {"7ns", 7},
               {"7nsec", 7},
               {"1.5us", 1500},
               {"2USEC", 2000},
               {"3ms", 3000000},
               {"3msecs", 3000000},
               {"1s", 1000000000},
               {"2sec", 2000000000}};
  for (const auto& c : cases) {
    EXPECT_EQ(Entry(absl::StrCat("sched-entry open ", c.word)).interval_ns(), c.ns) << c.word;
    EXPECT_EQ(Made(absl::StrCat("sched-entry open 1 base-time ", c.word)).gate().base_time_ns(),
              c.ns)
        << c.word;
  }
  // Without a unit only an interval may be hexadecimal.
  EXPECT_EQ(Entry("sched-entry open 0x10").interval_ns(), 16u);
}

TEST(GateParse, AnIntervalEndsAt32Bits) {
  EXPECT_EQ(Entry("sched-entry open 4294967295").interval_ns(), 4294967295u);
  EXPECT_EQ(Entry("sched-entry open 4294967295ns").interval_ns(), 4294967295u);
  EXPECT_EQ(Failed("sched-entry open 4294967296").text, "\"interval\" is too large\n");
  EXPECT_EQ(Failed("sched-entry open 4.3s").then, ParseError::Then::kReturn);
  // A slip of tc's that commands may live by.
  EXPECT_EQ(Entry("sched-entry open -1").interval_ns(), 4294967295u);
}

TEST(GateParse, OfAnEntryIpvAndOctetsMayBeLeftOut) {
  EXPECT_FALSE(Entry("sched-entry open 1").has_ipv());
  EXPECT_FALSE(Entry("sched-entry open 1 -1 -1").has_ipv());
  EXPECT_FALSE(Entry("sched-entry open 1 -1 -1").has_max_octets());
  EXPECT_EQ(Entry("sched-entry open 1 5").ipv(), 5);
  EXPECT_FALSE(Entry("sched-entry open 1 5").has_max_octets());
  EXPECT_EQ(Entry("sched-entry open 1 0 0 index 3").max_octets(), 0);
  EXPECT_EQ(Entry("sched-entry open 1 0x7 8kb").ipv(), 7);
  EXPECT_EQ(Entry("sched-entry open 1 0x7 8kb").max_octets(), 8192);
}

TEST(GateParse, OctetsOf0WithAUnitAreAnyAsInTc) {
  EXPECT_FALSE(Entry("sched-entry open 1 1 0b").has_max_octets());
}

TEST(GateParse, OctetsEndAt31Bits) {
  EXPECT_EQ(Entry("sched-entry open 1 1 2147483647").max_octets(), 2147483647);
  EXPECT_EQ(Entry("sched-entry open 1 1 2147483647b").max_octets(), 2147483647);
  EXPECT_EQ(Failed("sched-entry open 1 1 2147483648").text, "\"maxoctets\" is too large\n");
}

TEST(GateParse, BadEntriesReturnAndShowTheirForm) {
  for (const char* text : {"sched-entry", "sched-entry foo 1s", "sched-entry open",
                           "sched-entry open index 200", "sched-entry open 1h"}) {
    const ParseError error = Failed(text);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << text;
    EXPECT_EQ(error.text,
              "Usage: sched-entry <open | close> <interval> [ <interval ipv> <octets max bytes> ]\n"
              "\"sched-entry\" is incomplete\n")
        << text;
  }
}

TEST(GateParse, OtherBadValuesEndTcAndNameTheWord) {
  EXPECT_EQ(Failed("base-time foo sched-entry open 1").text,
            "Error: argument \"foo\" is wrong: base-time\n");
  for (const char* text : {"index 4294967296", "priority 2147483648", "cycle-time 1h",
                           "cycle-time-ext x", "flags -1", "flags", "base-time", ""}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kExit) << text;
  }
}

TEST(GateParse, AnEntryOrAnIndexIsRequired) {
  EXPECT_EQ(Failed("clockid TAI").text, "gate: must add at least one entry\n");
  EXPECT_EQ(Failed("pipe sched-entry open 1").text, "gate: must add at least one entry\n");
  EXPECT_EQ(Parsed("index 3").index(), 3u);
}

TEST(GateParse, HelpEndsTc) {
  EXPECT_EQ(Failed("sched-entry open 1 help").then, ParseError::Then::kExit);
  EXPECT_EQ(Failed("help").text, Kind_().help());
}

TEST(GateNormalize, FillsTheKernelsDefaults) {
  const Gate gate = Made("sched-entry open 200ms sched-entry close 100ms").gate();
  EXPECT_EQ(gate.clock_id(), Gate::CLOCK_ID_TAI);
  EXPECT_EQ(gate.cycle_time_ns(), 300000000u);
  EXPECT_EQ(gate.verdict().type(), Verdict::TYPE_PIPE);
  EXPECT_FALSE(gate.has_priority());
  // A cycle shorter than its entries is the kernel's business too.
  EXPECT_EQ(Made("cycle-time 10ns sched-entry open 1s").gate().cycle_time_ns(), 10u);
}

TEST(GateNormalize, WhatDecidesAboutNoPacketIsNotKept) {
  EXPECT_FALSE(Made("priority -1 sched-entry open 1").gate().has_priority());
  EXPECT_EQ(Made("priority 0 sched-entry open 1").gate().priority(), 0);
  EXPECT_FALSE(Entry("sched-entry close 1 5 100").has_ipv());
  EXPECT_FALSE(Entry("sched-entry close 1 5 100").has_max_octets());
}

TEST(GateNormalize, EntriesAreOneTo1024) {
  Gate gate;
  EXPECT_EQ(Refused(gate).field, "gate.entries");
  EXPECT_EQ(Refused(gate).kernel_text, "Error: The entry list is empty.");
  for (int i = 0; i < 1024; ++i) *gate.add_entries() = Open().entries(0);
  v1::Action action;
  *action.mutable_gate() = gate;
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  *gate.add_entries() = Open().entries(0);
  EXPECT_EQ(Refused(gate).text, "1025 entries; 1 to 1024 are allowed");
}

TEST(GateNormalize, TheLongestScheduleFitsTheLimitOfEncodedParams) {
  v1::Action action;
  for (int i = 0; i < 1024; ++i) {
    Gate::Entry* entry = action.mutable_gate()->add_entries();
    entry->set_open(true);
    entry->set_interval_ns(4294967295);
    entry->set_ipv(-2147483647);
    entry->set_max_octets(2147483647);
  }
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  std::string bytes;
  Kind_().Encode(action, &bytes);
  EXPECT_LT(bytes.size(), 65535u);
}

TEST(GateNormalize, AnIntervalOf0IsRefusedWhereItStands) {
  Gate gate = Open();
  gate.add_entries();
  EXPECT_EQ(Refused(gate).field, "gate.entries[1].interval_ns");
  EXPECT_EQ(Refused(gate).text, "0; 1 to 4294967295 are allowed");
  EXPECT_EQ(Refused(gate).kernel_text, "Error: Invalid interval for schedule entry.");
}

TEST(GateNormalize, UnknownEnumValuesAreRefused) {
  Gate gate = Open();
  gate.set_clock_id(static_cast<Gate::ClockId>(5));
  EXPECT_EQ(Refused(gate).field, "gate.clock_id");
  EXPECT_EQ(Refused(gate).text, "5; 0 to 4 are allowed");
  gate = Open();
  gate.mutable_verdict()->set_type(static_cast<Verdict::Type>(13));
  EXPECT_EQ(Refused(gate).field, "gate.verdict");
}

TEST(GateNormalize, GotoChainIsForFilters) {
  v1::Action action = Parsed("sched-entry open 1 goto chain 3");
  EXPECT_EQ(Kind_().Normalize({}, &action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Kind_().Normalize({.in_filter = true}, &action));
}

TEST(GatePrint, TextNamesWhatIsAny) {
  v1::Action action = Made("clockid TAI sched-entry open 200ms -1 8kb sched-entry close 1 index 3");
  action.set_refcnt(1);
  EXPECT_EQ(Printed(action),
            "\n"
            "\tpriority wildcard\tclockid TAI\tflags 0\n"
            "\tbase-time 0ns\tcycle-time 200ms\tcycle-time-ext 0ns\n"
            "\tschedule:\n"
            "\t number    0\tgate-state open \tinterval 200ms\t ipv wildcard\t max-octets 8Kb\n"
            "\t number    1\tgate-state close \tinterval 1ns\t ipv wildcard\t max-octets wildcard\n"
            "\tpipe\n"
            "\t index 3 ref 1 bind 0\n");
}

TEST(GatePrint, ValuesFillTheirColumns) {
  const std::string text = Printed(
      Made("priority -5 base-time -7 cycle-time 2000s flags 0x10 sched-entry open 1500 3 0"));
  EXPECT_NE(text.find("\tpriority -5      \tclockid TAI\tflags 0x10\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\tbase-time -7ns\tcycle-time 2e+03s\t"), std::string::npos) << text;
  EXPECT_NE(text.find("\tinterval 1.5us\t ipv 3         \t max-octets 0b\n"), std::string::npos)
      << text;
}

TEST(GatePrint, JsonHasMinusOneForAnyAndNoKind) {
  EXPECT_EQ(Printed(Made("sched-entry open 100ms sched-entry open 1 2 3 drop"), true),
            "{\"priority\":-1,\"clockid\":\"TAI\",\"flags\":\"0\",\"base_time\":0,"
            "\"cycle_time\":100000001,\"cycle_time_ext\":0,\"schedule\":["
            "{\"number\":0,\"gate_state\":\"open\",\"interval\":100000000,\"ipv\":-1,"
            "\"max_octets\":-1},"
            "{\"number\":1,\"gate_state\":\"open\",\"interval\":1,\"ipv\":2,\"max_octets\":3}],"
            "\"control_action\":{\"type\":\"drop\"},\"index\":0,\"ref\":0,\"bind\":0}");
}

TEST(GateOffload, HardwareTakesAll) {
  EXPECT_TRUE(Kind_().Offloadable(Made("sched-entry open 1 pipe")));
}

}  // namespace
}  // namespace tcact::kinds
