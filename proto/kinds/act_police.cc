// police: a token bucket in bytes or in packets.
//
// The kernel keeps bursts as times (units.h), and of the fields that describe a byte rate (burst,
// overhead, mpu, link layer) it keeps none without one. Normalize does the same.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/units.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Police;
using v1::Verdict;

constexpr uint32_t kMaxU16 = 0xffff;
// The kernel's mtu without a rate: none.
constexpr uint32_t kNoMtu = 0xffffffff;
// With a rate and no mtu: what its table of 255 cells of 8 bytes reaches.
constexpr uint32_t kDefaultMtu = 255 << 3;
// Its table has cells of 2 bytes at least.
constexpr uint32_t kMinMtuWithRate = 256;

// What a command said so far.
struct Given {
  bool any = false;
  // Of the rate's table; -1 if none was given.
  int burst_cell_log = -1;
};

// How reading one keyword ended.
enum class Read { kDone, kNotMine };

absl::string_view NameOf(Police::LinkLayer layer) {
  switch (layer) {
    case Police::LINK_LAYER_ETHERNET:
      return "ethernet";
    case Police::LINK_LAYER_ATM:
      return "atm";
    default:
      return "unspec";
  }
}

// The value after a keyword: `parse` reads it into *out, which must still be 0, else it is a
// duplicate. `what` names it in errors, `twice` in that of a duplicate. Leaves the cursor behind
// the value.
template <typename T, typename Parse>
ParseError Value(Words* words, absl::string_view what, absl::string_view twice, Parse parse,
                 T* out) {
  if (ParseError error = words->Advance()) return error;
  if (*out != 0) return ParseError::Duplicate(twice, words->Peek());
  if (!parse(words->Peek(), out)) return ParseError::Invalid(what, words->Peek());
  words->Skip();
  return {};
}

template <typename T, typename Parse>
ParseError Value(Words* words, absl::string_view what, Parse parse, T* out) {
  return Value(words, what, what, parse, out);
}

bool Decimal16(absl::string_view word, uint16_t* out) { return ParseU16(word, 10, out); }
bool Decimal32(absl::string_view word, uint32_t* out) { return ParseU32(word, 10, out); }
bool Decimal64(absl::string_view word, uint64_t* out) { return ParseU64(word, 10, out); }

bool ReadLinkLayer(absl::string_view word, Police::LinkLayer* out) {
  if (Abbreviates(word, "ethernet")) {
    *out = Police::LINK_LAYER_ETHERNET;
  } else if (Abbreviates(word, "atm") || Abbreviates(word, "adsl")) {
    *out = Police::LINK_LAYER_ATM;
  } else {
    return false;
  }
  return true;
}

// The words that tc takes for the verdict beyond the rate. jump and trap are not among them.
bool IsExceedWord(const Words& words) {
  return words.Matches("reclassify") || words.Matches("drop") || words.Matches("shot") ||
         words.Matches("continue") || words.Matches("pass") || words.Matches("ok") ||
         words.Matches("pipe") || words.Matches("goto");
}

// burst and mtu, with their cells.
ParseError ReadBurst(Words* words, Police* police, Given* given) {
  uint64_t burst = police->burst();
  const auto parse = [given](absl::string_view word, uint64_t* out) {
    return ParseSizeAndCell(word, out, &given->burst_cell_log);
  };
  if (ParseError error = Value(words, "buffer", "buffer/burst", parse, &burst)) return error;
  police->set_burst(burst);
  return {};
}

ParseError ReadMtu(Words* words, Police* police) {
  uint64_t mtu = police->mtu();
  // Its cell shapes the table of the peak rate, which nothing of ours depends on.
  const auto parse = [](absl::string_view word, uint64_t* out) {
    int cell_log = -1;
    return ParseSizeAndCell(word, out, &cell_log) && *out <= kNoMtu;
  };
  if (ParseError error = Value(words, "mtu", "mtu/minburst", parse, &mtu)) return error;
  police->set_mtu(static_cast<uint32_t>(mtu));
  return {};
}

// mpu, overhead and linklayer, whose last value counts.
ParseError ReadFraming(Words* words, Police* police, Read* read) {
  if (words->Is("mpu")) {
    uint32_t mpu = police->mpu();
    if (ParseError error = Value(words, "mpu", ParseSize32, &mpu)) return error;
    police->set_mpu(mpu);
  } else if (words->Matches("overhead")) {
    uint16_t overhead = 0;
    if (ParseError error = Value(words, "overhead", Decimal16, &overhead)) return error;
    police->set_overhead(overhead);
  } else if (words->Matches("linklayer")) {
    Police::LinkLayer layer = Police::LINK_LAYER_UNSPECIFIED;
    if (ParseError error = Value(words, "linklayer", ReadLinkLayer, &layer)) return error;
    police->set_link_layer(layer);
  } else {
    *read = Read::kNotMine;
  }
  return {};
}

