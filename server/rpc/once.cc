#include "server/rpc/once.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/durable/keeper.h"
#include "server/rpc/convert.h"
#include "server/rpc/status.h"

namespace tcact::rpc {
namespace {

using Found = durable::ReplayTable::Found;

// FNV-1a: the same in every run and version, which abseil's hash is not.
uint64_t Fingerprint(absl::string_view method, absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const absl::string_view part : {method, bytes}) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

Problem Refused(grpc::StatusCode code, const char* reason, absl::string_view text) {
  Problem::Parts parts;
  parts.code = code;
  parts.reason = reason;
  parts.text = std::string(text);
  parts.field = "request_id";
  return Problem(std::move(parts));
}

}  // namespace

Try::Try(const Context& context, absl::string_view id, const google::protobuf::MessageLite& request,
         google::protobuf::MessageLite* response)
    : context_(context), id_(id) {
  if (id.size() > durable::kMaxRequestIdBytes) {
    answer_ = ToStatus(
        InvalidField("request_id", absl::StrCat(id.size(), " bytes; at most ",
                                                durable::kMaxRequestIdBytes, " are allowed")),
        "");
    return;
  }
  Look(request, response);
  if (!answer_ && context_.keeper != nullptr) turn_.emplace(context_.keeper->journal());
}

void Try::Look(const google::protobuf::MessageLite& request,
               google::protobuf::MessageLite* response) {
  const uint64_t fingerprint = Fingerprint(request.GetTypeName(), request.SerializeAsString());
  std::string first;
  switch (context_.replays->Begin(id_, fingerprint, NowMs(), &first)) {
    case Found::kNew:
      return;
    case Found::kDone:
      answer_ = response->ParseFromString(first)
                    ? grpc::Status::OK
                    : ToStatus(Refused(grpc::StatusCode::INTERNAL, "INTERNAL",
                                       "the first answer of this request_id cannot be read"),
                               "");
      return;
    case Found::kRunning:
      answer_ = ToStatus(Refused(grpc::StatusCode::ABORTED, "ACTION_BUSY",
                                 "request_id: the first try still runs; retry"),
                         "");
      return;
    case Found::kOther:
      answer_ = ToStatus(Refused(grpc::StatusCode::INVALID_ARGUMENT, "REQUEST_ID_REUSED",
                                 "request_id: another request came with this id before"),
                         "");
      return;
  }
}

void Try::End(const grpc::Status& status, const google::protobuf::MessageLite& response) {
  const bool changed = status.ok() && (!turn_ || turn_->ok());
  if (changed) {
    context_.replays->Finish(id_, NowMs(), response.SerializeAsString(),
                             turn_ ? turn_->batch() : nullptr);
  } else {
    context_.replays->Forget(id_);
  }
  turn_.reset();
}

}  // namespace tcact::rpc
