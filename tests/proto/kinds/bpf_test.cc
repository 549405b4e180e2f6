#include <elf.h>
#include <linux/filter.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Bpf;
using v1::Verdict;

const Kind& Kind_() { return *FindKind("bpf"); }

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

ParseError Failed(absl::string_view text) {
  v1::Action action;
  ParseError error = Parse(text, &action);
  EXPECT_TRUE(error) << text;
  return error;
}

// Normalizes a program of these instructions ("6 0 0 0").
RuleError Checked(const std::vector<std::string>& program) {
  v1::Action action =
      Parsed(absl::StrCat("bytecode '", program.size(), ",", absl::StrJoin(program, ","), "'"));
  return Kind_().Normalize({}, &action);
}

// The field that one of the program's instructions is refused as.
std::string RefusedAt(const std::vector<std::string>& program) { return Checked(program).field; }

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

// A file of this test; the path.
std::string WriteFile(const std::string& name, const std::string& content) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

template <typename T>
std::string Bytes(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

// An object file of eBPF whose only section of code has this name.
std::string Object(const std::string& section) {
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_type = ET_REL;
  head.e_machine = EM_BPF;
  head.e_version = EV_CURRENT;
  head.e_shoff = sizeof(head);
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = 3;
  head.e_shstrndx = 1;
  const std::string names = std::string("\0", 1) + section + std::string("\0license\0", 9);
  Elf64_Shdr name_table{};
  name_table.sh_type = SHT_STRTAB;
  name_table.sh_name = static_cast<uint32_t>(section.size()) + 2;
  name_table.sh_offset = sizeof(head) + 3 * sizeof(Elf64_Shdr);
  name_table.sh_size = names.size();
  Elf64_Shdr code{};
  code.sh_name = 1;
  code.sh_type = SHT_PROGBITS;
  code.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  code.sh_offset = name_table.sh_offset + names.size();
  code.sh_size = 16;
  return Bytes(head) + Bytes(Elf64_Shdr{}) + Bytes(name_table) + Bytes(code) + names +
         std::string(code.sh_size, '\0');
}

TEST(BpfParse, BytecodeHasANumberOfInstructionsAndThose) {
  const v1::Action action = Parsed("bytecode '2,40 1 2 12,6 0 0 4294967295' drop index 7");
  ASSERT_EQ(action.bpf().bytecode_size(), 2);
  EXPECT_EQ(action.bpf().bytecode(0).code(), 40u);
  EXPECT_EQ(action.bpf().bytecode(0).jump_true(), 1u);
  EXPECT_EQ(action.bpf().bytecode(0).jump_false(), 2u);
  EXPECT_EQ(action.bpf().bytecode(0).k(), 12u);
  EXPECT_EQ(action.bpf().bytecode(1).k(), 4294967295u);
  EXPECT_EQ(action.bpf().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 7u);
}

TEST(BpfParse, BytecodeIsReadAsScanfDoes) {
  EXPECT_EQ(Parsed("bc '1,6 0 0 0,'").bpf().bytecode_size(), 1);
  EXPECT_EQ(Parsed("bc ' 1, 6\t0  0 \n9'").bpf().bytecode(0).k(), 9u);
  EXPECT_EQ(Parsed("bc '1,6 0 0 5 and more'").bpf().bytecode(0).k(), 5u);
  // Beyond the type it is cut, as tc does.
  EXPECT_EQ(Parsed("bc '1,6 256 0 4294967297'").bpf().bytecode(0).jump_true(), 0u);
  EXPECT_EQ(Parsed("bc '1,6 256 0 4294967297'").bpf().bytecode(0).k(), 1u);
}

TEST(BpfParse, BadBytecodeReturns) {
  const struct {
    const char* words;
    const char* text;
  } cases[] = {
      {"bytecode foo", ""},
      {"bytecode ''", ""},
      {"bytecode 1", ""},
      {"bytecode '1 ,6 0 0 0'", ""},
      {"bytecode '0,'", ""},
      {"bytecode '4097,6 0 0 0'", ""},
      {"bytecode '1,'", "Parsed program length is less than encoded length parameter!\n"},
      {"bytecode '2,6 0 0 0'", "Parsed program length is less than encoded length parameter!\n"},
      {"bytecode '1,6 0 0 0,6 0 0 0'", "Real program length exceeds encoded length parameter!\n"},
      {"bytecode '1,6 0 0'", "Error at instruction 0!\n"},
      {"bytecode '2,6 0 0 0,6 x 0 0'", "Error at instruction 1!\n"},
      {"bytecode '2,6 0 0 0,,6 0 0 0'", "Error at instruction 1!\n"},
  };
  for (const auto& c : cases) {
    const ParseError error = Failed(c.words);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << c.words;
    EXPECT_EQ(error.text, c.text) << c.words;
  }
}

TEST(BpfParse, WordsMayBeAbbreviatedAndRunSaid) {
  for (const char* text :
       {"b '1,6 0 0 0' i 3", "run bytecode '1,6 0 0 0' index 3", "r bc '1,6 0 0 0' pipe in 3"}) {
    const v1::Action action = Parsed(text);
    EXPECT_EQ(action.bpf().bytecode_size(), 1) << text;
    EXPECT_EQ(action.index(), 3u) << text;
  }
}

TEST(BpfParse, StopsAtAWordThatIsNotItsOwn) {
  Words words = Words::Split("bytecode '1,6 0 0 0' cookie aa");
  v1::Action action;
  EXPECT_FALSE(Kind_().Parse(&words, &action));
  EXPECT_EQ(words.Peek(), "cookie");
}

TEST(BpfParse, OtherErrors) {
  EXPECT_EQ(Failed("foo bar").text, "What mode is \"foo\"?\n");
  EXPECT_EQ(Failed("bytecode '1,6 0 0 0' index foo").text, "bpf: Illegal \"index\"\n");
  EXPECT_EQ(Failed("bytecode '1,6 0 0 0' help").text, Kind_().help());
  EXPECT_EQ(Failed("help").then, ParseError::Then::kReturn);
  for (const char* text : {"", "bytecode", "run", "object-file", "index",
                           "bytecode '1,6 0 0 0' run bytecode '1,6 0 0 0'"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kExit) << text;
  }
}

TEST(BpfFile, ALineEndStandsForAComma) {
  // As tcpdump -ddd writes it.
  const std::string lines = WriteFile("lines", "2\n40 0 0 12\n6 0 0 0\n");
  // As bpf_asm does.
  const std::string commas = WriteFile("commas", "2,40 0 0 12,6 0 0 0,\n");
  for (const std::string& path : {lines, commas}) {
    const v1::Action action = Parsed(absl::StrCat("bytecode-file ", path, " index 3"));
    ASSERT_EQ(action.bpf().bytecode_size(), 2) << path;
    EXPECT_EQ(action.bpf().bytecode(0).k(), 12u) << path;
    EXPECT_EQ(action.bpf().bytecode(1).code(), 6u) << path;
  }
  EXPECT_EQ(Parsed("bcf " + lines).bpf().bytecode_size(), 2);
}

TEST(BpfFile, ThatCannotBeReadIsNamed) {
  EXPECT_EQ(Failed("bytecode-file /nonexistent").text,
            "Cannot read /nonexistent: No such file or directory\n");
  EXPECT_EQ(Failed("bytecode-file /").text, "Cannot read /: Is a directory\n");
  EXPECT_EQ(Failed("bytecode-file /dev/zero").text,
            "Cannot read /dev/zero: more than 1048576 bytes\n");
  EXPECT_EQ(Failed("bytecode-file " + WriteFile("empty", "")).text, "");
}

TEST(BpfObject, ItsFileAndSectionAreKeptAsAName) {
  const std::string path = WriteFile("object.o", Object("action"));
  EXPECT_EQ(Parsed("object-file " + path).bpf().name(), "object.o:[action]");
  const v1::Action action = Parsed("obj " + path + " section action verbose drop index 3");
  EXPECT_EQ(action.bpf().name(), "object.o:[action]");
  EXPECT_EQ(action.bpf().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(action.index(), 3u);
  EXPECT_EQ(Parsed("o " + WriteFile("mark", Object("mark")) + " sec mark").bpf().name(),
            "mark:[mark]");
}

TEST(BpfObject, WithoutTheSectionItIsRefused) {
  const std::string path = WriteFile("other.o", Object("mark"));
  EXPECT_EQ(Failed("object-file " + path).text, "object file doesn't contain sec action\n");
  // There, but no code.
  EXPECT_EQ(Failed("object-file " + path + " section license").text,
            "object file doesn't contain sec license\n");
}

TEST(BpfObject, AFileThatIsNoneIsRefused) {
  EXPECT_EQ(Failed("object-file /nonexistent index 200").text,
            "Error opening object /nonexistent: No such file or directory\n"
            "Cannot initialize ELF context!\n");
  const std::string good = Object("action");
  for (const std::string& bad :
       {std::string(), std::string("text"), good.substr(0, sizeof(Elf64_Ehdr) - 1),
        Bytes(Elf64_Ehdr{}) + good.substr(sizeof(Elf64_Ehdr))}) {
    EXPECT_EQ(Failed("object-file " + WriteFile("bad.o", bad)).text,
              "ELF format error, ELF file not for eBPF?\nCannot initialize ELF context!\n");
  }
}

TEST(BpfObject, OneThatIsCutOrPointsOutsideIsSurvived) {
  const std::string good = Object("action");
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(Failed("object-file " + WriteFile("cut.o", good.substr(0, size))).then,
              ParseError::Then::kReturn);
  }
  for (size_t at = SELFMAG; at < sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr); ++at) {
    std::string broken = good;
    broken[at] = '\xff';
    v1::Action action;
    // It may still be one; it must only end.
    const ParseError error = Parse("object-file " + WriteFile("broken.o", broken), &action);
    EXPECT_NE(error.then, ParseError::Then::kExit) << at;
  }
}

