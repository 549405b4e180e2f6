// A server in this process for tests of the commands: it records requests and answers as told.
#ifndef TCACT_TESTS_CLIENT_CLI_FAKE_TCACTD_H_
#define TCACT_TESTS_CLIENT_CLI_FAKE_TCACTD_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/lib/status.h"
#include "grpcpp/grpcpp.h"
#include "proto/tcact/v1/action_store.grpc.pb.h"
#include "proto/tcact/v1/admin.grpc.pb.h"
#include "tests/client/lib/fake_server.h"

namespace tcact::cli {

// Keeps each request of a call, and answers with `response` or, if it is not OK, `status`.
template <typename Request, typename Response>
struct Call {
  std::vector<Request> requests;
  Response response;
  grpc::Status status;
  // The call with this number, from 0, and no other gets `status`; -1: all get it.
  int failing = -1;

  grpc::Status Answer(const Request* request, Response* out) {
    requests.push_back(*request);
    *out = response;
    const int number = static_cast<int>(requests.size()) - 1;
    return failing < 0 || number == failing ? status : grpc::Status::OK;
  }
};

class FakeActionStore : public v1::ActionStore::Service {
 public:
  Call<v1::CreateActionsRequest, v1::CreateActionsResponse> create;
  Call<v1::ReplaceActionsRequest, v1::ReplaceActionsResponse> replace;
  Call<v1::GetActionRequest, v1::Action> get;
  Call<v1::BatchGetActionsRequest, v1::BatchGetActionsResponse> batch_get;
  Call<v1::DumpActionsRequest, v1::DumpActionsResponse> dump;
  Call<v1::DeleteActionsRequest, v1::DeleteActionsResponse> remove;
  Call<v1::FlushActionsRequest, v1::FlushActionsResponse> flush;
  Call<v1::BindRequest, v1::BindResponse> bind;
  Call<v1::UnbindRequest, v1::UnbindResponse> unbind;
  Call<v1::UpdateStatsRequest, v1::UpdateStatsResponse> update_stats;
  Call<v1::ResetStatsRequest, v1::ResetStatsResponse> reset_stats;

  grpc::Status CreateActions(grpc::ServerContext*, const v1::CreateActionsRequest* request,
                             v1::CreateActionsResponse* response) override {
    return create.Answer(request, response);
  }
  grpc::Status ReplaceActions(grpc::ServerContext*, const v1::ReplaceActionsRequest* request,
                              v1::ReplaceActionsResponse* response) override {
    return replace.Answer(request, response);
  }
  grpc::Status GetAction(grpc::ServerContext*, const v1::GetActionRequest* request,
                         v1::Action* response) override {
    return get.Answer(request, response);
  }
  grpc::Status BatchGetActions(grpc::ServerContext*, const v1::BatchGetActionsRequest* request,
                               v1::BatchGetActionsResponse* response) override {
    return batch_get.Answer(request, response);
  }
  // One message for the whole listing.
  grpc::Status DumpActions(grpc::ServerContext*, const v1::DumpActionsRequest* request,
                           grpc::ServerWriter<v1::DumpActionsResponse>* writer) override {
    v1::DumpActionsResponse response;
    grpc::Status status = dump.Answer(request, &response);
    if (response.actions_size() > 0) writer->Write(response);
    return status;
  }
  grpc::Status DeleteActions(grpc::ServerContext*, const v1::DeleteActionsRequest* request,
                             v1::DeleteActionsResponse* response) override {
    return remove.Answer(request, response);
  }
  grpc::Status FlushActions(grpc::ServerContext*, const v1::FlushActionsRequest* request,
                            v1::FlushActionsResponse* response) override {
    return flush.Answer(request, response);
  }
  grpc::Status Bind(grpc::ServerContext*, const v1::BindRequest* request,
                    v1::BindResponse* response) override {
    return bind.Answer(request, response);
  }
  grpc::Status Unbind(grpc::ServerContext*, const v1::UnbindRequest* request,
                      v1::UnbindResponse* response) override {
    return unbind.Answer(request, response);
  }
  grpc::Status UpdateStats(grpc::ServerContext*, const v1::UpdateStatsRequest* request,
                           v1::UpdateStatsResponse* response) override {
    return update_stats.Answer(request, response);
  }
  grpc::Status ResetStats(grpc::ServerContext*, const v1::ResetStatsRequest* request,
                          v1::ResetStatsResponse* response) override {
    return reset_stats.Answer(request, response);
  }

