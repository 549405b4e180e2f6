// What tc would have printed, had the kernel refused what the server refused.
//
// Thread safety: free functions without state.
#ifndef TCACT_CLIENT_CLI_KERNEL_TEXT_H_
#define TCACT_CLIENT_CLI_KERNEL_TEXT_H_

#include <string>

#include "absl/status/status.h"
#include "proto/kinds/rule.h"

namespace tcact::cli {

enum class Request { kAdd, kReplace, kGet, kDelete, kFlush, kBind, kUnbind, kOther };

// What tc adds to what the kernel said.
inline constexpr char kTalkFailed[] = "We have an error talking to the kernel";

// One line without its end: "RTNETLINK answers: File exists". For errors that the kernel does not
// have (a quota, for one) "Error: " and the server's text.
std::string KernelText(Request request, const absl::Status& status);

// The same for a rule that was broken before anything was sent.
std::string KernelText(const kinds::RuleError& error);

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_KERNEL_TEXT_H_
