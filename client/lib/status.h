// Errors as a caller of this library sees them: absl::Status, with the server's ErrorInfo kept as a
// payload, so that code which passes a Status on passes the reason on too.
//
// Thread safety: free functions without state.
#ifndef TCACT_CLIENT_LIB_STATUS_H_
#define TCACT_CLIENT_LIB_STATUS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "grpcpp/support/status.h"
#include "proto/tcact/v1/action_store.pb.h"
#include "proto/tcact/v1/error_details.pb.h"

namespace tcact::client {

// Key of the payload: the type URL of google.rpc.ErrorInfo. The payload is its serialized bytes.
inline constexpr absl::string_view kErrorInfoUrl = "type.googleapis.com/google.rpc.ErrorInfo";

// Same code, same message; the first ErrorInfo of grpc-status-details-bin becomes the payload.
// Details that are absent or do not parse make no payload and no other error.
absl::Status FromGrpc(const grpc::Status& status);

// The error of one operation of Apply, with its reason as ErrorInfo.
absl::Status FromOperationError(const v1::OperationError& error);

// The ErrorInfo that `status` carries; nothing if it carries none (a transport's error, for one).
std::optional<v1::ErrorInfo> GetErrorInfo(const absl::Status& status);

// Its reason ("ACTION_EXISTS"), or "" if it carries none.
std::string Reason(const absl::Status& status);

}  // namespace tcact::client

#endif  // TCACT_CLIENT_LIB_STATUS_H_
