#include "proto/kinds/bpf_program.h"

#include <elf.h>
#include <linux/filter.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/kinds/words.h"

namespace tcact::kinds {
namespace {

using v1::Bpf;

constexpr int64_t kMaxFileBytes = int64_t{16} << 20;
constexpr uint32_t kMaxJump = 0xff;
constexpr uint32_t kWordBits = 32;
// Loads from here on ask the kernel for something beside the packet's bytes.
constexpr auto kAncillary = static_cast<uint32_t>(SKF_AD_OFF);

// What of one instruction's k is looked at.
enum class Rule { kNone, kNotZero, kShift, kScratch, kPacket, kJump, kBranch };

struct Known {
  uint32_t code;
  Rule rule;
};

// All instructions that the kernel takes.
constexpr Known kKnown[] = {
    // BPF_K is 0.
    {BPF_ALU | BPF_ADD, Rule::kNone},
    {BPF_ALU | BPF_ADD | BPF_X, Rule::kNone},
    {BPF_ALU | BPF_SUB | BPF_K, Rule::kNone},
    {BPF_ALU | BPF_SUB | BPF_X, Rule::kNone},
    {BPF_ALU | BPF_MUL | BPF_K, Rule::kNone},
    {BPF_ALU | BPF_MUL | BPF_X, Rule::kNone},
    {BPF_ALU | BPF_DIV | BPF_K, Rule::kNotZero},
    {BPF_ALU | BPF_DIV | BPF_X, Rule::kNone},
    {BPF_ALU | BPF_MOD | BPF_K, Rule::kNotZero},
    {BPF_ALU | BPF_MOD | BPF_X, Rule::kNone},
    {BPF_ALU | BPF_AND | BPF_K, Rule::kNone},
    {BPF_ALU | BPF_AND | BPF_X, Rule::kNone},
    {BPF_ALU | BPF_OR | BPF_K, Rule::kNone},
    {BPF_ALU | BPF_OR | BPF_X, Rule::kNone},
    {BPF_ALU | BPF_XOR | BPF_K, Rule::kNone},
    {BPF_ALU | BPF_XOR | BPF_X, Rule::kNone},
    {BPF_ALU | BPF_LSH | BPF_K, Rule::kShift},
    {BPF_ALU | BPF_LSH | BPF_X, Rule::kNone},
    {BPF_ALU | BPF_RSH | BPF_K, Rule::kShift},
    {BPF_ALU | BPF_RSH | BPF_X, Rule::kNone},
    {BPF_ALU | BPF_NEG, Rule::kNone},
    {BPF_LD | BPF_W | BPF_ABS, Rule::kPacket},
    {BPF_LD | BPF_H | BPF_ABS, Rule::kPacket},
    {BPF_LD | BPF_B | BPF_ABS, Rule::kPacket},
    {BPF_LD | BPF_W | BPF_LEN, Rule::kNone},
    {BPF_LD | BPF_W | BPF_IND, Rule::kNone},
    {BPF_LD | BPF_H | BPF_IND, Rule::kNone},
    {BPF_LD | BPF_B | BPF_IND, Rule::kNone},
    {BPF_LD | BPF_IMM, Rule::kNone},
    {BPF_LD | BPF_MEM, Rule::kScratch},
    {BPF_LDX | BPF_W | BPF_LEN, Rule::kNone},
    {BPF_LDX | BPF_B | BPF_MSH, Rule::kNone},
    {BPF_LDX | BPF_IMM, Rule::kNone},
    {BPF_LDX | BPF_MEM, Rule::kScratch},
    {BPF_ST, Rule::kScratch},
    {BPF_STX, Rule::kScratch},
    {BPF_MISC | BPF_TAX, Rule::kNone},
    {BPF_MISC | BPF_TXA, Rule::kNone},
    {BPF_RET | BPF_K, Rule::kNone},
    {BPF_RET | BPF_A, Rule::kNone},
    {BPF_JMP | BPF_JA, Rule::kJump},
    {BPF_JMP | BPF_JEQ | BPF_K, Rule::kBranch},
    {BPF_JMP | BPF_JEQ | BPF_X, Rule::kBranch},
    {BPF_JMP | BPF_JGE | BPF_K, Rule::kBranch},
    {BPF_JMP | BPF_JGE | BPF_X, Rule::kBranch},
    {BPF_JMP | BPF_JGT | BPF_K, Rule::kBranch},
    {BPF_JMP | BPF_JGT | BPF_X, Rule::kBranch},
    {BPF_JMP | BPF_JSET | BPF_K, Rule::kBranch},
    {BPF_JMP | BPF_JSET | BPF_X, Rule::kBranch},
};

const Known* FindKnown(uint32_t code) {
  const Known* found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                    [code](const Known& known) { return known.code == code; });
  return found == std::end(kKnown) ? nullptr : found;
}

// Why the instruction at `position` is no good; null if it is.
const char* CheckOne(const Bpf& bpf, int position) {
  const Bpf::Instruction& instruction = bpf.bytecode(position);
  const Known* known = FindKnown(instruction.code());
  if (known == nullptr) return "an unknown code";
  const uint32_t k = instruction.k();
  // How many instructions follow.
  const auto left = static_cast<uint32_t>(bpf.bytecode_size() - position - 1);
  switch (known->rule) {
    case Rule::kNone:
      return nullptr;
    case Rule::kNotZero:
      return k == 0 ? "a division by zero" : nullptr;
    case Rule::kShift:
      return k >= kWordBits ? "a shift by 32 or more" : nullptr;
    case Rule::kScratch:
      return k >= BPF_MEMWORDS ? "scratch memory beyond word 15" : nullptr;
    case Rule::kPacket:
      return k >= kAncillary && (k >= kAncillary + SKF_AD_MAX || (k - kAncillary) % 4 != 0)
                 ? "a load from an unknown ancillary offset"
                 : nullptr;
    case Rule::kJump:
      return k >= left ? "a jump beyond the end" : nullptr;
    case Rule::kBranch:
      return instruction.jump_true() >= left || instruction.jump_false() >= left
                 ? "a jump beyond the end"
                 : nullptr;
  }
  return nullptr;
}

// Whether a scratch word is read that no path has written: `valid[i]` holds the words that all
// paths to instruction i have. Returns the instruction; -1 if there is none.
int FindUnwrittenScratch(const Bpf& bpf) {
  const int count = bpf.bytecode_size();
  std::vector<uint32_t> valid(static_cast<size_t>(count), ~0U);
  uint32_t now = 0;
  for (int i = 0; i < count; ++i) {
    const Bpf::Instruction& instruction = bpf.bytecode(i);
    now &= valid[static_cast<size_t>(i)];
    const uint32_t code = instruction.code();
    const auto at = [&valid, i](uint32_t jump) -> uint32_t& {
      return valid[static_cast<size_t>(i) + 1 + jump];
    };
    if (code == BPF_ST || code == BPF_STX) {
      now |= 1U << instruction.k();
    } else if (code == (BPF_LD | BPF_MEM) || code == (BPF_LDX | BPF_MEM)) {
      if ((now >> instruction.k() & 1) == 0) return i;
    } else if (code == (BPF_JMP | BPF_JA)) {
      at(instruction.k()) &= now;
      now = ~0U;
    } else if (BPF_CLASS(code) == BPF_JMP) {
      at(instruction.jump_true()) &= now;
      at(instruction.jump_false()) &= now;
      now = ~0U;
    }
  }
  return -1;
}

RuleError Refused(int position, absl::string_view text) {
  return {absl::StrCat("bpf.bytecode[", position, "]"), std::string(text),
          "RTNETLINK answers: Invalid argument"};
}

// "40 0 0 12".
bool ReadInstruction(absl::string_view text, Bpf::Instruction* instruction) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
  uint16_t code = 0;
  uint8_t jump_true = 0;
  uint8_t jump_false = 0;
  uint32_t k = 0;
  if (parts.size() != 4 || !ParseU16(parts[0], 10, &code) || !ParseU8(parts[1], 10, &jump_true) ||
      !ParseU8(parts[2], 10, &jump_false) || !ParseU32(parts[3], 10, &k)) {
    return false;
  }
  instruction->set_code(code);
  instruction->set_jump_true(jump_true);
  instruction->set_jump_false(jump_false);
  instruction->set_k(k);
  return true;
}