  // Each operation becomes a request of the call of its name.
  grpc::Status Apply(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<v1::ApplyResponse, v1::ApplyRequest>* stream) override {
    v1::ApplyRequest batch;
    while (stream->Read(&batch)) {
      ++apply_batches;
      v1::ApplyResponse answer;
      answer.set_batch_id(batch.batch_id());
      grpc::Status stopped;
      for (int i = 0; i < batch.ops_size() && stopped.ok(); ++i) {
        const grpc::Status status = One(batch.netns(), batch.ops(i));
        answer.add_indexes(0);
        if (status.ok()) continue;
        v1::OperationError* error = answer.add_errors();
        error->set_position(static_cast<uint32_t>(i));
        error->set_code(status.error_code());
        error->set_message(status.error_message());
        error->set_reason(client::Reason(client::FromGrpc(status)));
        if (batch.stop_on_error()) stopped = status;
      }
      stream->Write(answer);
      if (!stopped.ok()) return stopped;
    }
    return grpc::Status::OK;
  }
  int apply_batches = 0;

 private:
  grpc::Status One(const std::string& netns, const v1::Operation& op) {
    if (op.has_replace()) {
      v1::ReplaceActionsRequest request;
      v1::ReplaceActionsResponse response;
      request.set_netns(netns);
      *request.add_actions() = op.replace();
      return replace.Answer(&request, &response);
    }
    if (op.has_delete_()) {
      v1::DeleteActionsRequest request;
      v1::DeleteActionsResponse response;
      request.set_netns(netns);
      *request.add_keys() = op.delete_();
      return remove.Answer(&request, &response);
    }
    v1::CreateActionsRequest request;
    v1::CreateActionsResponse response;
    request.set_netns(netns);
    if (op.has_create()) *request.add_actions() = op.create();
    for (const v1::Action& action : op.create_all().actions()) *request.add_actions() = action;
    return create.Answer(&request, &response);
  }
};

class FakeAdminService : public v1::Admin::Service {
 public:
  Call<v1::GetSlabInfoRequest, v1::GetSlabInfoResponse> slab_info;
  Call<v1::GetLockStatsRequest, v1::GetLockStatsResponse> lock_stats;
  Call<v1::ResetLockStatsRequest, v1::ResetLockStatsResponse> reset_locks;
  Call<v1::GetServerInfoRequest, v1::GetServerInfoResponse> server_info;
  Call<v1::ListNamespacesRequest, v1::ListNamespacesResponse> namespaces;
  Call<v1::SetQuotaRequest, v1::SetQuotaResponse> quota;
  Call<v1::DeleteNamespaceRequest, v1::DeleteNamespaceResponse> delete_namespace;

  grpc::Status GetSlabInfo(grpc::ServerContext*, const v1::GetSlabInfoRequest* request,
                           v1::GetSlabInfoResponse* response) override {
    return slab_info.Answer(request, response);
  }
  grpc::Status GetLockStats(grpc::ServerContext*, const v1::GetLockStatsRequest* request,
                            v1::GetLockStatsResponse* response) override {
    return lock_stats.Answer(request, response);
  }
  grpc::Status ResetLockStats(grpc::ServerContext*, const v1::ResetLockStatsRequest* request,
                              v1::ResetLockStatsResponse* response) override {
    return reset_locks.Answer(request, response);
  }
  grpc::Status GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest* request,
                             v1::GetServerInfoResponse* response) override {
    return server_info.Answer(request, response);
  }
  grpc::Status ListNamespaces(grpc::ServerContext*, const v1::ListNamespacesRequest* request,
                              v1::ListNamespacesResponse* response) override {
    return namespaces.Answer(request, response);
  }
  grpc::Status SetQuota(grpc::ServerContext*, const v1::SetQuotaRequest* request,
                        v1::SetQuotaResponse* response) override {
    return quota.Answer(request, response);
  }
  grpc::Status DeleteNamespace(grpc::ServerContext*, const v1::DeleteNamespaceRequest* request,
                               v1::DeleteNamespaceResponse* response) override {
    return delete_namespace.Answer(request, response);
  }
};

class FakeTcactd {
 public:
  FakeTcactd() : address_(client::FakeServer::NewAddress()) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(&store);
    builder.RegisterService(&admin);
    builder.SetSyncServerOption(grpc::ServerBuilder::CQ_TIMEOUT_MSEC, 100);
    server_ = builder.BuildAndStart();
  }
  ~FakeTcactd() {
    server_->Shutdown(absl::ToChronoTime(absl::Now() + absl::Seconds(2)));
    server_->Wait();
  }

  const std::string& address() const { return address_; }
  grpc::Server* server() { return server_.get(); }

  FakeActionStore store;
  FakeAdminService admin;

 private:
  const std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace tcact::cli

#endif  // TCACT_TESTS_CLIENT_CLI_FAKE_TCACTD_H_
