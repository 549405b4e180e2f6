#include "server/rpc/server.h"

#include <type_traits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "grpcpp/ext/channelz_service_plugin.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "proto/tcact/v1/action_store.grpc.pb.h"
#include "proto/tcact/v1/admin.grpc.pb.h"
#include "server/obs/health.h"
#include "server/rpc/action_calls.h"
#include "server/rpc/admin_calls.h"
#include "server/rpc/apply_call.h"
#include "server/rpc/dump_call.h"
#include "server/rpc/health_calls.h"
#include "server/rpc/listen.h"
#include "server/rpc/loop.h"
#include "server/rpc/shared.h"
#include "server/rpc/unary_call.h"

namespace tcact::rpc {
namespace {

using ActionStoreService = v1::ActionStore::AsyncService;
using AdminService = v1::Admin::AsyncService;
using HealthService = grpc::health::v1::Health::AsyncService;

// Threads of reflection and channelz together: each of their streams holds one.
constexpr int kMaxSyncThreads = 32;
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
constexpr int kMinPingIntervalMs = 5'000;

template <typename Request>
bool Always(const Request&) {
  return true;
}

bool ManyEntries(const v1::UpdateStatsRequest& request) {
  return request.indexes_size() > kInlineStatsEntries;
}

void Configure(const ServerOptions& options, grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreamsPerConnection);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  // Two servers on one port would share its connections by lot; the second is to fail instead.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Peers that vanished without a word are found, and their streams ended.
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                              kMinPingIntervalMs);
  if (options.introspection) builder->AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 1);
  grpc::ResourceQuota quota("tcactd");
  quota.SetMaxThreads(kMaxSyncThreads);
  builder->SetResourceQuota(quota);
  builder->SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder->SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder->SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 1);
}

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerOptions& options, const Context& context)
      : options_(options), context_(WithHealth(context, &health_)), shared_(context_) {}

  absl::Status Start() {
    for (const std::string& address : options_.listen) {
      if (absl::Status status = PrepareListenAddress(address); !status.ok()) return status;
    }
    if (options_.introspection) grpc::channelz::experimental::InitChannelzService();
    grpc::ServerBuilder builder;
    Configure(options_, &builder);
    std::vector<int> ports(options_.listen.size(), 0);
    for (size_t i = 0; i < options_.listen.size(); ++i) {
      builder.AddListeningPort(options_.listen[i], grpc::InsecureServerCredentials(), &ports[i]);
    }
    builder.RegisterService(&action_store_);
    builder.RegisterService(&admin_);
    builder.RegisterService(&health_service_);
    for (int i = 0; i < options_.loops; ++i)
      loops_.push_back(std::make_unique<Loop>(builder.AddCompletionQueue()));
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return WhyNotStarted();
    for (size_t i = 0; i < ports.size(); ++i)
      addresses_.push_back(BoundAddress(options_.listen[i], ports[i]));
    for (auto& loop : loops_) Open(loop.get());
    for (auto& loop : loops_) loop->Start(options_.stall);
    health_.SetServing(true);
    return absl::OkStatus();
  }

  void Shutdown(absl::Duration drain) {
    if (server_ == nullptr) return;
    health_.SetServing(false);
    for (auto& loop : loops_) loop->Drain();
    server_->Shutdown(absl::ToChronoTime(absl::Now() + drain));
    for (auto& loop : loops_) loop->Stop();
    server_->Wait();
    server_.reset();
  }

  const std::vector<std::string>& addresses() const { return addresses_; }

  uint64_t calls() const {
    uint64_t calls = 0;
    for (const auto& loop : loops_) calls += loop->calls();
    return calls;
  }

 private:
  // Every method on every loop: one line a method.
  void Open(Loop* loop) {
    Unary(loop, &action_store_, &ActionStoreService::RequestCreateActions, &CreateActions);
    Unary(loop, &action_store_, &ActionStoreService::RequestReplaceActions, &ReplaceActions);
    Unary(loop, &action_store_, &ActionStoreService::RequestGetAction, &GetAction);
    Unary(loop, &action_store_, &ActionStoreService::RequestBatchGetActions, &BatchGetActions);
    Unary(loop, &action_store_, &ActionStoreService::RequestListActions, &ListActions);
    Unary(loop, &action_store_, &ActionStoreService::RequestDeleteActions, &DeleteActions);
    Unary(loop, &action_store_, &ActionStoreService::RequestFlushActions, &FlushActions, &Always);
    Unary(loop, &action_store_, &ActionStoreService::RequestBind, &Bind);
    Unary(loop, &action_store_, &ActionStoreService::RequestUnbind, &Unbind);
    Unary(loop, &action_store_, &ActionStoreService::RequestUpdateStats, &UpdateStats,
          &ManyEntries);
    Unary(loop, &action_store_, &ActionStoreService::RequestResetStats, &ResetStats);
    DumpCall::Arm(&shared_, loop, &action_store_);
    ApplyCall::Arm(&shared_, loop, &action_store_);

    Unary(loop, &admin_, &AdminService::RequestGetSlabInfo, &GetSlabInfo);
    Unary(loop, &admin_, &AdminService::RequestGetLockStats, &GetLockStats);
    Unary(loop, &admin_, &AdminService::RequestResetLockStats, &ResetLockStats);
    Unary(loop, &admin_, &AdminService::RequestShrink, &Shrink, &Always);
    Unary(loop, &admin_, &AdminService::RequestGetServerInfo, &GetServerInfo);
    Unary(loop, &admin_, &AdminService::RequestListNamespaces, &ListNamespaces);
    Unary(loop, &admin_, &AdminService::RequestSetQuota, &SetQuota);
    Unary(loop, &admin_, &AdminService::RequestDeleteNamespace, &DeleteNamespace, &Always);

    Unary(loop, &health_service_, &HealthService::RequestCheck, &CheckHealth);
    WatchHealthCall::Arm(&shared_, loop, &health_service_);
  }

  template <typename Service, typename Request, typename Response>
  void Unary(Loop* loop, std::type_identity_t<Service>* service,
             void (Service::*request_fn)(grpc::ServerContext*, Request*,
                                         grpc::ServerAsyncResponseWriter<Response>*,
                                         grpc::CompletionQueue*, grpc::ServerCompletionQueue*,
                                         void*),
             grpc::Status (*handler)(const Context&, Request*, Response*),
             OnWorker<Request> on_worker = nullptr) {
    using Method = UnaryMethod<Service, Request, Response>;
    auto method = std::make_shared<Method>(&shared_, loop, service, request_fn, handler, on_worker);
    method->Open();
    methods_.push_back(std::move(method));
  }

  absl::Status WhyNotStarted() const {
    for (const std::string& address : options_.listen) {
      const std::string why = WhyListenFails(address);
      if (!why.empty())
        return absl::UnavailableError(absl::StrCat("cannot listen on ", address, ": ", why));
    }
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", absl::StrJoin(options_.listen, ", ")));
  }

  static std::string BoundAddress(const std::string& address, int port) {
    if (absl::StartsWith(address, "unix:")) return address;
    return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
  }

  static Context WithHealth(Context context, const obs::Health* health) {
    context.health = health;
    return context;
  }

  const ServerOptions options_;
  obs::Health health_;
  const Context context_;
  Shared shared_;
  ActionStoreService action_store_;
  AdminService admin_;
  HealthService health_service_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::shared_ptr<void>> methods_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::string> addresses_;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      const Context& context) {
  auto impl = std::make_unique<Impl>(options, context);
  if (absl::Status status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() { Shutdown(absl::ZeroDuration()); }

const std::vector<std::string>& Server::addresses() const { return impl_->addresses(); }

void Server::Shutdown(absl::Duration drain) { impl_->Shutdown(drain); }

uint64_t Server::calls() const { return impl_->calls(); }

}  // namespace tcact::rpc
