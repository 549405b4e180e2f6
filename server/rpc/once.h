// Once: a change with a request id is done once; who sends it again gets the first answer.
//
// Successes are kept, with their answer; a failed change changed nothing, so its id stays free and
// a retry is a new try. See server/durable/replay_table.h for how long.
#ifndef TCACT_SERVER_RPC_ONCE_H_
#define TCACT_SERVER_RPC_ONCE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/support/status.h"
#include "server/durable/journal.h"
#include "server/rpc/context.h"

namespace tcact::rpc {

// One try. Not thread safe.
class Try {
 public:
  // `request` as it came. With a value in answer() nothing is to be done: *response is filled or
  // the request is refused. Otherwise the change is to be made and End called. A journal's turn is
  // held until then, so that the changes and their answer are recorded together.
  Try(const Context& context, absl::string_view id, const google::protobuf::MessageLite& request,
      google::protobuf::MessageLite* response);
  const std::optional<grpc::Status>& answer() const { return answer_; }
  void End(const grpc::Status& status, const google::protobuf::MessageLite& response);

 private:
  void Look(const google::protobuf::MessageLite& request, google::protobuf::MessageLite* response);

  const Context& context_;
  const std::string id_;
  std::optional<grpc::Status> answer_;
  std::optional<durable::Journal::Turn> turn_;
};

// A handler of a change, made to heed request_id.
template <auto kHandler, typename Request, typename Response>
grpc::Status Once(const Context& context, Request* request, Response* response) {
  if (request->request_id().empty()) return kHandler(context, request, response);
  Try attempt(context, request->request_id(), *request, response);
  if (attempt.answer()) return *attempt.answer();
  const grpc::Status status = kHandler(context, request, response);
  attempt.End(status, *response);
  return status;
}

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_ONCE_H_
