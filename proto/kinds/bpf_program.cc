#include "proto/kinds/bpf_program.h"

#include <elf.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tcact::kinds {
namespace {

using v1::Bpf;

constexpr size_t kBpfInstructionBytes = 8;
constexpr unsigned char kByteOrder =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
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
  if (known == nullptr) return "classic BPF has no such code";
  const uint32_t k = instruction.k();
  // How many instructions follow.
  const auto left = static_cast<uint32_t>(bpf.bytecode_size() - position - 1);
  switch (known->rule) {
    case Rule::kNone:
      return nullptr;
    case Rule::kNotZero:
      return k == 0 ? "a division by 0; k is 1 or more" : nullptr;
    case Rule::kShift:
      return k >= kWordBits ? "a shift by 0 to 31 is allowed" : nullptr;
    case Rule::kScratch:
      return k >= BPF_MEMWORDS ? "scratch memory has words 0 to 15" : nullptr;
    case Rule::kPacket:
      return k >= kAncillary && (k >= kAncillary + SKF_AD_MAX || (k - kAncillary) % 4 != 0)
                 ? "the kernel has nothing at this offset"
                 : nullptr;
    case Rule::kJump:
      return k >= left ? "a jump beyond the last instruction" : nullptr;
    case Rule::kBranch:
      return instruction.jump_true() >= left || instruction.jump_false() >= left
                 ? "a jump beyond the last instruction"
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

// The kernel says no more than "Invalid argument"; so that is left out.
RuleError Refused(const Bpf& bpf, int position, absl::string_view why) {
  const Bpf::Instruction& at = bpf.bytecode(position);
  return {absl::StrCat("bpf.bytecode[", position, "]"),
          absl::StrCat("\"", at.code(), " ", at.jump_true(), " ", at.jump_false(), " ", at.k(),
                       "\"; ", why),
          {}};
}

// A number at *at and past it, as sscanf reads one: after white space, with a sign, and cut to the
// type.
template <typename T>
bool TakeNumber(const char** at, T* out) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(*at, &end, 10);
  if (end == *at) return false;
  *at = end;
  *out = static_cast<T>(value);
  return true;
}

// "40 0 0 12" at `at`.
bool ReadInstruction(const char* at, Bpf::Instruction* instruction) {
  uint16_t code = 0;
  uint8_t jump_true = 0;
  uint8_t jump_false = 0;
  uint32_t k = 0;
  if (!TakeNumber(&at, &code) || !TakeNumber(&at, &jump_true) || !TakeNumber(&at, &jump_false) ||
      !TakeNumber(&at, &k)) {
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

// An object file (not a program of the machine's own) for eBPF, of this machine's byte order.
bool IsBpf(const Elf64_Ehdr& head) {
  return std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
         head.e_ident[EI_DATA] == kByteOrder && head.e_type == ET_REL &&
         (head.e_machine == EM_NONE || head.e_machine == EM_BPF) && head.e_version == EV_CURRENT &&
         head.e_shentsize == sizeof(Elf64_Shdr);
}

// A section of code whose bytes are in the file.
bool HoldsProgram(const Elf64_Shdr& section, size_t file_size) {
  return section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_EXECINSTR) != 0 &&
         section.sh_size != 0 && section.sh_size % kBpfInstructionBytes == 0 &&
         section.sh_offset <= file_size && section.sh_size <= file_size - section.sh_offset;
}

}  // namespace

bool ReadBytecode(absl::string_view text, Bpf* bpf, std::string* error) {
  error->clear();
  const std::string terminated(text);
  const char* at = terminated.c_str();
  uint16_t length = 0;
  if (!TakeNumber(&at, &length) || *at != ',' || length == 0 || length > kMaxBpfInstructions) {
    return false;
  }
  while (at != nullptr && *++at != '\0') {
    const int count = bpf->bytecode_size();
    if (count >= length) {
      *error = "Real program length exceeds encoded length parameter!\n";
      return false;
    }
    if (!ReadInstruction(at, bpf->add_bytecode())) {
      *error = absl::StrCat("Error at instruction ", count, "!\n");
      return false;
    }
    at = std::strchr(at, ',');
  }
  if (bpf->bytecode_size() != length) {
    *error = "Parsed program length is less than encoded length parameter!\n";
    return false;
  }
  return true;
}

bool ReadBytecodeLines(absl::string_view lines, Bpf* bpf, std::string* error) {
  std::string text;
  for (const char c : lines) {
    if (c != '\n') {
      text.push_back(c);
    } else if (text.empty() || text.back() != ',') {
      text.push_back(',');
    }
  }
  return ReadBytecode(text, bpf, error);
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
    return OutOfRange("bpf.bytecode", absl::StrCat(count, " instructions"), 1, kMaxBpfInstructions);
  }
  for (int i = 0; i < count; ++i) {
    const Bpf::Instruction& instruction = bpf.bytecode(i);
    if (instruction.jump_true() > kMaxJump || instruction.jump_false() > kMaxJump) {
      return Refused(bpf, i, "jumps of 0 to 255 are allowed");
    }
    if (const char* why = CheckOne(bpf, i)) return Refused(bpf, i, why);
  }
  const uint32_t last = bpf.bytecode(count - 1).code();
  if (last != (BPF_RET | BPF_K) && last != (BPF_RET | BPF_A)) {
    return Refused(bpf, count - 1, "the last instruction is no return");
  }
  if (const int at = FindUnwrittenScratch(bpf); at >= 0) {
    return Refused(bpf, at, "reads scratch memory that not every way there has written");
  }
  return {};
}

