// A server in this process, on a unix socket of its own, whose answers a test writes as functions.
#ifndef TCACT_TESTS_CLIENT_LIB_FAKE_SERVER_H_
#define TCACT_TESTS_CLIENT_LIB_FAKE_SERVER_H_

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "proto/tcact/v1/action_store.grpc.pb.h"
#include "proto/tcact/v1/admin.grpc.pb.h"
#include "proto/tcact/v1/error_details.pb.h"

namespace tcact::client {

// A status as the server sends it: with one ErrorInfo.
inline grpc::Status WithReason(grpc::StatusCode code, const std::string& message,
                               const std::string& reason,
                               const std::map<std::string, std::string>& metadata = {}) {
  v1::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain("tcact");
  info.mutable_metadata()->insert(metadata.begin(), metadata.end());
  v1::StatusDetails details;
  details.set_code(code);
  details.set_message(message);
  auto* detail = details.add_details();
  detail->set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  detail->set_value(info.SerializeAsString());
  return grpc::Status(code, message, details.SerializeAsString());
}

class FakeStore : public v1::ActionStore::Service {
 public:
  using ApplyStream = grpc::ServerReaderWriter<v1::ApplyResponse, v1::ApplyRequest>;
  using DumpWriter = grpc::ServerWriter<v1::DumpActionsResponse>;

  // Unset ones answer UNIMPLEMENTED.
  std::function<grpc::Status(const v1::GetActionRequest&, v1::Action*)> on_get;
  std::function<grpc::Status(const v1::CreateActionsRequest&, v1::CreateActionsResponse*)>
      on_create;
  std::function<grpc::Status(const v1::DeleteActionsRequest&, v1::DeleteActionsResponse*)>
      on_delete;
  std::function<grpc::Status(ApplyStream*)> on_apply;
  std::function<grpc::Status(DumpWriter*)> on_dump;

  std::atomic<int> gets{0};
  std::atomic<int> creates{0};

  grpc::Status GetAction(grpc::ServerContext*, const v1::GetActionRequest* request,
                         v1::Action* action) override {
    ++gets;
    return on_get ? on_get(*request, action) : Unset();
  }
  grpc::Status CreateActions(grpc::ServerContext*, const v1::CreateActionsRequest* request,
                             v1::CreateActionsResponse* response) override {
    ++creates;
    return on_create ? on_create(*request, response) : Unset();
  }
  grpc::Status DeleteActions(grpc::ServerContext*, const v1::DeleteActionsRequest* request,
                             v1::DeleteActionsResponse* response) override {
    return on_delete ? on_delete(*request, response) : Unset();
  }
  grpc::Status Apply(grpc::ServerContext*, ApplyStream* stream) override {
    return on_apply ? on_apply(stream) : Unset();
  }
  grpc::Status DumpActions(grpc::ServerContext*, const v1::DumpActionsRequest*,
                           DumpWriter* writer) override {
    return on_dump ? on_dump(writer) : Unset();
  }

 private:
  static grpc::Status Unset() {
    return {grpc::StatusCode::UNIMPLEMENTED, "the test set no answer"};
  }
};

class FakeAdmin : public v1::Admin::Service {
 public:
  grpc::Status GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*,
                             v1::GetServerInfoResponse* response) override {
    response->set_version("fake");
    return grpc::Status::OK;
  }
};

class FakeServer {
 public:
  FakeServer() : FakeServer(NewAddress()) {}
  explicit FakeServer(const std::string& address) : address_(address) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(&store);
    builder.RegisterService(&admin);
    // How long an idle thread of the server waits before it looks for a shutdown; 10 s by default.
    builder.SetSyncServerOption(grpc::ServerBuilder::CQ_TIMEOUT_MSEC, 100);
    server_ = builder.BuildAndStart();
  }
  ~FakeServer() {
    server_->Shutdown(absl::ToChronoTime(absl::Now() + absl::Seconds(2)));
    server_->Wait();
  }

  // A unix socket that no other test uses: processes of one number run side by side in sandboxes
  // that share /tmp.
  static std::string NewAddress() {
    static const Folder folder;
    static std::atomic<int> number{0};
    return absl::StrCat("unix:", folder.path, "/", number++);
  }
  const std::string& address() const { return address_; }
  grpc::Server* server() { return server_.get(); }

  FakeStore store;
  FakeAdmin admin;

 private:
  struct Folder {
    Folder() {
      if (mkdtemp(path.data()) == nullptr) std::abort();
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::string path = "/tmp/tcact_fake_XXXXXX";
  };

  const std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace tcact::client

#endif  // TCACT_TESTS_CLIENT_LIB_FAKE_SERVER_H_