// The four rates and the burst in packets.
ParseError ReadRate(Words* words, Police* police, Read* read) {
  uint64_t value = 0;
  if (words->Is("rate")) {
    value = police->rate();
    if (ParseError error = Value(words, "rate", ParseRate, &value)) return error;
    police->set_rate(value);
  } else if (words->Is("avrate")) {
    auto average = static_cast<uint32_t>(police->average_rate());
    if (ParseError error = Value(words, "avrate", ParseRate32, &average)) return error;
    police->set_average_rate(average);
  } else if (words->Matches("peakrate")) {
    value = police->peak_rate();
    if (ParseError error = Value(words, "peakrate", ParseRate, &value)) return error;
    police->set_peak_rate(value);
  } else if (words->Matches("pkts_rate")) {
    value = police->packet_rate();
    if (ParseError error = Value(words, "pkts_rate", Decimal64, &value)) return error;
    police->set_packet_rate(value);
  } else if (words->Matches("pkts_burst")) {
    value = police->packet_burst();
    if (ParseError error = Value(words, "pkts_burst", Decimal64, &value)) return error;
    police->set_packet_burst(value);
  } else {
    *read = Read::kNotMine;
  }
  return {};
}

// The verdicts. Cursor and *police are only good if it succeeds.
ParseError ReadVerdicts(Words* words, Police* police, Read* read) {
  if (IsExceedWord(*words)) {
    return ParseVerdict(words, Numbers::kRefused, police->mutable_exceed());
  }
  if (words->Is("conform-exceed")) {
    if (ParseError error = words->Advance()) return error;
    return ParseVerdictPair(words, Numbers::kAllowed, police->mutable_exceed(),
                            police->mutable_conform());
  }
  *read = Read::kNotMine;
  return {};
}

// What tc itself refuses once all words are read.
ParseError CheckTogether(const Police& police, uint32_t index) {
  const bool rate = police.rate() != 0;
  if (rate && police.average_rate() != 0) return ParseError::Return("");
  if (!rate && police.average_rate() == 0 && index == 0 && police.mtu() == 0 &&
      police.packet_rate() == 0) {
    return ParseError::Return("'rate' or 'avrate' or 'mtu' or 'pkts_rate' MUST be specified.\n");
  }
  if (rate && police.burst() == 0) return ParseError::Return("'burst' requires 'rate'.\n");
  if (police.packet_rate() != 0 && police.packet_burst() == 0) {
    return ParseError::Return("'pkts_burst' requires 'pkts_rate'.\n");
  }
  if (rate && police.packet_rate() != 0) {
    return ParseError::Return("'rate' and 'pkts_rate' are not allowed in same action.\n");
  }
  if (police.peak_rate() != 0 && !rate) {
    return ParseError::Return("'peakrate' requires 'rate'.\n");
  }
  if (police.peak_rate() != 0 && police.mtu() == 0) {
    return ParseError::Return("'mtu' is required, if 'peakrate' is requested.\n");
  }
  if (rate && TicksOf(police.rate(), police.burst()) == kMaxTicks) {
    return ParseError::Return("POLICE: burst out of range\n");
  }
  return {};
}

// The largest burst that the kernel can hold at this rate.
uint64_t MaxBurst(uint64_t rate) { return AmountOf(rate, kMaxTicks - 1); }

RuleError Refused(absl::string_view field, std::string text, absl::string_view kernel_text = "") {
  return {std::string(field), std::move(text), std::string(kernel_text)};
}