bool ReadWholeFile(const std::string& path, size_t max, std::string* content, std::string* error) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) {
    *error = std::strerror(errno);
    return false;
  }
  content->clear();
  std::array<char, 4096> part;
  while (const size_t count = std::fread(part.data(), 1, part.size(), file.get())) {
    content->append(part.data(), count);
    if (content->size() > max) {
      *error = absl::StrCat("more than ", max, " bytes");
      return false;
    }
  }
  if (std::ferror(file.get()) != 0) {
    *error = std::strerror(errno);
    return false;
  }
  return true;
}

bool CheckObject(absl::string_view content, absl::string_view section, std::string* error) {
  Elf64_Ehdr head;
  if (!Load(content, 0, &head) || !IsBpf(head)) {
    *error = "ELF format error, ELF file not for eBPF?\nCannot initialize ELF context!\n";
    return false;
  }
  const auto header = [&](uint64_t index, Elf64_Shdr* out) {
    return Load(content, head.e_shoff + index * sizeof(Elf64_Shdr), out);
  };
  Elf64_Shdr names;
  bool sound = header(head.e_shstrndx, &names);
  for (uint64_t i = 0; sound && i < head.e_shnum; ++i) {
    Elf64_Shdr each;
    sound = header(i, &each);
    if (!sound || !HoldsProgram(each, content.size())) continue;
    const uint64_t at = names.sh_offset + each.sh_name;
    if (at >= content.size()) continue;
    const absl::string_view rest = content.substr(at);
    if (rest.substr(0, rest.find('\0')) == section) return true;
  }
  *error = absl::StrCat("object file doesn't contain sec ", section, "\n");
  return false;
}

bool CheckPinned(const std::string& path, std::string* error) {
  struct stat status {};
  struct statfs file_system {};
  if (stat(path.c_str(), &status) != 0 || statfs(path.c_str(), &file_system) != 0) {
    *error = std::strerror(errno);
    return false;
  }
  if (file_system.f_type != BPF_FS_MAGIC || !S_ISREG(status.st_mode)) {
    *error = "nothing is pinned there in a BPF file system";
    return false;
  }
  return true;
}

}  // namespace tcact::kinds
