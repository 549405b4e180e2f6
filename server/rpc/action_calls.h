// The unary calls of ActionStore, one free function each: request in, reply and status out. What a
// call means is said in proto/tcact/v1/action_store.proto.
//
// A handler may change its request (it normalizes actions in place) and writes to an empty
// response, whose content does not matter when the status is not OK. None of them blocks, save
// FlushActions and large UpdateStats, which take long and belong on the worker.
//
// Thread safety: all may run on any threads at the same time.
#ifndef TCACT_SERVER_RPC_ACTION_CALLS_H_
#define TCACT_SERVER_RPC_ACTION_CALLS_H_

#include "grpcpp/support/status.h"
#include "proto/tcact/v1/action_store.pb.h"
#include "server/rpc/context.h"

namespace tcact::rpc {

grpc::Status CreateActions(const Context& context, v1::CreateActionsRequest* request,
                           v1::CreateActionsResponse* response);
grpc::Status ReplaceActions(const Context& context, v1::ReplaceActionsRequest* request,
                            v1::ReplaceActionsResponse* response);
grpc::Status GetAction(const Context& context, v1::GetActionRequest* request, v1::Action* response);
grpc::Status BatchGetActions(const Context& context, v1::BatchGetActionsRequest* request,
                             v1::BatchGetActionsResponse* response);
grpc::Status ListActions(const Context& context, v1::ListActionsRequest* request,
                         v1::ListActionsResponse* response);
grpc::Status DeleteActions(const Context& context, v1::DeleteActionsRequest* request,
                           v1::DeleteActionsResponse* response);
grpc::Status FlushActions(const Context& context, v1::FlushActionsRequest* request,
                          v1::FlushActionsResponse* response);
grpc::Status Bind(const Context& context, v1::BindRequest* request, v1::BindResponse* response);
grpc::Status Unbind(const Context& context, v1::UnbindRequest* request,
                    v1::UnbindResponse* response);
grpc::Status UpdateStats(const Context& context, v1::UpdateStatsRequest* request,
                         v1::UpdateStatsResponse* response);
grpc::Status ResetStats(const Context& context, v1::ResetStatsRequest* request,
                        v1::ResetStatsResponse* response);

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_ACTION_CALLS_H_
