// gate: opens and closes by a schedule (IEEE 802.1Qci).
//
// "Any" (-1 in tc's words and in the kernel) is a field that is absent.
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/units.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Gate;
using v1::Verdict;

constexpr int kMaxEntries = 1024;
// In words and in what is printed.
constexpr int32_t kAny = -1;
constexpr char kBadEntry[] =
    "Usage: sched-entry <open | close> <interval> [ <interval ipv> <octets max bytes> ]\n"
    "\"sched-entry\" is incomplete\n";

struct Clock {
  absl::string_view name;
  Gate::ClockId id;
};

constexpr Clock kClocks[] = {
    {"REALTIME", Gate::CLOCK_ID_REALTIME},
    {"TAI", Gate::CLOCK_ID_TAI},
    {"BOOTTIME", Gate::CLOCK_ID_BOOTTIME},
    {"MONOTONIC", Gate::CLOCK_ID_MONOTONIC},
};

// "TAI", "CLOCK_TAI", in any case.
bool ReadClock(absl::string_view word, Gate::ClockId* id) {
  constexpr absl::string_view kPrefix = "CLOCK_";
  if (absl::StartsWithIgnoreCase(word, kPrefix)) word.remove_prefix(kPrefix.size());
  for (const Clock& clock : kClocks) {
    if (!absl::EqualsIgnoreCase(clock.name, word)) continue;
    *id = clock.id;
    return true;
  }
  return false;
}

absl::string_view NameOf(Gate::ClockId id) {
  for (const Clock& clock : kClocks) {
    if (clock.id == id) return clock.name;
  }
  return "invalid";
}

// A number of nanoseconds, or one with a unit.
bool ReadTime(absl::string_view word, uint64_t* ns) {
  int64_t value = 0;
  if (!ParseS64(word, 10, &value) && !ParseTime(word, &value)) return false;
  *ns = static_cast<uint64_t>(value);
  return true;
}

// An interval of an entry: nanoseconds without a unit, or a time. *text tells what is wrong with
// it.
bool ReadInterval(absl::string_view word, uint32_t* ns, std::string* text) {
  if (ParseU32(word, 0, ns)) return true;
  int64_t value = 0;
  if (!ParseTime(word, &value)) {
    *text = kBadEntry;
    return false;
  }
  if (value > std::numeric_limits<uint32_t>::max()) {
    *text = "\"interval\" is too large\n";
    return false;
  }
  // As in tc, a negative one counts from 2^32 down.
  *ns = static_cast<uint32_t>(value);
  return true;
}

// The optional bytes of an entry; past them. A size of 0 with a unit ("0b") is any, as in tc; a
// plain 0 is none.
ParseError ReadMaxOctets(Words* words, Gate::Entry* entry) {
  int32_t number = 0;
  if (ParseInt(words->Peek(), 0, &number)) {
    entry->set_max_octets(number);
    words->Skip();
    return {};
  }
  uint32_t size = 0;
  if (!ParseSize32(words->Peek(), &size)) return {};
  if (size > static_cast<uint32_t>(std::numeric_limits<int32_t>::max())) {
    return ParseError::Return("\"maxoctets\" is too large\n");
  }
  if (size != 0) entry->set_max_octets(static_cast<int32_t>(size));
  words->Skip();
  return {};
}

// What follows "sched-entry"; past it.
ParseError ParseEntry(Words* words, Gate::Entry* entry) {
  words->Skip();
  const absl::string_view state = words->Peek();
  if (!absl::EqualsIgnoreCase(state, "open") && !absl::EqualsIgnoreCase(state, "close")) {
    return ParseError::Return(kBadEntry);
  }
  entry->set_open(absl::EqualsIgnoreCase(state, "open"));
  words->Skip();
  uint32_t interval = 0;
  std::string text;
  if (!ReadInterval(words->Peek(), &interval, &text)) return ParseError::Return(text);
  entry->set_interval_ns(interval);
  words->Skip();
  int32_t ipv = 0;
  if (!ParseInt(words->Peek(), 0, &ipv)) return {};
  entry->set_ipv(ipv);
  words->Skip();
  return ReadMaxOctets(words, entry);
}

// What decides about no packet is not kept: anything of a closed gate, and -1.
void NormalizeEntry(Gate::Entry* entry) {
  if (!entry->open() || entry->ipv() == kAny) entry->clear_ipv();
  if (!entry->open() || entry->max_octets() == kAny) entry->clear_max_octets();
}

