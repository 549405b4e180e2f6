// tunnel_key: sets or unsets the tunnel that the packet will go through.
#include "absl/strings/str_cat.h"
#include "proto/kinds/addresses.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/tunnel_options.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::TunnelKey;
using v1::Verdict;

constexpr uint32_t kMaxPort = 0xffff;
constexpr uint32_t kMaxU8 = 0xff;

// tc tries both bases, so "10" is ten and "1f" thirty-one.
bool ParseTosOrTtl(absl::string_view word, uint32_t* out) {
  uint8_t value = 0;
  if (!ParseU8(word, 10, &value) && !ParseU8(word, 16, &value)) return false;
  *out = value;
  return true;
}

RuleError CheckAddresses(const TunnelKey& key) {
  const size_t size = key.src_ip().size();
  if (size == key.dst_ip().size() && (size == kIpv4Bytes || size == kIpv6Bytes)) return {};
  return {"tunnel_key.src_ip",
          absl::StrCat(size, " bytes, and dst_ip ", key.dst_ip().size(),
                       "; both 4 (IPv4) or both 16 (IPv6) are required"),
          "Error: Missing either ipv4 or ipv6 src and dst."};
}

RuleError NormalizeSet(TunnelKey* key) {
  if (RuleError error = CheckAddresses(*key)) return error;
  if (key->dst_port() > kMaxPort) {
    return OutOfRange("tunnel_key.dst_port", key->dst_port(), 0, kMaxPort);
  }
  if (key->tos() > kMaxU8) return OutOfRange("tunnel_key.tos", key->tos(), 0, kMaxU8);
  if (key->ttl() > kMaxU8) return OutOfRange("tunnel_key.ttl", key->ttl(), 0, kMaxU8);
  return NormalizeTunnelOptions(key);
}

// Nothing but the operation and the verdict.
void ClearAllButVerdict(TunnelKey* key) {
  if (key->ByteSizeLong() == 0) return;
  const Verdict verdict = key->verdict();
  const TunnelKey::Operation operation = key->operation();
  key->Clear();
  key->set_operation(operation);
  *key->mutable_verdict() = verdict;
}

