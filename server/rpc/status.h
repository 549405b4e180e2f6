// Problem: why a request or an operation failed, before it becomes a grpc::Status or an
// OperationError.
//
// The list of reasons and their codes heads proto/tcact/v1/action_store.proto; this file is its
// only implementation.
#ifndef TCACT_SERVER_RPC_STATUS_H_
#define TCACT_SERVER_RPC_STATUS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "grpcpp/support/status.h"
#include "server/core/act/types.h"

namespace tcact::rpc {

inline constexpr int kNoPosition = -1;

// One pointer, null where there is no problem: it is returned by each step of each operation.
class [[nodiscard]] Problem {
 public:
  struct Parts {
    grpc::StatusCode code = grpc::StatusCode::UNKNOWN;
    const char* reason = "";  // a literal: "ACTION_EXISTS"
    std::string text;         // for people; names field, value and range
    // What it is about; left out of ErrorInfo where unset.
    std::string field;
    std::string kind;
    uint32_t index = 0;
    int position = kNoPosition;  // in the request's list
  };

  // No problem.
  Problem() = default;
  explicit Problem(Parts parts) : parts_(std::make_unique<Parts>(std::move(parts))) {}

  bool ok() const { return parts_ == nullptr; }
  // REQUIRES: !ok().
  Parts* operator->() { return parts_.get(); }
  const Parts* operator->() const { return parts_.get(); }

 private:
  std::unique_ptr<Parts> parts_;
};

// A field outside its range, or against a kind's rules (kinds::RuleError): `text` says what is
// wrong ("17 bytes; at most 16"). `field` is its path in the request.
Problem InvalidField(absl::string_view field, absl::string_view text);
// A device that the server's host has not.
Problem DeviceNotFound(absl::string_view field, absl::string_view text);
// `count` entries of `field` where `max` are allowed.
Problem BatchTooLarge(absl::string_view field, int count, int max);
Problem UnknownKind(absl::string_view field, absl::string_view kind);
// Too many of something that the server bounds.
Problem QuotaExceeded(absl::string_view text);
Problem NamespaceNotFound(absl::string_view netns);

// A failed command of the core. `kind` is the name of error.kind, empty where the error is about no
// kind. `position` as in Problem.
Problem FromStoreError(const act::Error& error, absl::string_view kind, int position);

// With one ErrorInfo in the details; OK if problem.ok(). `netns` is told where not empty.
grpc::Status ToStatus(const Problem& problem, absl::string_view netns);

// Nothing was done: the server could not record a change, and refuses all later ones.
Problem ReadOnly();
// The change could not be recorded; whether it will be there after a restart is not known.
Problem NotRecorded();

// The server is going down. Without ErrorInfo, as the proto promises.
grpc::Status GoingDown();

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_STATUS_H_
