#include "server/rpc/status.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/tcact/v1/error_details.pb.h"

namespace tcact::rpc {
namespace {

using grpc::StatusCode;

// What one Errc is to clients.
struct Meaning {
  StatusCode code;
  const char* reason;
  const char* text;
};

Meaning MeaningOf(act::Errc code) {
  switch (code) {
    case act::Errc::kOk:
      break;
    case act::Errc::kExists:
      return {StatusCode::ALREADY_EXISTS, "ACTION_EXISTS", "file exists (in use; use replace)"};
    case act::Errc::kNotFound:
      return {StatusCode::NOT_FOUND, "ACTION_NOT_FOUND",
              "no such file or directory (no action with this index)"};
    case act::Errc::kBound:
      return {StatusCode::FAILED_PRECONDITION, "ACTION_BOUND",
              "operation not permitted (bound; unbind it first)"};
    case act::Errc::kNotBound:
      return {StatusCode::FAILED_PRECONDITION, "ACTION_NOT_BOUND",
              "operation not permitted (it has no binds)"};
    case act::Errc::kDuplicate:
      return {StatusCode::ABORTED, "DUPLICATE_INDEX", "this index stands twice in one request"};
    case act::Errc::kBusy:
      return {StatusCode::ABORTED, "ACTION_BUSY",
              "resource busy (another request is changing it; retry)"};
    case act::Errc::kNoFreeIndex:
      return {StatusCode::RESOURCE_EXHAUSTED, "NO_FREE_INDEX",
              "no space left (all 4294967295 indexes are in use)"};
    case act::Errc::kNoMemory:
      return {StatusCode::RESOURCE_EXHAUSTED, "OUT_OF_MEMORY",
              "cannot allocate memory (nothing was changed)"};
    case act::Errc::kQuota:
      return {StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED",
              "quota exceeded (the namespace holds as many actions as it may)"};
    case act::Errc::kTooManyNetns:
      return {StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED",
              "too many namespaces (delete one, or raise --max-namespaces)"};
    case act::Errc::kTooManyBinds:
      return {StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED",
              "too many binds (an action takes at most 268435455)"};
    case act::Errc::kNetnsGone:
      return {StatusCode::ABORTED, "ACTION_BUSY", "the namespace was deleted meanwhile (retry)"};
    case act::Errc::kBadName:
      return {StatusCode::INVALID_ARGUMENT, "INVALID_FIELD",
              "netns: not a namespace name; 1 to 255 bytes without '/' and control characters, not "
              "\".\" or \"..\""};
    case act::Errc::kUnknownKind:
      return {StatusCode::INVALID_ARGUMENT, "UNKNOWN_KIND", "unknown kind"};
  }
  return {StatusCode::INTERNAL, "INTERNAL", "an error without a name"};
}

// A client's word as an error may show it: short and printable, however long and strange it came.
std::string Shown(absl::string_view word) {
  constexpr size_t kShownBytes = 64;
  std::string shown = absl::CHexEscape(word.substr(0, kShownBytes));
  if (word.size() > kShownBytes) absl::StrAppend(&shown, "...");
  return shown;
}

constexpr absl::string_view kErrorInfoType = "type.googleapis.com/google.rpc.ErrorInfo";

v1::ErrorInfo InfoOf(const Problem& problem, absl::string_view netns) {
  v1::ErrorInfo info;
  info.set_reason(problem->reason);
  info.set_domain("tcact");
  auto& metadata = *info.mutable_metadata();
  if (!netns.empty()) metadata["netns"] = Shown(netns);
  if (!problem->field.empty()) metadata["field"] = problem->field;
  if (!problem->kind.empty()) metadata["kind"] = problem->kind;
  if (problem->index != 0) metadata["index"] = absl::StrCat(problem->index);
  if (problem->position != kNoPosition) metadata["position"] = absl::StrCat(problem->position);
  return info;
}

}  // namespace

Problem InvalidField(absl::string_view field, absl::string_view text) {
  Problem::Parts parts;
  parts.code = StatusCode::INVALID_ARGUMENT;
  parts.reason = "INVALID_FIELD";
  parts.text = absl::StrCat(field, ": ", text);
  parts.field = std::string(field);
  return Problem(std::move(parts));
}

Problem DeviceNotFound(absl::string_view field, absl::string_view text) {
  Problem problem = InvalidField(field, text);
  problem->code = StatusCode::FAILED_PRECONDITION;
  problem->reason = "DEVICE_NOT_FOUND";
  return problem;
}

Problem BatchTooLarge(absl::string_view field, int count, int max) {
  Problem problem =
      InvalidField(field, absl::StrCat(count, " entries; 1 to ", max, " are allowed"));
  problem->reason = "BATCH_TOO_LARGE";
  return problem;
}

Problem UnknownKind(absl::string_view field, absl::string_view kind) {
  Problem problem =
      InvalidField(field, kind.empty() ? std::string("no kind given")
                                       : absl::StrCat("unknown kind \"", Shown(kind), "\""));
  problem->reason = "UNKNOWN_KIND";
  problem->kind = Shown(kind);
  return problem;
}

Problem QuotaExceeded(absl::string_view text) {
  Problem::Parts parts;
  parts.code = StatusCode::RESOURCE_EXHAUSTED;
  parts.reason = "QUOTA_EXCEEDED";
  parts.text = std::string(text);
  return Problem(std::move(parts));
}

Problem ReadOnly() {
  Problem::Parts parts;
  parts.code = StatusCode::FAILED_PRECONDITION;
  parts.reason = "READ_ONLY";
  parts.text =
      "the server is read-only (it could not record an earlier change; see its log and "
      "GetServerInfo); nothing was done";
  return Problem(std::move(parts));
}

Problem NotRecorded() {
  Problem::Parts parts;
  parts.code = StatusCode::UNKNOWN;
  parts.reason = "NOT_RECORDED";
  parts.text =
      "the server failed to record changes; this one, if it was one, is undone now, but may be "
      "there after a restart of the server";
  return Problem(std::move(parts));
}

Problem NamespaceNotFound(absl::string_view netns) {
  Problem::Parts parts;
  parts.code = StatusCode::NOT_FOUND;
  parts.reason = "NAMESPACE_NOT_FOUND";
  parts.text = netns.empty() ? std::string("the default namespace holds nothing yet")
                             : absl::StrCat("namespace \"", Shown(netns), "\": no such namespace");
  return Problem(std::move(parts));
}

Problem FromStoreError(const act::Error& error, absl::string_view kind, int position) {
  Problem::Parts parts;
  const Meaning meaning = MeaningOf(error.code);
  parts.code = meaning.code;
  parts.reason = meaning.reason;
  if (!kind.empty() && error.index != 0) {
    parts.text = absl::StrCat(kind, " index ", error.index, ": ", meaning.text);
  } else if (!kind.empty()) {
    parts.text = absl::StrCat(kind, ": ", meaning.text);
  } else {
    parts.text = meaning.text;
  }
  if (error.code == act::Errc::kBadName) parts.field = "netns";
  parts.kind = std::string(kind);
  parts.index = error.index;
  parts.position = position;
  return Problem(std::move(parts));
}

grpc::Status ToStatus(const Problem& problem, absl::string_view netns) {
  if (problem.ok()) return grpc::Status::OK;
  v1::StatusDetails details;
  details.set_code(problem->code);
  details.set_message(problem->text);
  auto* detail = details.add_details();
  detail->set_type_url(std::string(kErrorInfoType));
  InfoOf(problem, netns).SerializeToString(detail->mutable_value());
  return grpc::Status(problem->code, problem->text, details.SerializeAsString());
}

grpc::Status GoingDown() {
  return grpc::Status(StatusCode::UNAVAILABLE,
                      "the server is going down; retry elsewhere or later");
}

}  // namespace tcact::rpc
