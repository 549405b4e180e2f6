// The calls of Admin, one free function each; see action_calls.h for the conventions and
// proto/tcact/v1/admin.proto for what they mean. Shrink and DeleteNamespace wait for grace periods
// and belong on the worker.
#ifndef TCACT_SERVER_RPC_ADMIN_CALLS_H_
#define TCACT_SERVER_RPC_ADMIN_CALLS_H_

#include "grpcpp/support/status.h"
#include "proto/tcact/v1/admin.pb.h"
#include "server/rpc/context.h"

namespace tcact::rpc {

grpc::Status GetSlabInfo(const Context& context, v1::GetSlabInfoRequest* request,
                         v1::GetSlabInfoResponse* response);
grpc::Status GetLockStats(const Context& context, v1::GetLockStatsRequest* request,
                          v1::GetLockStatsResponse* response);
grpc::Status ResetLockStats(const Context& context, v1::ResetLockStatsRequest* request,
                            v1::ResetLockStatsResponse* response);
grpc::Status Shrink(const Context& context, v1::ShrinkRequest* request,
                    v1::ShrinkResponse* response);
grpc::Status GetServerInfo(const Context& context, v1::GetServerInfoRequest* request,
                           v1::GetServerInfoResponse* response);
grpc::Status ListNamespaces(const Context& context, v1::ListNamespacesRequest* request,
                            v1::ListNamespacesResponse* response);
grpc::Status SetQuota(const Context& context, v1::SetQuotaRequest* request,
                      v1::SetQuotaResponse* response);
grpc::Status DeleteNamespace(const Context& context, v1::DeleteNamespaceRequest* request,
                             v1::DeleteNamespaceResponse* response);

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_ADMIN_CALLS_H_