// A structure of the file; false if it does not hold it.
template <typename T>
bool Load(absl::string_view content, uint64_t offset, T* out) {
  if (offset > content.size() || content.size() - offset < sizeof(T)) return false;
  std::memcpy(out, content.data() + offset, sizeof(T));
  return true;
}

}  // namespace

bool ReadBytecode(absl::string_view text, Bpf* bpf, std::string* error) {
  error->clear();
  std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  uint16_t length = 0;
  if (parts.size() < 2 || !ParseU16(parts[0], 10, &length) || length == 0 ||
      length > kMaxBpfInstructions) {
    return false;
  }
  parts.erase(parts.begin());
  // A comma at the end, and the end of a line.
  if (absl::StripAsciiWhitespace(parts.back()).empty()) parts.pop_back();
  if (parts.size() > length) {
    *error = "Real program length exceeds encoded length parameter!\n";
    return false;
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!ReadInstruction(parts[i], bpf->add_bytecode())) {
      *error = absl::StrCat("Error at instruction ", i, "!\n");
      return false;
    }
  }
  if (parts.size() < length) {
    *error = "Parsed program length is less than encoded length parameter!\n";
    return false;
  }
  return true;
}

std::string FormatBytecode(const Bpf& bpf) {
  std::string text = absl::StrCat(bpf.bytecode_size());
  for (const Bpf::Instruction& instruction : bpf.bytecode()) {
    absl::StrAppend(&text, ",", instruction.code(), " ", instruction.jump_true(), " ",
                    instruction.jump_false(), " ", instruction.k());
  }
  return text;
}