TEST(BpfObject, NoMapsAreHandedOver) {
  EXPECT_EQ(Failed("object-file x export /tmp/socket").then, ParseError::Then::kReturn);
}

TEST(BpfPinned, APathOutsideABpfFileSystemIsRefused) {
  for (const char* word : {"object-pinned", "pinned", "p", "fd"}) {
    EXPECT_EQ(Failed(absl::StrCat(word, " /nonexistent")).text,
              "Couldn't retrieve pinned program '/nonexistent': No such file or directory\n")
        << word;
  }
  const std::string path = WriteFile("pinned", "");
  EXPECT_EQ(Failed("pinned " + path).text,
            absl::StrCat("Couldn't retrieve pinned program '", path,
                         "': nothing is pinned there in a BPF file system\n"));
  EXPECT_EQ(Failed("pinned m:nonexistent").then, ParseError::Then::kReturn);
}

TEST(BpfNormalize, ProgramOrNameAndNotBoth) {
  v1::Action action;
  action.mutable_bpf();
  EXPECT_EQ(Kind_().Normalize({}, &action).field, "bpf.bytecode");
  EXPECT_EQ(Kind_().Normalize({}, &action).text, "0 instructions; 1 to 4096 are allowed");
  action.mutable_bpf()->set_name("x:[action]");
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  action.mutable_bpf()->add_bytecode()->set_code(6);
  EXPECT_EQ(Kind_().Normalize({}, &action).field, "bpf.name");
}

