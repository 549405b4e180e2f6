// Programs of kind bpf: classic BPF as text, its rules, and the files that programs come from.
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_BPF_PROGRAM_H_
#define TCACT_PROTO_KINDS_BPF_PROGRAM_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/kinds/rule.h"
#include "proto/tcact/v1/kinds.pb.h"

namespace tcact::kinds {

// The kernel's limit.
inline constexpr int kMaxBpfInstructions = 4096;

// Reads "4,40 0 0 12,21 0 1 2048,6 0 0 262144,6 0 0 0": a number of instructions and so many of
// them, each code, jump if true, jump if false and k, with a comma at the end or not. As in tc,
// what is beyond a number's type is cut off, and so is what follows the fourth number. False, and a
// text for stderr (it may be empty, as tc's), if it is no such thing.
bool ReadBytecode(absl::string_view text, v1::Bpf* bpf, std::string* error);

// The same from what a file holds, where the end of a line stands for a comma too, as tcpdump -ddd
// writes it.
bool ReadBytecodeLines(absl::string_view lines, v1::Bpf* bpf, std::string* error);

// What tc prints: the same form.
std::string FormatBytecode(const v1::Bpf& bpf);

// The kernel's checks of classic BPF (bpf_check_classic): known instructions, jumps that stay
// inside and go forward, no division by a constant zero, no shift by more than the word, scratch
// memory inside and written before it is read, and a return at the end.
RuleError CheckBytecode(const v1::Bpf& bpf);

// The bytes of a file, or of a pipe, if they are no more than `max`. False, and why, if it cannot
// read them.
bool ReadWholeFile(const std::string& path, size_t max, std::string* content, std::string* error);

// Whether the bytes are an object file of eBPF with a program in the section of that name. False,
// and a text for stderr, if not. Whether the kernel would run the program it cannot say.
bool CheckObject(absl::string_view content, absl::string_view section, std::string* error);

// Whether the path leads to something pinned in a BPF file system. False, and why, if not.
bool CheckPinned(const std::string& path, std::string* error);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_BPF_PROGRAM_H_
