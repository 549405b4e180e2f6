// Programs of kind bpf: classic BPF as text, its rules, and the files that programs come from.
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_BPF_PROGRAM_H_
#define TCACT_PROTO_KINDS_BPF_PROGRAM_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/kinds/rule.h"
#include "proto/tcact/v1/kinds.pb.h"

namespace tcact::kinds {

// The kernel's limit.
inline constexpr int kMaxBpfInstructions = 4096;

// Reads "4,40 0 0 12,21 0 1 2048,6 0 0 262144,6 0 0 0": a number of instructions and so many of
// them, each code, jump if true, jump if false and k. False, and a text for stderr (it may be
// empty, as tc's), if it is no such thing.
bool ReadBytecode(absl::string_view text, v1::Bpf* bpf, std::string* error);

// What tc prints: the same form.
std::string FormatBytecode(const v1::Bpf& bpf);

// The kernel's checks of classic BPF (bpf_check_classic): known instructions, jumps that stay
// inside and go forward, no division by a constant zero, no shift by more than the word, scratch
// memory inside and written before it is read, and a return at the end.
RuleError CheckBytecode(const v1::Bpf& bpf);

// Reads a regular file of at most 16 MiB. False, and why, if it cannot.
bool ReadProgramFile(const std::string& path, std::string* content, std::string* error);

// Whether the bytes are a 64-bit little-endian ELF file with a section of that name.
bool HasElfSection(absl::string_view content, absl::string_view section);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_BPF_PROGRAM_H_