RuleError NormalizeByteRate(Police* police) {
  if (police->rate() == 0) {
    if (police->peak_rate() != 0) {
      return Refused("police.peak_rate", absl::StrCat(police->peak_rate(), "; 0 without a rate"));
    }
    police->clear_burst();
    police->clear_mpu();
    police->clear_overhead();
    police->clear_link_layer();
    if (police->mtu() == 0) police->set_mtu(kNoMtu);
    return {};
  }
  if (police->burst() == 0 || TicksOf(police->rate(), police->burst()) == kMaxTicks) {
    return OutOfRange("police.burst", police->burst(), 1, MaxBurst(police->rate()));
  }
  if (police->peak_rate() != 0 && police->mtu() == 0) {
    return Refused("police.mtu", "0; required with peak_rate");
  }
  if (police->mtu() == 0) police->set_mtu(kDefaultMtu);
  if (police->mtu() < kMinMtuWithRate) {
    return Refused("police.mtu",
                   absl::StrCat(police->mtu(), "; ", kMinMtuWithRate, " to ", kNoMtu,
                                " are allowed with a rate"),
                   "Error: Invalid rate table parameters for searching.");
  }
  if (police->mpu() > kMaxU16) return OutOfRange("police.mpu", police->mpu(), 0, kMaxU16);
  if (police->overhead() > kMaxU16) {
    return OutOfRange("police.overhead", police->overhead(), 0, kMaxU16);
  }
  if (!Police::LinkLayer_IsValid(police->link_layer())) {
    return OutOfRange("police.link_layer", static_cast<int>(police->link_layer()), 0,
                      static_cast<int>(Police::LinkLayer_MAX));
  }
  if (police->link_layer() == Police::LINK_LAYER_UNSPECIFIED) {
    police->set_link_layer(Police::LINK_LAYER_ETHERNET);
  }
  return {};
}

RuleError NormalizePacketRate(Police* police) {
  if (police->packet_rate() == 0) {
    police->clear_packet_burst();
    return {};
  }
  if (police->rate() != 0) {
    return Refused("police.packet_rate",
                   absl::StrCat(police->packet_rate(), "; 0 where a rate is given"),
                   "Error: packet-per-second and byte-per-second rate limits not allowed in same "
                   "action.");
  }
  if (police->packet_burst() == 0) {
    return Refused("police.packet_burst", "0; required with packet_rate");
  }
  return {};
}

