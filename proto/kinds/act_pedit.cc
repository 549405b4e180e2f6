// pedit: edits the packet's bytes.
//
// A command edits a field of 1, 2, 4, 6 or 16 bytes; a key edits one 32-bit word. tc makes keys of
// commands, the kernel and the store know keys only, so a listing shows keys.
#include <algorithm>
#include <array>

#include "absl/base/internal/endian.h"
#include "absl/strings/str_cat.h"
#include "proto/kinds/addresses.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/pedit_fields.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Pedit;
using v1::Verdict;

// tc packs so many, the kernel takes the larger number.
constexpr int kMaxPackedKeys = 128;
constexpr int kMaxKeys = 255;
constexpr uint32_t kMaxShift = 31;
constexpr uint32_t kAllBits = 0xffffffff;
constexpr int kWord = 4;

constexpr absl::string_view kExtendedOnly = "Non extended mode. only 'set' command is supported\n";

// The bytes of a value; those of a number count from the least significant, as in tc.
using Value = std::array<uint8_t, kIpv6Bytes>;

// What one command says.
struct Command {
  Pedit::Command command = Pedit::COMMAND_SET;
  Value value{};
  // Toggles the bits of `value` instead of replacing them.
  bool invert = false;
  uint32_t retain = kAllBits;
};

uint32_t Number(const Value& value) { return absl::little_endian::Load32(value.data()); }
uint32_t WordAt(const Value& value, size_t at) { return absl::big_endian::Load32(&value[at]); }

bool CopyBytes(absl::string_view bytes, Value* value) {
  std::copy(bytes.begin(), bytes.end(), value->begin());
  return true;
}

bool ReadValue(absl::string_view word, PeditValue kind, Value* value) {
  std::string bytes;
  uint32_t bits = 0;
  switch (kind) {
    case PeditValue::kNumber: {
      uint32_t number = 0;
      if (!ParseU32(word, 0, &number)) return false;
      absl::little_endian::Store32(value->data(), number);
      return true;
    }
    case PeditValue::kMac:
      return ParseMac(word, &bytes) && CopyBytes(bytes, value);
    case PeditValue::kIpv4:
      return ParseIpPrefix(word, IpFamily::kIpv4, &bytes, &bits) && CopyBytes(bytes, value);
    case PeditValue::kIpv6:
      return ParseIpPrefix(word, IpFamily::kIpv6, &bytes, &bits) && CopyBytes(bytes, value);
  }
  return false;
}

ParseError Unsound(absl::string_view text) { return ParseError::Return(std::string(text)); }

// "set VALUE", "clear", ... with an optional "retain MASK"; past them. `field` tells length, form
// and bits.
ParseError ParseCommand(Words* words, const PeditField& field, bool extended, Command* command) {
  command->retain = field.retain;
  if (words->Matches("invert")) {
    const int ones = field.length == 2 || field.length == kWord ? field.length : 1;
    std::fill_n(command->value.begin(), ones, 0xff);
    command->invert = true;
  } else if (words->Matches("set") || words->Matches("add")) {
    if (words->Matches("add")) command->command = Pedit::COMMAND_ADD;
    if (!extended && command->command == Pedit::COMMAND_ADD) {
      return Unsound(kExtendedOnly);
    }
    if (ParseError error = words->Advance()) return error;
    if (!ReadValue(words->Peek(), field.value, &command->value)) return Unsound("");
  } else if (words->Matches("decrement")) {
    if (!field.decrement) return Unsound("decrement command is not supported for this field\n");
    if (!extended) return Unsound(kExtendedOnly);
    // By overflow: the largest value is the same as -1.
    command->command = Pedit::COMMAND_ADD;
    absl::little_endian::Store32(command->value.data(), field.retain);
  } else if (words->Matches("preserve")) {
    command->retain = 0;
  } else if (!words->Matches("clear")) {
    return Unsound("");
  }
  words->Skip();
  if (words->Matches("retain")) {
    if (ParseError error = words->Advance()) return error;
    if (!ParseU32(words->Peek(), 0, &command->retain)) return Unsound("");
    words->Skip();
  }
  if (field.length > kWord && command->retain != kAllBits) {
    return Unsound("retain is not supported for fields longer the 32 bits\n");
  }
  return {};
}