TEST(BpfNormalize, TheNameHas1To255Bytes) {
  v1::Action action;
  action.mutable_bpf()->set_name(std::string(255, 'x'));
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  action.mutable_bpf()->set_name(std::string(256, 'x'));
  EXPECT_EQ(Kind_().Normalize({}, &action).field, "bpf.name");
  action.mutable_bpf()->set_name(std::string("a\0b", 3));
  EXPECT_EQ(Kind_().Normalize({}, &action).field, "bpf.name");
}

TEST(BpfNormalize, InstructionsAreOneTo4096) {
  v1::Action action;
  for (int i = 0; i < 4096; ++i) action.mutable_bpf()->add_bytecode()->set_code(BPF_RET);
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  action.mutable_bpf()->add_bytecode()->set_code(BPF_RET);
  EXPECT_EQ(Kind_().Normalize({}, &action).text, "4097 instructions; 1 to 4096 are allowed");
}

TEST(BpfNormalize, NumbersHaveTheLimitsOfTheKernelsTypes) {
  v1::Action action;
  Bpf::Instruction* instruction = action.mutable_bpf()->add_bytecode();
  // As 16 bits it would be a return.
  instruction->set_code(65536 + BPF_RET);
  EXPECT_EQ(Kind_().Normalize({}, &action).field, "bpf.bytecode[0]");
  instruction->set_code(BPF_RET);
  instruction->set_jump_false(255);
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  instruction->set_jump_false(256);
  EXPECT_EQ(Kind_().Normalize({}, &action).field, "bpf.bytecode[0]");
}

