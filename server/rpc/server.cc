#include "server/rpc/server.h"

#include <atomic>
#include <optional>
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
#include "server/rpc/once.h"
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

// Tells health when the journal fails.
class ReadOnlyWatch final : public durable::Journal::Listener {
 public:
  ReadOnlyWatch(durable::Journal* journal, obs::Health* health)
      : journal_(journal), health_(health) {
    journal_->AddListener(this);
    OnProgress();
  }
  ~ReadOnlyWatch() { journal_->RemoveListener(this); }
  ReadOnlyWatch(const ReadOnlyWatch&) = delete;
  ReadOnlyWatch& operator=(const ReadOnlyWatch&) = delete;

  void OnProgress() override {
    if (journal_->failed() && !told_.exchange(true)) health_->SetReadOnly();
  }

 private:
  durable::Journal* const journal_;
  obs::Health* const health_;
  std::atomic<bool> told_{false};
};

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerOptions& options, const Context& context)
      : options_(options), context_(Complete(context)), shared_(context_) {}

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
    if (context_.keeper != nullptr) {
      for (auto& loop : loops_) loop->HeedJournal(context_.keeper->journal());
    }
    for (auto& loop : loops_) Open(loop.get());
    for (auto& loop : loops_) loop->Start(options_.stall);
    health_.SetServing(true);
    if (context_.keeper != nullptr) read_only_watch_.emplace(context_.keeper->journal(), &health_);
    return absl::OkStatus();
  }

  void Shutdown(absl::Duration drain) {
    if (server_ == nullptr) return;
    read_only_watch_.reset();
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
  // Whether an answer waits until what it may tell is recorded.
  enum class Waits { kForRecords, kForNothing };

  // Every method on every loop: one line a method.
  void Open(Loop* loop) {
    Unary(loop, &action_store_, &ActionStoreService::RequestCreateActions,
          &Once<&CreateActions, v1::CreateActionsRequest, v1::CreateActionsResponse>);
    Unary(loop, &action_store_, &ActionStoreService::RequestReplaceActions,
          &Once<&ReplaceActions, v1::ReplaceActionsRequest, v1::ReplaceActionsResponse>);
    Unary(loop, &action_store_, &ActionStoreService::RequestGetAction, &GetAction);
    Unary(loop, &action_store_, &ActionStoreService::RequestBatchGetActions, &BatchGetActions);
    Unary(loop, &action_store_, &ActionStoreService::RequestListActions, &ListActions);
    Unary(loop, &action_store_, &ActionStoreService::RequestDeleteActions,
          &Once<&DeleteActions, v1::DeleteActionsRequest, v1::DeleteActionsResponse>);
    Unary(loop, &action_store_, &ActionStoreService::RequestFlushActions,
          &Once<&FlushActions, v1::FlushActionsRequest, v1::FlushActionsResponse>, &Always);
    Unary(loop, &action_store_, &ActionStoreService::RequestBind,
          &Once<&Bind, v1::BindRequest, v1::BindResponse>);
    Unary(loop, &action_store_, &ActionStoreService::RequestUnbind,
          &Once<&Unbind, v1::UnbindRequest, v1::UnbindResponse>);
    Unary(loop, &action_store_, &ActionStoreService::RequestUpdateStats, &UpdateStats, &ManyEntries,
          StatsWait());
    Unary(loop, &action_store_, &ActionStoreService::RequestResetStats,
          &Once<&ResetStats, v1::ResetStatsRequest, v1::ResetStatsResponse>);
    DumpCall::Arm(&shared_, loop, &action_store_);
    ApplyCall::Arm(&shared_, loop, &action_store_);

    Unary(loop, &admin_, &AdminService::RequestGetSlabInfo, &GetSlabInfo, nullptr,
          Waits::kForNothing);
    Unary(loop, &admin_, &AdminService::RequestGetLockStats, &GetLockStats, nullptr,
          Waits::kForNothing);
    Unary(loop, &admin_, &AdminService::RequestResetLockStats, &ResetLockStats, nullptr,
          Waits::kForNothing);
    Unary(loop, &admin_, &AdminService::RequestShrink, &Shrink, &Always, Waits::kForNothing);
    Unary(loop, &admin_, &AdminService::RequestGetServerInfo, &GetServerInfo, nullptr,
          Waits::kForNothing);
    Unary(loop, &admin_, &AdminService::RequestListNamespaces, &ListNamespaces);
    Unary(loop, &admin_, &AdminService::RequestSetQuota,
          &Once<&SetQuota, v1::SetQuotaRequest, v1::SetQuotaResponse>);
    Unary(loop, &admin_, &AdminService::RequestDeleteNamespace,
          &Once<&DeleteNamespace, v1::DeleteNamespaceRequest, v1::DeleteNamespaceResponse>,
          &Always);

    Unary(loop, &health_service_, &HealthService::RequestCheck, &CheckHealth, nullptr,
          Waits::kForNothing);
    WatchHealthCall::Arm(&shared_, loop, &health_service_);
  }

  // At an interval, what is counted is not recorded when it is answered.
  Waits StatsWait() const {
    const bool acked = context_.keeper != nullptr && context_.keeper->options().stats_acked;
    return acked ? Waits::kForRecords : Waits::kForNothing;
  }

  template <typename Service, typename Request, typename Response>
  void Unary(Loop* loop, std::type_identity_t<Service>* service,
             void (Service::*request_fn)(grpc::ServerContext*, Request*,
                                         grpc::ServerAsyncResponseWriter<Response>*,
                                         grpc::CompletionQueue*, grpc::ServerCompletionQueue*,
                                         void*),
             grpc::Status (*handler)(const Context&, Request*, Response*),
             std::type_identity_t<OnWorker<Request>> on_worker = nullptr,
             Waits waits = Waits::kForRecords) {
    using Method = UnaryMethod<Service, Request, Response>;
    Gate* const gate = waits == Waits::kForRecords ? loop->gate() : nullptr;
    auto method =
        std::make_shared<Method>(&shared_, loop, service, request_fn, handler, on_worker, gate);
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

  // Request ids and sources work without a record store too.
  Context Complete(Context context) {
    context.health = &health_;
    if (context.replays == nullptr) context.replays = &replays_;
    if (context.sources == nullptr) context.sources = &sources_;
    return context;
  }

  const ServerOptions options_;
  obs::Health health_;
  durable::ReplayTable replays_;
  durable::SourceTable sources_;
  const Context context_;
  Shared shared_;
  ActionStoreService action_store_;
  AdminService admin_;
  HealthService health_service_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::shared_ptr<void>> methods_;
  std::unique_ptr<grpc::Server> server_;
  std::optional<ReadOnlyWatch> read_only_watch_;
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
