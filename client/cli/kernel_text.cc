#include "client/cli/kernel_text.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/lib/status.h"

namespace tcact::cli {
namespace {

// What the error is about: a field's path in the request; "" if it does not say.
std::string FieldOf(const absl::Status& status) {
  const std::optional<v1::ErrorInfo> info = client::GetErrorInfo(status);
  if (!info.has_value()) return "";
  const auto field = info->metadata().find("field");
  return field == info->metadata().end() ? "" : field->second;
}

// skip_sw together with skip_hw.
bool IsAboutSkipSw(const absl::Status& status) {
  return absl::EndsWith(FieldOf(status), "skip_sw");
}

// The message without the field that it begins with.
std::string MessageAlone(const absl::Status& status) {
  absl::string_view message = status.message();
  absl::ConsumePrefix(&message, absl::StrCat(FieldOf(status), ": "));
  return std::string(message);
}

}  // namespace

std::string KernelText(Request request, const absl::Status& status) {
  const std::string reason = client::Reason(status);
  if (reason == "ACTION_EXISTS") return "RTNETLINK answers: File exists";
  if (reason == "ACTION_NOT_FOUND") return "Error: TC action with specified index not found.";
  if (reason == "ACTION_BOUND") {
    return request == Request::kFlush ? "RTNETLINK answers: Operation not permitted"
                                      : "Error: Failed to delete TC action.";
  }
  if (reason == "DUPLICATE_INDEX" || reason == "ACTION_BUSY") {
    return "RTNETLINK answers: Resource temporarily unavailable";
  }
  if (reason == "NO_FREE_INDEX") return "RTNETLINK answers: No space left on device";
  if (reason == "OUT_OF_MEMORY") return "RTNETLINK answers: Cannot allocate memory";
  if (reason == "NOT_OFFLOADABLE") return "RTNETLINK answers: Invalid argument";
  if (reason == "DEVICE_NOT_FOUND") return MessageAlone(status);
  if (reason == "INVALID_FIELD" && IsAboutSkipSw(status))
    return "RTNETLINK answers: Invalid argument";
  return absl::StrCat("Error: ", status.message());
}

std::string KernelText(const kinds::RuleError& error) {
  if (!error.kernel_text.empty()) return error.kernel_text;
  return absl::StrCat("Error: ", error.field, ": ", error.text);
}

}  // namespace tcact::cli