// Appends a key that edits the `length` bytes at `offset`. `key` holds what is not of the edit.
ParseError Pack(const Pedit::Key& key, int offset, int length, uint32_t value, uint32_t mask,
                uint32_t retain, Pedit* pedit) {
  const int byte = offset & 3;
  if (length < kWord && (value >> (8 * length) != 0 || mask >> (8 * length) != 0)) {
    return Unsound(
        absl::StrCat("bad value 0x", absl::Hex(value), "; the field has ", 8 * length, " bits\n"));
  }
  if (byte + length > kWord) {
    return Unsound(absl::StrCat("offset ", offset, ": a field of ", length,
                                " bytes must not cross a boundary of 4 bytes\n"));
  }
  if (pedit->keys_size() >= kMaxPackedKeys) {
    return Unsound(absl::StrCat("more than ", kMaxPackedKeys, " keys\n"));
  }
  const int shift = 8 * (kWord - length - byte);
  const uint32_t field = length == kWord ? kAllBits : ((1U << (8 * length)) - 1) << shift;
  Pedit::Key* packed = pedit->add_keys();
  *packed = key;
  packed->set_offset(offset & ~3);
  packed->set_value(((value & retain) << shift));
  packed->set_mask(((mask | ~retain) << shift) | ~field);
  return {};
}

// Makes the keys of a command to `field` at `offset`.
ParseError PackCommand(const Pedit::Key& key, const PeditField& field, int offset,
                       const Command& command, Pedit* pedit) {
  const auto pack = [&](int at, int length, uint32_t value) {
    return Pack(key, offset + at, length, value, 0, kAllBits, pedit);
  };
  const Value& value = command.value;
  switch (field.value) {
    case PeditValue::kNumber: {
      const uint32_t number = Number(value);
      return Pack(key, offset, field.length, number, command.invert ? number : 0, command.retain,
                  pedit);
    }
    case PeditValue::kIpv4:
      return Pack(key, offset, kWord, WordAt(value, 0), command.invert ? kAllBits : 0,
                  command.retain, pedit);
    case PeditValue::kMac:
      // The half word first where the address begins in the middle of a word.
      if ((offset & 3) == 0) {
        if (ParseError error = pack(0, 4, WordAt(value, 0))) return error;
        return pack(4, 2, WordAt(value, 4) >> 16);
      }
      if (ParseError error = pack(0, 2, WordAt(value, 0) >> 16)) return error;
      return pack(2, 4, WordAt(value, 2));
    case PeditValue::kIpv6:
      for (int at = 0; at < 16; at += kWord) {
        if (ParseError error = pack(at, kWord, WordAt(value, static_cast<size_t>(at)))) {
          return error;
        }
      }
      return {};
  }
  return {};
}

// "u8", "u16" or "u32": a field without a name. False on anything else.
bool ReadWidth(const Words& words, PeditField* field) {
  if (words.Matches("u32")) {
    field->length = 4;
  } else if (words.Matches("u16")) {
    field->length = 2;
    field->retain = 0xffff;
  } else if (words.Matches("u8")) {
    field->length = 1;
    field->retain = 0xff;
  } else {
    return false;
  }
  return true;
}

// "at OFFSET MASK SHIFT"; past them.
ParseError ParseAt(Words* words, Pedit::Key* key) {
  if (!words->Matches("at")) return {};
  uint32_t at = 0;
  uint32_t mask = 0;
  uint32_t shift = 0;
  if (ParseError error = words->Advance()) return error;
  if (!ParseU32(words->Peek(), 0, &at)) return Unsound("");
  if (ParseError error = words->Advance()) return error;
  if (!ParseU32(words->Peek(), 16, &mask)) return Unsound("");
  if (ParseError error = words->Advance()) return error;
  if (!ParseU32(words->Peek(), 0, &shift)) return Unsound("");
  key->set_at(static_cast<int32_t>(at));
  key->set_offset_mask(mask);
  key->set_offset_shift(shift);
  return words->Advance();
}

// What follows "munge offset"; past it.
ParseError ParseRaw(Words* words, Pedit* pedit) {
  int offset = 0;
  if (!ParseInt(words->Peek(), 0, &offset)) return Unsound("");
  words->Skip();
  PeditField field;
  if (!ReadWidth(*words, &field)) return Unsound("");
  if (ParseError error = words->Advance()) return error;
  Pedit::Key key;
  if (ParseError error = ParseAt(words, &key)) return error;
  Command command;
  if (ParseError error = ParseCommand(words, field, pedit->extended(), &command)) return error;
  key.set_command(command.command);
  return PackCommand(key, field, offset, command, pedit);
}

// What follows "munge", a header and a field; past it.
ParseError ParseLayered(Words* words, Pedit* pedit) {
  const std::string header(words->Peek());
  if (ParseError error = words->Advance()) return error;
  const PeditField* field = FindPeditField(header, words->Peek(), pedit->extended());
  if (field == nullptr) {
    return Unsound(absl::StrCat("option \"", words->Peek(), "\" of \"", header, "\" is unknown",
                                pedit->extended() ? "" : " without ex", "\n"));
  }
  if (ParseError error = words->Advance()) return error;
  Command command;
  if (ParseError error = ParseCommand(words, *field, pedit->extended(), &command)) return error;
  Pedit::Key key;
  key.set_header(PeditHeader(header, pedit->extended()));
  key.set_command(command.command);
  if (ParseError error = PackCommand(key, *field, field->offset, command, pedit)) return error;
  if (field->shifted) {
    Pedit::Key* last = pedit->mutable_keys(pedit->keys_size() - 1);
    last->set_mask(last->mask() << 4 | 0xf);
    last->set_value(last->value() << 4);
  }
  return {};
}

