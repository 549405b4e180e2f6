#include "client/lib/status.h"

#include "absl/strings/cord.h"

namespace tcact::client {

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  // Both follow google.rpc.Code, number for number.
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  v1::StatusDetails details;
  if (status.error_details().empty() || !details.ParseFromString(status.error_details())) {
    return result;
  }
  for (const auto& detail : details.details()) {
    if (detail.type_url() != kErrorInfoUrl) continue;
    result.SetPayload(kErrorInfoUrl, absl::Cord(detail.value()));
    break;
  }
  return result;
}

absl::Status FromOperationError(const v1::OperationError& error) {
  absl::Status result(static_cast<absl::StatusCode>(error.code()), error.message());
  v1::ErrorInfo info;
  info.set_reason(error.reason());
  info.set_domain("tcact");
  result.SetPayload(kErrorInfoUrl, absl::Cord(info.SerializeAsString()));
  return result;
}

std::optional<v1::ErrorInfo> GetErrorInfo(const absl::Status& status) {
  const auto payload = status.GetPayload(kErrorInfoUrl);
  v1::ErrorInfo info;
  if (!payload.has_value() || !info.ParseFromString(std::string(*payload))) return std::nullopt;
  return info;
}

std::string Reason(const absl::Status& status) {
  const std::optional<v1::ErrorInfo> info = GetErrorInfo(status);
  return info.has_value() ? info->reason() : "";
}

}  // namespace tcact::client