TEST(BpfNormalize, CodesAreThoseOfTheKernel) {
  // By class: what stands in the kernel's table, and neighbours that do not.
  for (const char* good : {"4 0 0 0", "12 0 0 0", "132 0 0 0", "172 0 0 0", "128 0 0 0", "64 0 0 0",
                           "129 0 0 0", "177 0 0 0", "7 0 0 0", "135 0 0 0"}) {
    EXPECT_EQ(RefusedAt({good, "6 0 0 0"}), "") << good;
  }
  for (const char* bad : {"31 0 1 2048", "24 0 0 0", "8 0 0 0", "161 0 0 0", "140 0 0 0",
                          "180 0 0 0", "85 0 0 0", "14 0 0 0", "255 0 0 0", "65535 0 0 0"}) {
    EXPECT_EQ(RefusedAt({bad, "6 0 0 0"}), "bpf.bytecode[0]") << bad;
  }
}

TEST(BpfNormalize, AnErrorShowsTheInstructionAndWhatIsWrongWithIt) {
  EXPECT_EQ(Checked({"6 0 0 1", "31 0 1 2048"}).text,
            "\"31 0 1 2048\"; classic BPF has no such code");
  EXPECT_EQ(Checked({"100 0 0 32", "6 0 0 0"}).text,
            "\"100 0 0 32\"; a shift by 0 to 31 is allowed");
}

TEST(BpfNormalize, DivisionAndShiftByConstants) {
  EXPECT_EQ(RefusedAt({"52 0 0 0", "6 0 0 0"}), "bpf.bytecode[0]");   // div
  EXPECT_EQ(RefusedAt({"148 0 0 0", "6 0 0 0"}), "bpf.bytecode[0]");  // mod
  EXPECT_EQ(RefusedAt({"52 0 0 1", "6 0 0 0"}), "");
  EXPECT_EQ(RefusedAt({"60 0 0 0", "6 0 0 0"}), "");  // div x
  for (const char* shift : {"100 0 0 ", "116 0 0 "}) {
    EXPECT_EQ(RefusedAt({absl::StrCat(shift, "31"), "6 0 0 0"}), "") << shift;
    EXPECT_EQ(RefusedAt({absl::StrCat(shift, "32"), "6 0 0 0"}), "bpf.bytecode[0]") << shift;
  }
}

TEST(BpfNormalize, JumpsStayInside) {
  EXPECT_EQ(RefusedAt({"5 0 0 0", "6 0 0 0"}), "");
  EXPECT_EQ(RefusedAt({"5 0 0 1", "6 0 0 0"}), "bpf.bytecode[0]");
  EXPECT_EQ(RefusedAt({"5 0 0 4294967295", "6 0 0 0"}), "bpf.bytecode[0]");
  EXPECT_EQ(RefusedAt({"21 1 0 5", "6 0 0 0", "6 0 0 0"}), "");
  EXPECT_EQ(RefusedAt({"21 2 0 5", "6 0 0 0", "6 0 0 0"}), "bpf.bytecode[0]");
  EXPECT_EQ(RefusedAt({"21 0 2 5", "6 0 0 0", "6 0 0 0"}), "bpf.bytecode[0]");
}