RuleError CheckBytecode(const Bpf& bpf) {
  const int count = bpf.bytecode_size();
  if (count < 1 || count > kMaxBpfInstructions) {
    RuleError error =
        OutOfRange("bpf.bytecode", absl::StrCat(count, " instructions"), 1, kMaxBpfInstructions);
    error.kernel_text = "RTNETLINK answers: Invalid argument";
    return error;
  }
  for (int i = 0; i < count; ++i) {
    const Bpf::Instruction& instruction = bpf.bytecode(i);
    if (instruction.jump_true() > kMaxJump || instruction.jump_false() > kMaxJump) {
      return Refused(i, "a jump of more than 255");
    }
    if (const char* why = CheckOne(bpf, i)) return Refused(i, why);
  }
  const uint32_t last = bpf.bytecode(count - 1).code();
  if (last != (BPF_RET | BPF_K) && last != (BPF_RET | BPF_A)) {
    return Refused(count - 1, "no return at the end");
  }
  if (const int at = FindUnwrittenScratch(bpf); at >= 0) {
    return Refused(at, "scratch memory that no path has written");
  }
  return {};
}

bool ReadProgramFile(const std::string& path, std::string* content, std::string* error) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    *error = std::strerror(errno);
    return false;
  }
  if (!S_ISREG(status.st_mode) || status.st_size > kMaxFileBytes) {
    *error = "not a regular file of at most 16 MiB";
    return false;
  }
  std::ifstream file(path, std::ios::binary);
  content->resize(static_cast<size_t>(status.st_size));
  if (!file.read(content->data(), status.st_size)) {
    *error = "cannot be read";
    return false;
  }
  return true;
}

bool HasElfSection(absl::string_view content, absl::string_view section) {
  Elf64_Ehdr head;
  if (!Load(content, 0, &head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB) {
    return false;
  }
  const auto header = [&](uint64_t index, Elf64_Shdr* out) {
    return Load(content, head.e_shoff + index * sizeof(Elf64_Shdr), out);
  };
  Elf64_Shdr names;
  if (!header(head.e_shstrndx, &names)) return false;
  for (uint64_t i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr each;
    if (!header(i, &each)) return false;
    const uint64_t at = names.sh_offset + each.sh_name;
    if (at >= content.size()) continue;
    const absl::string_view rest = content.substr(at);
    if (rest.substr(0, rest.find('\0')) == section) return true;
  }
  return false;
}

}  // namespace tcact::kinds
