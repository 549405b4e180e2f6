// bpf: a program decides.
//
// The store runs no program. Of classic BPF it keeps the instructions, of eBPF the name,
// "FILE:[SECTION]": the id, the tag and the like, which tc prints behind it, are the kernel's that
// loaded it.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/kinds/bpf_program.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Bpf;
using v1::Verdict;

// The kernel's.
constexpr size_t kMaxName = 255;
// Of files. The longest program as text has about 100 KiB without blanks.
constexpr size_t kMaxBytecodeFile = size_t{1} << 20;
constexpr size_t kMaxObjectFile = size_t{16} << 20;
// What "m:" stands for before the name of something pinned.
constexpr char kPinnedHere[] = "/sys/fs/bpf/tc/";
// The section of an action, unless another is named.
constexpr char kDefaultSection[] = "action";

absl::string_view BaseName(absl::string_view path) { return path.substr(path.rfind('/') + 1); }

// What tc shows of an eBPF program, cut as by tc.
std::string NameOf(absl::string_view path, absl::string_view section) {
  return absl::StrCat(BaseName(path), ":[", section, "]").substr(0, kMaxName);
}

// Classic BPF, as text or in a file, under the cursor; past it.
ParseError ParseClassic(Words* words, bool file, Bpf* bpf) {
  const std::string word(words->Peek());
  std::string error;
  if (file) {
    std::string lines;
    if (!ReadWholeFile(word, kMaxBytecodeFile, &lines, &error)) {
      return ParseError::Return(absl::StrCat("Cannot read ", word, ": ", error, "\n"));
    }
    if (!ReadBytecodeLines(lines, bpf, &error)) return ParseError::Return(error);
  } else if (!ReadBytecode(word, bpf, &error)) {
    return ParseError::Return(error);
  }
  words->Skip();
  return {};
}

ParseError CheckPinnedPath(const std::string& path) {
  const bool here = path.size() > 2 && absl::StartsWith(path, "m:");
  std::string error;
  if (CheckPinned(here ? kPinnedHere + path.substr(2) : path, &error)) return {};
  return ParseError::Return(
      absl::StrCat("Couldn't retrieve pinned program '", path, "': ", error, "\n"));
}

ParseError CheckObjectFile(const std::string& path, const std::string& section) {
  std::string content;
  std::string error;
  if (!ReadWholeFile(path, kMaxObjectFile, &content, &error)) {
    return ParseError::Return(absl::StrCat("Error opening object ", path, ": ", error,
                                           "\nCannot initialize ELF context!\n"));
  }
  if (!CheckObject(content, section, &error)) return ParseError::Return(error);
  return {};
}

// An eBPF program, in an object file or pinned in a BPF file system, whose path is under the
// cursor, and what belongs to it; past them.
ParseError ParseObject(Words* words, bool pinned, Bpf* bpf) {
  const std::string path(words->Peek());
  std::string section = kDefaultSection;
  words->Skip();
  if (words->Matches("section")) {
    if (ParseError error = words->Advance()) return error;
    section = std::string(words->Peek());
    words->Skip();
  }
  if (words->Matches("export")) {
    return ParseError::Return(
        "bpf: \"export\" hands over maps of a loaded program; none is loaded here\n");
  }
  if (words->Matches("verbose")) words->Skip();
  ParseError error = pinned ? CheckPinnedPath(path) : CheckObjectFile(path, section);
  if (error) return error;
  bpf->set_name(NameOf(path, pinned ? "*fsobj" : section));
  return {};
}

// What tells where the program is, and the program; past them.
ParseError ParseProgram(Words* words, Bpf* bpf) {
  const bool bytecode = words->Matches("bytecode") || words->Is("bc");
  const bool bytecode_file = words->Matches("bytecode-file") || words->Is("bcf");
  const bool object = words->Matches("object-file") || words->Is("obj");
  const bool pinned =
      words->Matches("object-pinned") || words->Matches("pinned") || words->Matches("fd");
  if (!bytecode && !bytecode_file && !object && !pinned) {
    return ParseError::Return(absl::StrCat("What mode is \"", words->Peek(), "\"?\n"));
  }
  if (ParseError error = words->Advance()) return error;
  if (bytecode || (bytecode_file && !object)) return ParseClassic(words, !bytecode, bpf);
  return ParseObject(words, !object, bpf);
}