TEST(BpfNormalize, AReturnIsLast) {
  EXPECT_EQ(RefusedAt({"22 0 0 0"}), "");
  EXPECT_EQ(RefusedAt({"6 0 0 0", "4 0 0 1"}), "bpf.bytecode[1]");
}

TEST(BpfNormalize, LoadsMayAskForWhatTheKernelKnows) {
  for (const uint32_t offset : {0u, 4u, 60u}) {
    const std::string load = absl::StrCat("32 0 0 ", 0xfffff000u + offset);
    EXPECT_EQ(RefusedAt({load, "6 0 0 0"}), "") << offset;
  }
  for (const uint32_t offset : {1u, 62u, 64u, 0xfffu}) {
    const std::string load = absl::StrCat("40 0 0 ", 0xfffff000u + offset);
    EXPECT_EQ(RefusedAt({load, "6 0 0 0"}), "bpf.bytecode[0]") << offset;
  }
  EXPECT_EQ(RefusedAt({absl::StrCat("48 0 0 ", 0xffffefffu), "6 0 0 0"}), "");
}

TEST(BpfNormalize, ScratchMemoryHas16WordsAndIsWrittenFirst) {
  EXPECT_EQ(RefusedAt({"2 0 0 15", "96 0 0 15", "6 0 0 0"}), "");
  EXPECT_EQ(RefusedAt({"3 0 0 15", "97 0 0 15", "6 0 0 0"}), "");
  EXPECT_EQ(RefusedAt({"2 0 0 16", "6 0 0 0"}), "bpf.bytecode[0]");
  EXPECT_EQ(RefusedAt({"96 0 0 0", "6 0 0 0"}), "bpf.bytecode[0]");
  EXPECT_EQ(RefusedAt({"2 0 0 1", "96 0 0 2", "6 0 0 0"}), "bpf.bytecode[1]");
  // Written on one of two ways only: the jump leads past the store.
  EXPECT_EQ(RefusedAt({"21 1 0 5", "2 0 0 3", "96 0 0 3", "6 0 0 0"}), "bpf.bytecode[2]");
  EXPECT_EQ(RefusedAt({"2 0 0 3", "21 1 0 5", "4 0 0 1", "96 0 0 3", "6 0 0 0"}), "");
  EXPECT_EQ(RefusedAt({"5 0 0 1", "2 0 0 3", "96 0 0 3", "6 0 0 0"}), "bpf.bytecode[2]");
}

TEST(BpfNormalize, GotoChainIsForFilters) {
  v1::Action action = Parsed("bytecode '1,6 0 0 0' goto chain 3");
  EXPECT_EQ(Kind_().Normalize({}, &action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Kind_().Normalize({.in_filter = true}, &action));
}

TEST(BpfPrint, BytecodeIsTheWordItWasReadFrom) {
  v1::Action action = Parsed("bytecode '2,40 0 0 12,6 0 0 4294967295' drop index 5");
  action.set_refcnt(1);
  EXPECT_EQ(Printed(action),
            "bpf bytecode '2,40 0 0 12,6 0 0 4294967295' default-action drop\n"
            "\t index 5 ref 1 bind 0\n ");
  EXPECT_EQ(Printed(action, true),
            "{\"kind\":\"bpf\",\"bytecode\":{\"length\":2,\"insns\":["
            "{\"code\":40,\"jt\":0,\"jf\":0,\"k\":12},{\"code\":6,\"jt\":0,\"jf\":0,"
            "\"k\":4294967295}]},\"control_action\":{\"type\":\"drop\"},\"index\":5,\"ref\":1,"
            "\"bind\":0}");
}

TEST(BpfPrint, OfEbpfThereIsTheName) {
  v1::Action action;
  action.mutable_bpf()->set_name("object.o:[action]");
  EXPECT_FALSE(Kind_().Normalize({}, &action));
  EXPECT_EQ(Printed(action),
            "bpf object.o:[action] default-action pipe\n\t index 0 ref 0 bind 0\n ");
  EXPECT_NE(Printed(action, true).find("{\"kind\":\"bpf\",\"bpf_name\":\"object.o:[action]\","),
            std::string::npos);
}

}  // namespace
}  // namespace tcact::kinds