RuleError NormalizeEntries(Gate* gate) {
  if (gate->entries().empty()) {
    return {"gate.entries", absl::StrCat("0 entries; 1 to ", kMaxEntries, " are allowed"),
            "Error: The entry list is empty."};
  }
  if (gate->entries_size() > kMaxEntries) {
    return OutOfRange("gate.entries", absl::StrCat(gate->entries_size(), " entries"), 1,
                      kMaxEntries);
  }
  uint64_t cycle = 0;
  for (int i = 0; i < gate->entries_size(); ++i) {
    Gate::Entry* entry = gate->mutable_entries(i);
    if (entry->interval_ns() == 0) {
      RuleError error = OutOfRange(absl::StrCat("gate.entries[", i, "].interval_ns"), 0, 1,
                                   std::numeric_limits<uint32_t>::max());
      error.kernel_text = "Error: Invalid interval for schedule entry.";
      return error;
    }
    cycle += entry->interval_ns();
    NormalizeEntry(entry);
  }
  if (gate->cycle_time_ns() == 0) gate->set_cycle_time_ns(cycle);
  return {};
}

class GateKind : public KindOf<Gate, v1::Action::kGateFieldNumber, &v1::Action::gate,
                               &v1::Action::mutable_gate> {
 public:
  absl::string_view name() const override { return "gate"; }
  // Two entries of up to 20 bytes and the times.
  uint32_t inline_params() const override { return 64; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Gate* gate = mutable_params(action);
    while (!words->AtEnd()) {
      if (words->Matches("help")) return ParseError::Exit(std::string(help()));
      bool mine = false;
      if (ParseError error = ParseWord(words, action, &mine)) return error;
      if (!mine) break;
    }
    if (ParseError error =
            ParseVerdictOr(words, Numbers::kRefused, Verdict::TYPE_PIPE, gate->mutable_verdict())) {
      return error;
    }
    if (gate->entries().empty() && action->index() == 0) {
      return ParseError::Return("gate: must add at least one entry\n");
    }
    return {};
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Gate* gate = mutable_params(action);
    if (!Gate::ClockId_IsValid(gate->clock_id())) {
      RuleError error = OutOfRange("gate.clock_id", static_cast<int>(gate->clock_id()), 0,
                                   static_cast<int>(Gate::ClockId_MAX));
      error.kernel_text = "Error: Invalid 'clockid'.";
      return error;
    }
    if (gate->clock_id() == Gate::CLOCK_ID_UNSPECIFIED) gate->set_clock_id(Gate::CLOCK_ID_TAI);
    if (gate->priority() == kAny) gate->clear_priority();
    if (RuleError error = NormalizeEntries(gate)) return error;
    return CheckVerdict("gate.verdict", context, Verdict::TYPE_PIPE, gate->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return true; }

  // tc prints no kind here, neither in text nor in JSON.
  void PrintHead(Printer* /*out*/) const override {}

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Gate& gate = params(action);
    out->Line();
    if (gate.has_priority()) {
      out->Int("priority", "\tpriority %-8d", gate.priority());
    } else {
      PrintAny("priority", "\tpriority wildcard", out);
    }
    out->String("clockid", "\tclockid %s", NameOf(gate.clock_id()));
    out->Hex("flags", "\tflags %#x", gate.flags());
    out->Line();
    PrintTime("base_time", "\tbase-time ", gate.base_time_ns(), out);
    PrintTime("cycle_time", "\tcycle-time ", gate.cycle_time_ns(), out);
    PrintTime("cycle_time_ext", "\tcycle-time-ext ", gate.cycle_time_ext_ns(), out);
    PrintSchedule(gate, out);
    PrintVerdict("\t", gate.verdict(), "", out);
    out->Line();
    PrintCounts(action, options, out);
  }

  absl::string_view help() const override {
    return "Usage: ... action gate [priority PRIORITY] [base-time TIME] [cycle-time TIME]\n"
           "                       [cycle-time-ext TIME] [clockid CLOCK] [flags FLAGS]\n"
           "                       sched-entry STATE TIME [IPV [OCTETS]]... [index INDEX]\n"
           "                       [VERDICT]\n"
           "Opens and closes by a schedule.\n"
           "  PRIORITY  -2147483648 to 2147483647; -1, the default: any\n"
           "  TIME      nanoseconds, or with a unit: s, ms, us, ns; of an entry up to 4.29 s\n"
           "  CLOCK     CLOCK_TAI (the default) | CLOCK_REALTIME | CLOCK_MONOTONIC |\n"
           "            CLOCK_BOOTTIME\n"
           "  FLAGS     0 to 4294967295, also 0x...\n"
           "  STATE     open | close\n"
           "  IPV       internal priority while open; -1, the default: any\n"
           "  OCTETS    bytes that may pass while open: 1000, 8kb; -1, the default: any number\n"
           "  INDEX     0 (the lowest free one) to 4294967295; before the verdict\n"
           "  VERDICT   pipe, unless given, and last; see gact\n";
  }

  std::vector<std::string> examples() const override {
    return {
        "sched-entry open 100ms",
        "clockid CLOCK_TAI sched-entry open 200000000ns -1 8000000b sched-entry close 100000000",
        "base-time 200s cycle-time 600ms clockid MONOTONIC sched-entry OPEN 100us 3 1000 index 4",
        "cycle-time-ext 20s sched-entry close 1",
        "priority 7 flags 0x1 clockid CLOCK_BOOTTIME sched-entry close 1s drop",
        "priority -5 clockid clock_realtime sched-entry open 1 -1 -1 jump 1"};
  }

 private:
  // One keyword with its value; past it. Not mine: the cursor did not move.
  static ParseError ParseWord(Words* words, v1::Action* action, bool* mine) {
    Gate* gate = mutable_params(action);
    *mine = true;
    if (words->Matches("index")) {
      return ParseValue(words, "index", [action](absl::string_view word) {
        uint32_t index = 0;
        const bool sound = ParseU32(word, 10, &index);
        action->set_index(index);
        return sound;
      });
    }
    if (words->Matches("priority")) {
      return ParseValue(words, "priority", [gate](absl::string_view word) {
        int32_t priority = 0;
        const bool sound = ParseInt(word, 0, &priority);
        gate->set_priority(priority);
        return sound;
      });
    }
    if (words->Matches("base-time")) {
      return ParseTimeValue(words, "base-time", gate, &Gate::set_base_time_ns);
    }
    if (words->Matches("cycle-time")) {
      return ParseTimeValue(words, "cycle-time", gate, &Gate::set_cycle_time_ns);
    }
    if (words->Matches("cycle-time-ext")) {
      return ParseTimeValue(words, "cycle-time-ext", gate, &Gate::set_cycle_time_ext_ns);
    }
    if (words->Matches("clockid")) {
      return ParseValue(words, "clockid", [gate](absl::string_view word) {
        Gate::ClockId clock = Gate::CLOCK_ID_UNSPECIFIED;
        const bool sound = ReadClock(word, &clock);
        gate->set_clock_id(clock);
        return sound;
      });
    }
    if (words->Matches("flags")) {
      return ParseValue(words, "flags", [gate](absl::string_view word) {
        uint32_t flags = 0;
        const bool sound = ParseU32(word, 0, &flags);
        gate->set_flags(flags);
        return sound;
      });
    }
    if (words->Matches("sched-entry")) return ParseEntry(words, gate->add_entries());
    *mine = false;
    return {};
  }

  // The value after a keyword, which `read` takes; past it.
  template <typename Read>
  static ParseError ParseValue(Words* words, absl::string_view what, Read read) {
    if (ParseError error = words->Advance()) return error;
    if (!read(words->Peek())) return ParseError::Invalid(what, words->Peek());
    words->Skip();
    return {};
  }

  static ParseError ParseTimeValue(Words* words, absl::string_view what, Gate* gate,
                                   void (Gate::*set)(uint64_t)) {
    return ParseValue(words, what, [gate, set](absl::string_view word) {
      uint64_t ns = 0;
      const bool sound = ReadTime(word, &ns);
      (gate->*set)(ns);
      return sound;
    });
  }

  static void PrintAny(absl::string_view key, absl::string_view text, Printer* out) {
    out->Text(text);
    out->JsonInt(key, kAny);
  }

  static void PrintTime(absl::string_view key, absl::string_view text, uint64_t ns, Printer* out) {
    out->Text(text);
    out->Text(FormatTime(static_cast<int64_t>(ns)));
    out->JsonUint(key, ns);
  }

  static void PrintSchedule(const Gate& gate, Printer* out) {
    out->Line();
    out->Text("\tschedule:");
    out->Line();
    out->OpenArray("schedule");
    for (int i = 0; i < gate.entries_size(); ++i) {
      const Gate::Entry& entry = gate.entries(i);
      out->OpenObject();
      out->Uint("number", "\t number %4u", static_cast<uint64_t>(i));
      out->String("gate_state", "\tgate-state %s ", entry.open() ? "open" : "close");
      out->JsonUint("interval", entry.interval_ns());
      out->Text("\tinterval ");
      out->Text(FormatTime(entry.interval_ns()));
      if (entry.has_ipv()) {
        out->Uint("ipv", "\t ipv %-10u", static_cast<uint32_t>(entry.ipv()));
      } else {
        PrintAny("ipv", "\t ipv wildcard", out);
      }
      if (entry.has_max_octets()) {
        out->Size("max_octets", "\t max-octets %s", static_cast<uint32_t>(entry.max_octets()));
      } else {
        PrintAny("max_octets", "\t max-octets wildcard", out);
      }
      out->CloseObject();
      out->Line();
    }
    out->CloseArray();
  }
};

TCACT_REGISTER_KIND(GateKind)

}  // namespace
}  // namespace tcact::kinds