RuleError NormalizeKey(const Pedit& pedit, int position, Pedit::Key* key) {
  const auto field = [position](absl::string_view name) {
    return absl::StrCat("pedit.keys[", position, "].", name);
  };
  if (!Pedit::Header_IsValid(key->header())) {
    return OutOfRange(field("header"), static_cast<int>(key->header()), 0,
                      static_cast<int>(Pedit::Header_MAX));
  }
  if (!Pedit::Command_IsValid(key->command())) {
    return OutOfRange(field("command"), static_cast<int>(key->command()), 0,
                      static_cast<int>(Pedit::Command_MAX));
  }
  if (!pedit.extended() && key->header() != Pedit::HEADER_NETWORK) {
    return {
        field("header"), absl::StrCat(static_cast<int>(key->header()), "; 0 unless extended"), {}};
  }
  if (!pedit.extended() && key->command() != Pedit::COMMAND_SET) {
    return {field("command"),
            absl::StrCat(static_cast<int>(key->command()), "; 0 unless extended"),
            {}};
  }
  if (key->offset_mask() == 0) {
    // With a mask only the packet tells whether the sum is a multiple of 4.
    if (key->offset() % kWord != 0) {
      return {field("offset"), absl::StrCat(key->offset(), "; a multiple of 4 without offset_mask"),
              "Error: act_pedit: Offsets must be on 32bit boundaries."};
    }
    key->clear_at();
    key->clear_offset_shift();
  }
  // As the kernel.
  key->set_offset_shift(std::min(key->offset_shift(), kMaxShift));
  return {};
}