class BpfKind
    : public KindOf<Bpf, v1::Action::kBpfFieldNumber, &v1::Action::bpf, &v1::Action::mutable_bpf> {
 public:
  absl::string_view name() const override { return "bpf"; }
  // Four instructions of about 10 bytes and a verdict.
  uint32_t inline_params() const override { return 64; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Bpf* bpf = mutable_params(action);
    bool seen = false;
    while (!words->AtEnd()) {
      if (words->Matches("run")) {
        if (ParseError error = words->Advance()) return error;
        if (seen) return ParseError::Duplicate("run", words->Peek());
      } else if (words->Matches("help")) {
        return ParseError::Return(std::string(help()));
      } else if (words->Matches("index") || seen) {
        break;
      }
      if (ParseError error = ParseProgram(words, bpf)) return error;
      seen = true;
    }
    return ParseVerdictAndIndex(words, name(), Verdict::TYPE_PIPE, bpf->mutable_verdict(), action);
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Bpf* bpf = mutable_params(action);
    if (bpf->name().empty()) {
      if (RuleError error = CheckBytecode(*bpf)) return error;
    } else if (bpf->bytecode_size() != 0) {
      return {"bpf.name", "given; not together with bytecode", {}};
    } else if (bpf->name().size() > kMaxName || bpf->name().find('\0') != std::string::npos) {
      return {"bpf.name",
              absl::StrCat(bpf->name().size(), " bytes; 1 to ", kMaxName, " without zeros"),
              {}};
    }
    return CheckVerdict("bpf.verdict", context, Verdict::TYPE_PIPE, bpf->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return false; }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Bpf& bpf = params(action);
    if (!bpf.name().empty()) out->String("bpf_name", "%s ", bpf.name());
    if (bpf.bytecode_size() != 0) PrintBytecode(bpf, out);
    PrintVerdict("default-action ", bpf.verdict(), "", out);
    out->Line();
    PrintCounts(action, options, out);
    // tc leaves a blank before the line that follows.
    out->Text(" ");
  }

  absl::string_view help() const override {
    return "Usage: ... action bpf [run] PROGRAM [VERDICT] [index INDEX]\n"
           "A program decides.\n"
           "  PROGRAM  bytecode (bc) 'N,CODE JT JF K,...'   classic BPF: N instructions, decimal\n"
           "           bytecode-file (bcf) FILE             the same in a file\n"
           "           object-file (obj) FILE [section NAME] [verbose]\n"
           "                                                eBPF: its name is kept; section "
           "action,\n"
           "                                                unless given\n"
           "           object-pinned (pinned, fd) FILE      eBPF: its name is kept\n"
           "           No program is loaded here, so there are no maps to export.\n"
           "  VERDICT  unless the program says otherwise: pipe, unless given; see gact\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    // None with a file, which would have to be there.
    return {"bytecode '4,40 0 0 12,21 0 1 2048,6 0 0 262144,6 0 0 0'",
            "bytecode '1,6 0 0 0,' drop index 4294967295",
            "run bc '4,0 0 0 7,2 0 0 15,96 0 0 15,22 0 0 0' goto chain 3",
            "b '2,32 0 0 4294963200,6 0 0 4294967295' jump 2 index 4"};
  }

 private:
  static void PrintBytecode(const Bpf& bpf, Printer* out) {
    if (!out->json()) out->TextFormat("bytecode '%s' ", FormatBytecode(bpf));
    out->OpenObject("bytecode");
    out->JsonUint("length", static_cast<uint64_t>(bpf.bytecode_size()));
    out->OpenArray("insns");
    for (const Bpf::Instruction& instruction : bpf.bytecode()) {
      out->OpenObject();
      out->JsonUint("code", instruction.code());
      out->JsonUint("jt", instruction.jump_true());
      out->JsonUint("jf", instruction.jump_false());
      out->JsonUint("k", instruction.k());
      out->CloseObject();
    }
    out->CloseArray();
    out->CloseObject();
  }
};

TCACT_REGISTER_KIND(BpfKind)

}  // namespace
}  // namespace tcact::kinds