class TunnelKeyKind : public KindOf<TunnelKey, v1::Action::kTunnelKeyFieldNumber,
                                    &v1::Action::tunnel_key, &v1::Action::mutable_tunnel_key> {
 public:
  absl::string_view name() const override { return "tunnel_key"; }
  // Two IPv4 addresses, id, port and a verdict take 30 bytes, with IPv6 54.
  uint32_t inline_params() const override { return 40; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    TunnelKey* key = mutable_params(action);
    while (!words->AtEnd()) {
      bool mine = false;
      if (ParseError error = ParseWord(words, key, &mine)) return error;
      if (!mine) break;
      words->Skip();
    }
    if (ParseError error = ParseVerdictAndIndex(words, name(), Verdict::TYPE_PIPE,
                                                key->mutable_verdict(), action)) {
      return error;
    }
    if (key->operation() == TunnelKey::OPERATION_SET &&
        (key->src_ip().empty() || key->dst_ip().empty())) {
      return ParseError::Return(absl::StrCat("set needs tunnel_key parameters\n", help()));
    }
    return {};
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    TunnelKey* key = mutable_params(action);
    if (key->operation() == TunnelKey::OPERATION_SET) {
      if (RuleError error = NormalizeSet(key)) return error;
    } else if (key->operation() == TunnelKey::OPERATION_UNSET) {
      ClearAllButVerdict(key);
    } else {
      RuleError error = OutOfRange("tunnel_key.operation", static_cast<int>(key->operation()), 1,
                                   static_cast<int>(TunnelKey::Operation_MAX));
      error.kernel_text = "Error: Unknown tunnel key action.";
      return error;
    }
    return CheckVerdict("tunnel_key.verdict", context, Verdict::TYPE_PIPE, key->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return true; }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const TunnelKey& key = params(action);
    const bool set = key.operation() == TunnelKey::OPERATION_SET;
    out->String("mode", " %s", set ? "set" : "unset");
    if (set) PrintSet(key, out);
    PrintVerdict(" ", key.verdict(), "", out);
    out->Line();
    PrintCounts(action, options, out);
  }

  absl::string_view help() const override {
    return "Usage: ... action tunnel_key unset [VERDICT] [index INDEX]\n"
           "       ... action tunnel_key set src_ip IP dst_ip IP [id ID] [dst_port PORT] [tos "
           "TOS]\n"
           "                     [ttl TTL] [csum|nocsum] [nofrag] [OPTIONS] [VERDICT] [index "
           "INDEX]\n"
           "Sets or unsets the tunnel that the packet will go through.\n"
           "  IP       IPv4 or IPv6, both of one family\n"
           "  ID       of the tunnel, 0 to 4294967295\n"
           "  PORT     UDP port, 0 to 65535\n"
           "  TOS TTL  0 to 255, decimal or hexadecimal\n"
           "  OPTIONS  geneve_opts CLASS:TYPE:DATA[,CLASS:TYPE:DATA]... (hexadecimal) |\n"
           "           vxlan_opts GBP | erspan_opts VERSION:INDEX:DIRECTION:HWID\n"
           "  VERDICT  pipe, unless given; see gact\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"unset",
            "unset drop index 4",
            "set src_ip 192.0.2.1 dst_ip 192.0.2.2",
            "set src_ip 2001:db8::1 dst_ip 2001:db8::2 id 4294967295 dst_port 65535 nocsum",
            "set src_ip 192.0.2.1 dst_ip 192.0.2.2 tos 0x10 ttl 64 csum nofrag pass",
            "set src_ip 192.0.2.1 dst_ip 192.0.2.2 geneve_opts 0102:80:00880022,0408:42:00400076",
            "set src_ip 192.0.2.1 dst_ip 192.0.2.2 vxlan_opts 257",
            "set src_ip 192.0.2.1 dst_ip 192.0.2.2 erspan_opts 1:42:0:0",
            "set src_ip 192.0.2.1 dst_ip 192.0.2.2 erspan_opts 2:0:1:63 jump 1"};
  }

 private:
  // One keyword with its value; the cursor stays on the last word. Not mine: it did not move.
  ParseError ParseWord(Words* words, TunnelKey* key, bool* mine) const {
    *mine = true;
    if (words->Matches("unset") || words->Matches("set")) {
      if (key->operation() != TunnelKey::OPERATION_UNSPECIFIED) {
        return ParseError::Return(absl::StrCat("unexpected \"", words->Peek(),
                                               "\" - action already specified\n", help()));
      }
      key->set_operation(words->Matches("unset") ? TunnelKey::OPERATION_UNSET
                                                 : TunnelKey::OPERATION_SET);
    } else if (words->Matches("src_ip")) {
      return ParseAddress(words, key->mutable_src_ip());
    } else if (words->Matches("dst_ip")) {
      return ParseAddress(words, key->mutable_dst_ip());
    } else if (words->Matches("id") || words->Matches("dst_port") || words->Matches("tos") ||
               words->Matches("ttl")) {
      return ParseNumber(words, key);
    } else if (words->Matches("geneve_opts") || words->Matches("vxlan_opts") ||
               words->Matches("erspan_opts")) {
      return ParseTunnelOptions(words, key);
    } else if (words->Matches("csum")) {
      key->set_no_csum(false);
    } else if (words->Matches("nocsum")) {
      key->set_no_csum(true);
    } else if (words->Matches("nofrag")) {
      key->set_no_frag(true);
    } else if (words->Matches("help")) {
      return ParseError::Exit(std::string(help()));
    } else {
      *mine = false;
    }
    return {};
  }

  static ParseError ParseAddress(Words* words, std::string* address) {
    if (ParseError error = words->Advance()) return error;
    return RequireIp(words->Peek(), IpFamily::kAny, address);
  }

  static ParseError ParseNumber(Words* words, TunnelKey* key) {
    const bool id = words->Matches("id");
    const bool port = words->Matches("dst_port");
    const bool tos = words->Matches("tos");
    if (ParseError error = words->Advance()) return error;
    const absl::string_view word = words->Peek();
    uint32_t value = 0;
    if (id) {
      if (!ParseU32(word, 10, &value)) return ParseError::Return("Illegal \"id\"\n");
      key->set_key_id(value);
    } else if (port) {
      if (!ParseU32(word, 10, &value) || value > kMaxPort) {
        return ParseError::Return("Illegal \"dst port\"\n");
      }
      key->set_dst_port(value);
    } else if (tos) {
      if (!ParseTosOrTtl(word, &value)) return ParseError::Return("Illegal \"tos\"\n");
      key->set_tos(value);
    } else {
      if (!ParseTosOrTtl(word, &value)) return ParseError::Return("Illegal \"ttl\"\n");
      key->set_ttl(value);
    }
    return {};
  }

  static void PrintSet(const TunnelKey& key, Printer* out) {
    out->Line();
    out->String("src_ip", "\tsrc_ip %s", FormatIp(key.src_ip()));
    out->Line();
    out->String("dst_ip", "\tdst_ip %s", FormatIp(key.dst_ip()));
    if (key.has_key_id()) {
      out->Line();
      out->Uint("key_id", "\tkey_id %u", key.key_id());
    }
    if (key.dst_port() != 0) {
      out->Line();
      out->Uint("dst_port", "\tdst_port %u", key.dst_port());
    }
    PrintTunnelOptions(key, out);
    out->Line();
    out->String("flag", "\t%s", key.no_csum() ? "nocsum" : "csum");
    if (key.no_frag()) out->Text("\tnofrag");
    if (out->json()) out->JsonBool("nofrag", key.no_frag());
    if (key.tos() != 0) {
      out->Line();
      out->Uint("tos", "\ttos 0x%x", key.tos());
    }
    if (key.ttl() != 0) {
      out->Line();
      out->Uint("ttl", "\tttl %u", key.ttl());
    }
  }
};

TCACT_REGISTER_KIND(TunnelKeyKind)

}  // namespace
}  // namespace tcact::kinds