class PeditKind : public KindOf<Pedit, v1::Action::kPeditFieldNumber, &v1::Action::pedit,
                                &v1::Action::mutable_pedit> {
 public:
  absl::string_view name() const override { return "pedit"; }
  // A key takes up to 20 bytes.
  uint32_t inline_params() const override { return 64; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Pedit* pedit = mutable_params(action);
    if (words->Matches("ex")) {
      pedit->set_extended(true);
      if (ParseError error = words->Advance()) return error;
    }
    while (!words->AtEnd()) {
      // tc takes the kind's word again, even as "p", which is no verdict here.
      if (words->Matches(name())) {
        if (ParseError error = words->Advance()) return error;
        if (words->Matches("ex")) {
          return Unsound(absl::StrCat("'ex' must be before first 'munge'\n", help()));
        }
        continue;
      }
      if (words->Matches("help")) return ParseError::Exit(std::string(help()));
      if (!words->Matches("munge")) break;
      if (ParseError error = words->Advance()) return error;
      if (ParseError error = ParseMunge(words, pedit)) return error;
    }
    return ParseVerdictAndIndex(words, "Pedit", Verdict::TYPE_PASS, pedit->mutable_verdict(),
                                action);
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Pedit* pedit = mutable_params(action);
    const int count = pedit->keys_size();
    if (count < 1 || count > kMaxKeys) {
      RuleError error = OutOfRange("pedit.keys", absl::StrCat(count, " keys"), 1, kMaxKeys);
      if (count == 0) error.kernel_text = "Error: act_pedit: Pedit requires keys to be passed.";
      return error;
    }
    for (int i = 0; i < count; ++i) {
      if (RuleError error = NormalizeKey(*pedit, i, pedit->mutable_keys(i))) return error;
    }
    return CheckVerdict("pedit.verdict", context, Verdict::TYPE_PASS, pedit->mutable_verdict());
  }

  // The kernel hands on what is extended and has one command throughout.
  bool Offloadable(const v1::Action& action) const override {
    const Pedit& pedit = params(action);
    return pedit.extended() &&
           std::all_of(pedit.keys().begin(), pedit.keys().end(), [&pedit](const Pedit::Key& key) {
             return key.command() == pedit.keys(0).command();
           });
  }

  void PrintHead(Printer* out) const override { out->String("kind", " %s ", name()); }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Pedit& pedit = params(action);
    PrintVerdict("action ", pedit.verdict(), " ", out);
    // tc's line ends here are the same with -o.
    out->Uint("nkeys", "keys %u\n", static_cast<uint64_t>(pedit.keys_size()));
    out->Uint("index", " \t index %u", action.index());
    out->Uint("ref", " ref %u", action.refcnt());
    out->Uint("bind", " bind %u", action.bindcnt());
    if (options.stats) PrintTimes(action, out);
    out->OpenArray("keys");
    for (int i = 0; i < pedit.keys_size(); ++i) PrintKey(i, pedit.keys(i), out);
    out->CloseArray();
    out->Line();
  }

  absl::string_view help() const override {
    return "Usage: ... action pedit [ex] munge EDIT [munge EDIT]... [VERDICT] [index INDEX]\n"
           "Edits the packet's bytes.\n"
           "  EDIT     offset BYTES u8|u16|u32 [at BYTES MASK SHIFT] COMMAND, or a field:\n"
           "           ip   src | dst | tos | dsfield | ihl | ttl | protocol | precedence | "
           "nofrag\n"
           "                | firstfrag | ce | df | mf COMMAND; without ex also dport | sport |\n"
           "                icmp_type | icmp_code\n"
           "           with ex also\n"
           "           eth  src | dst | type COMMAND\n"
           "           ip6  src | dst | flow_lbl | payload_len | nexthdr | hoplimit |\n"
           "                traffic_class COMMAND\n"
           "           tcp  sport | dport | flags COMMAND\n"
           "           udp  sport | dport COMMAND\n"
           "  COMMAND  set VALUE | add VALUE (with ex) | clear | invert | preserve |\n"
           "           decrement (with ex; ttl and hoplimit), each with [retain MASK]: only these "
           "bits\n"
           "           change\n"
           "  BYTES    from the network header, also negative; u16 and u32 must not cross a\n"
           "           boundary of 4 bytes; at: where the packet holds a byte that is added to "
           "it,\n"
           "           through MASK (hexadecimal) and SHIFT\n"
           "  VERDICT  pass, unless given; see gact\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"munge offset 0 u8 clear",
            "munge offset -14 u16 set 0x1234 munge offset 8 u32 invert index 4",
            "munge offset 0 u8 at 16 0f 4 set 0x2 retain 0xf0 drop",
            "munge offset 4 u32 preserve",
            "pedit munge offset 4 u16 clear",
            "munge ip src set 192.0.2.1 munge ip dport set 80 munge ip dsf set 0x10 retain 0xfc",
            "munge ip icmp_type set 8 munge ip icmp_code clear munge ip sport set 53",
            "munge ip precedence set 0xe0 munge ip ihl set 5",
            "munge ip nofrag clear munge ip firstfrag clear munge ip ce clear",
            "munge ip df set 0x40 munge ip protocol set 17 munge ip dst set 192.0.2.0/24",
            "ex munge eth src set 02:00:00:00:00:01 munge eth dst set 02:00:00:00:00:02 pipe",
            "ex munge eth type set 0x88f7",
            "ex munge ip ttl add 255 munge ip tos set 1 munge ip mf clear",
            "ex munge ip ttl decrement munge ip6 hoplimit decrement",
            "ex munge ip6 nexthdr set 6 munge ip6 src set 2001:db8::2",
            "ex munge ip6 dst set 2001:db8::1 munge ip6 traffic_class set 0x40",
            "ex munge ip6 flow_lbl set 7 munge ip6 hoplimit add 1 munge ip6 payload_len set 9",
            "ex munge tcp sport set 1 munge tcp flags set 0x10 munge udp dport add 1 jump 2",
            "ex munge tcp dport set 2 munge udp sport set 3"};
  }

 private:
  // What follows "munge"; past it. Whatever is wrong shows the help.
  ParseError ParseMunge(Words* words, Pedit* pedit) const {
    ParseError error;
    if (words->Matches("offset")) {
      error = words->Advance();
      if (!error) error = ParseRaw(words, pedit);
    } else {
      error = ParseLayered(words, pedit);
    }
    if (error.then == ParseError::Then::kReturn) {
      absl::StrAppend(&error.text, "Bad pedit construct (", words->Peek(), ")\n", help());
    }
    return error;
  }

  static void PrintKey(int number, const Pedit::Key& key, Printer* out) {
    const bool network = key.header() == Pedit::HEADER_NETWORK;
    const bool set = key.command() == Pedit::COMMAND_SET;
    out->OpenObject();
    out->TextFormat("\n\t key #%d  at ", number);
    out->JsonString("htype", PeditHeaderName(key.header()));
    if (network) {
      out->Int("offset", "%d", key.offset());
    } else {
      out->Text(PeditHeaderName(key.header()));
      out->Int("offset", "%+d", key.offset());
    }
    out->Text(set ? ": val" : ": add");
    out->JsonString("cmd", set ? "set" : "add");
    out->HexDigits("val", " %08x", key.value());
    out->HexDigits("mask", " mask %08x", key.mask());
    out->CloseObject();
  }
};

TCACT_REGISTER_KIND(PeditKind)

}  // namespace
}  // namespace tcact::kinds