class PoliceKind : public KindOf<Police, v1::Action::kPoliceFieldNumber, &v1::Action::police,
                                 &v1::Action::mutable_police> {
 public:
  absl::string_view name() const override { return "police"; }
  // A rate with its burst and two verdicts takes about 25 bytes.
  uint32_t inline_params() const override { return 32; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Police* police = mutable_params(action);
    Given given;
    while (!words->AtEnd()) {
      Read read = Read::kDone;
      if (ParseError error = ReadKeyword(words, action, &given, &read)) return error;
      if (read == Read::kNotMine) break;
      given.any = true;
    }
    if (!given.any) return ParseError::Return("");
    if (ParseError error = CheckTogether(*police, action->index())) return error;
    // A cell without an mtu: the table that tc would send reaches so far.
    if (police->rate() != 0 && police->mtu() == 0 && given.burst_cell_log >= 0) {
      police->set_mtu(
          static_cast<uint32_t>(std::min<uint64_t>(uint64_t{255} << given.burst_cell_log, kNoMtu)));
    }
    return {};
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Police* police = mutable_params(action);
    if (police->average_rate() != 0) {
      return Refused("police.average_rate",
                     absl::StrCat(police->average_rate(), "; 0 without a rate estimator"),
                     "RTNETLINK answers: Invalid argument");
    }
    if (RuleError error = NormalizeByteRate(police)) return error;
    if (RuleError error = NormalizePacketRate(police)) return error;
    if (RuleError error =
            CheckFallback("police.conform", Verdict::TYPE_PASS, police->mutable_conform())) {
      return error;
    }
    return CheckVerdict("police.exceed", context, Verdict::TYPE_RECLASSIFY,
                        police->mutable_exceed());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return true; }

  // tc's text has no kind here; " police 0x1" below stands for it.
  void PrintHead(Printer* out) const override { out->JsonString("kind", name()); }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Police& police = params(action);
    out->TextFormat(" police 0x%x ", action.index());
    out->JsonUint("index", action.index());
    PrintRates(police, options, out);
    PrintVerdict("action ", police.exceed(), "", out);
    const Verdict::Type conform = police.conform().type();
    if (conform == Verdict::TYPE_UNSPECIFIED || conform == Verdict::TYPE_PASS) {
      out->Text(" ");
    } else {
      PrintVerdict("/", police.conform(), " ", out);
    }
    out->Size("overhead", "overhead %s ", police.overhead());
    if (police.link_layer() > Police::LINK_LAYER_ETHERNET || options.details) {
      out->String("linklayer", "linklayer %s ", NameOf(police.link_layer()));
    }
    out->Line();
    out->Uint("ref", "\tref %u ", action.refcnt());
    out->Uint("bind", "bind %u ", action.bindcnt());
    if (options.stats) PrintTimes(action, out);
    out->Line();
  }

  absl::string_view help() const override {
    return "Usage: ... action police [rate RATE burst SIZE[/CELL]] [peakrate RATE]\n"
           "                         [pkts_rate N pkts_burst N] [mtu SIZE[/CELL]] [mpu SIZE]\n"
           "                         [overhead BYTES] [linklayer ethernet|atm|adsl]\n"
           "                         [EXCEED | conform-exceed EXCEED[/CONFORM]] [index INDEX]\n"
           "Packets beyond the rate get the verdict EXCEED (reclassify), the others CONFORM "
           "(pass).\n"
           "  RATE     bits a second: 1mbit, 500kbit; or bytes: 1mbps\n"
           "  SIZE     bytes: 1500, 10k, 1m\n"
           "  CELL     of tc's rate table, a power of 2\n"
           "  EXCEED, CONFORM\n"
           "           pass (ok) | drop (shot) | pipe | reclassify | continue | goto chain CHAIN\n"
           "  A rate in bytes and one in packets exclude each other; peakrate needs rate and "
           "mtu.\n";
  }

  std::vector<std::string> examples() const override {
    return {"rate 1mbit burst 10k",
            "rate 90kbit burst 10k mtu 2kb peakrate 100kbit index 3",
            "rate 2mbit burst 200k linklayer atm index 8",
            "rate 8gbit buffer 5g minburst 9k mpu 64 overhead 24 linklayer ethernet",
            "rate 1mbit maxburst 16k/16 linklayer adsl",
            "rate 3mbit burst 250k conform-exceed continue/drop index 1",
            "rate 3mbit burst 250k conform-exceed 0/3",
            "rate 3mbit burst 250k conform-exceed drop / pipe",
            "rate 1mbit burst 1m pipe",
            "rate 1mbit burst 1m goto chain 42",
            "pkts_rate 1000 pkts_burst 200 conform-exceed drop",
            "mtu 1k drop",
            "index 5"};
  }

 private:
  // One keyword with its value. Its order is tc's, for the sake of abbreviations.
  static ParseError ReadKeyword(Words* words, v1::Action* action, Given* given, Read* read) {
    Police* police = mutable_params(action);
    if (words->Matches("index")) {
      uint32_t index = 0;
      if (ParseError error = Value(words, "index", Decimal32, &index)) return error;
      action->set_index(index);
      return {};
    }
    if (words->Matches("burst") || words->Is("buffer") || words->Is("maxburst")) {
      return ReadBurst(words, police, given);
    }
    if (words->Is("mtu") || words->Is("minburst")) return ReadMtu(words, police);
    // "p" is peakrate, "pk" pkts_rate and "pi" pipe; "o" is ok and "ov" overhead; "r" reclassify.
    for (const auto& reader : {ReadNamedRate, ReadVerdicts, ReadFraming, ReadRate}) {
      *read = Read::kDone;
      ParseError error = reader(words, police, read);
      if (error || *read == Read::kDone) return error;
    }
    if (words->Is("help")) return ParseError::Exit(std::string(PoliceKind().help()));
    return {};
  }

  // The rates that come before the verdicts in tc's order.
  static ParseError ReadNamedRate(Words* words, Police* police, Read* read) {
    if (words->Is("rate") || words->Is("avrate") || words->Matches("peakrate")) {
      return ReadRate(words, police, read);
    }
    *read = Read::kNotMine;
    return {};
  }

  // The buckets: in text only, but for the one in packets.
  static void PrintRates(const Police& police, const PrintOptions& options, Printer* out) {
    const uint32_t ticks = police.rate() == 0 ? 0 : TicksOf(police.rate(), police.burst());
    out->TextFormat("rate %s ", FormatRate(police.rate(), options.iec));
    out->TextFormat("burst %s ", FormatSize(AmountOf(police.rate(), ticks)));
    out->TextFormat("mtu %s ", FormatSize(police.mtu()));
    if (options.raw) out->TextFormat("[%08x] ", ticks);
    if (police.peak_rate() != 0)
      out->TextFormat("peakrate %s ", FormatRate(police.peak_rate(), options.iec));
    if (police.average_rate() != 0) {
      out->TextFormat("avrate %s ", FormatRate(police.average_rate(), options.iec));
    }
    if (police.packet_rate() != 0) {
      const uint32_t packet_ticks = TicksOf(police.packet_rate(), police.packet_burst());
      out->Uint("pkts_rate", "pkts_rate %u ", police.packet_rate());
      out->Uint("pkts_burst", "pkts_burst %u ", AmountOf(police.packet_rate(), packet_ticks));
    }
  }
};

TCACT_REGISTER_KIND(PoliceKind)

}  // namespace
}  // namespace tcact::kinds
