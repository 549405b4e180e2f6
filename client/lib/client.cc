#include "client/lib/client.h"

#include <algorithm>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "client/lib/status.h"
#include "proto/grpc/health/v1/health.grpc.pb.h"

namespace tcact::client {
namespace {

template <typename Stub, typename Request, typename Response>
using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> CallBy(absl::Time deadline, Stub* stub,
                                Method<Stub, Request, Response> method, const Request& request) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(deadline));
  Response response;
  absl::Status status = FromGrpc((stub->*method)(&context, request, &response));
  if (!status.ok()) return status;
  return response;
}

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Once(const Options& options, Stub* stub,
                              Method<Stub, Request, Response> method, const Request& request) {
  return CallBy(absl::Now() + options.deadline, stub, method, request);
}

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Read(const Options& options, Stub* stub,
                              Method<Stub, Request, Response> method, const Request& request) {
  const absl::Time deadline = absl::Now() + options.deadline;
  thread_local absl::BitGen random;
  for (int attempt = 1;; ++attempt) {
    absl::StatusOr<Response> response = CallBy(deadline, stub, method, request);
    if (!ShouldRetry(options.retry, response.status(), attempt)) return response;
    const absl::Duration wait =
        Backoff(options.retry, attempt + 1, absl::Uniform<double>(random, 0, 1));
    // The answer at hand says more than the DEADLINE_EXCEEDED that a last try would end in.
    if (absl::Now() + wait >= deadline) return response;
    absl::SleepFor(wait);
  }
}

}  // namespace

DumpStream::DumpStream(v1::ActionStore::StubInterface* stub, const v1::DumpActionsRequest& request,
                       absl::Duration deadline) {
  if (deadline != absl::InfiniteDuration()) {
    context_.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
  }
  reader_ = stub->DumpActions(&context_, request);
}

DumpStream::~DumpStream() { Finish().IgnoreError(); }

bool DumpStream::Next(v1::DumpActionsResponse* batch) {
  if (at_end_ || finished_) return false;
  at_end_ = !reader_->Read(batch);
  return !at_end_;
}

absl::Status DumpStream::Finish() {
  if (finished_) return result_;
  finished_ = true;
  if (!at_end_) context_.TryCancel();
  result_ = FromGrpc(reader_->Finish());
  if (!at_end_ && result_.ok()) {
    result_ = absl::CancelledError("the dump was given up before its end");
  }
  return result_;
}

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const Options& options) {
  if (options.deadline <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("deadline ", absl::FormatDuration(options.deadline), " is not more than 0"));
  }
  absl::Status retry = CheckRetryOptions(options.retry);
  if (!retry.ok()) return retry;
  absl::StatusOr<std::shared_ptr<grpc::Channel>> channel = MakeChannel(options.channel);
  if (!channel.ok()) return channel.status();
  return std::unique_ptr<Client>(new Client(options, *std::move(channel)));
}

Client::Client(const Options& options, std::shared_ptr<grpc::Channel> channel)
    : options_(options),
      channel_(std::move(channel)),
      store_(v1::ActionStore::NewStub(channel_)),
      admin_(v1::Admin::NewStub(channel_)) {}

absl::Status Client::CheckHealth(const std::string& service) {
  using grpc::health::v1::HealthCheckRequest;
  using grpc::health::v1::HealthCheckResponse;
  const auto stub = grpc::health::v1::Health::NewStub(channel_);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + options_.deadline));
  HealthCheckRequest request;
  request.set_service(service);
  HealthCheckResponse response;
  const grpc::Status status = stub->Check(&context, request, &response);
  if (!status.ok()) return FromGrpc(status);
  if (response.status() == HealthCheckResponse::SERVING) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      "health of \"", service, "\": ", HealthCheckResponse::ServingStatus_Name(response.status())));
}

absl::StatusOr<v1::Action> Client::GetAction(const v1::GetActionRequest& request) {
  return Read(options_, store_.get(), &v1::ActionStore::Stub::GetAction, request);
}

absl::StatusOr<v1::BatchGetActionsResponse> Client::BatchGetActions(
    const v1::BatchGetActionsRequest& request) {
  return Read(options_, store_.get(), &v1::ActionStore::Stub::BatchGetActions, request);
}

absl::StatusOr<v1::ListActionsResponse> Client::ListActions(const v1::ListActionsRequest& request) {
  return Read(options_, store_.get(), &v1::ActionStore::Stub::ListActions, request);
}

absl::StatusOr<v1::GetSlabInfoResponse> Client::GetSlabInfo(const v1::GetSlabInfoRequest& request) {
  return Read(options_, admin_.get(), &v1::Admin::Stub::GetSlabInfo, request);
}

absl::StatusOr<v1::GetLockStatsResponse> Client::GetLockStats(
    const v1::GetLockStatsRequest& request) {
  return Read(options_, admin_.get(), &v1::Admin::Stub::GetLockStats, request);
}

absl::StatusOr<v1::GetServerInfoResponse> Client::GetServerInfo(
    const v1::GetServerInfoRequest& request) {
  return Read(options_, admin_.get(), &v1::Admin::Stub::GetServerInfo, request);
}

absl::StatusOr<v1::ListNamespacesResponse> Client::ListNamespaces(
    const v1::ListNamespacesRequest& request) {
  return Read(options_, admin_.get(), &v1::Admin::Stub::ListNamespaces, request);
}

absl::StatusOr<v1::CreateActionsResponse> Client::CreateActions(
    const v1::CreateActionsRequest& request) {
  return Once(options_, store_.get(), &v1::ActionStore::Stub::CreateActions, request);
}

absl::StatusOr<v1::ReplaceActionsResponse> Client::ReplaceActions(
    const v1::ReplaceActionsRequest& request) {
  return Once(options_, store_.get(), &v1::ActionStore::Stub::ReplaceActions, request);
}

absl::StatusOr<v1::DeleteActionsResponse> Client::DeleteActions(
    const v1::DeleteActionsRequest& request) {
  return Once(options_, store_.get(), &v1::ActionStore::Stub::DeleteActions, request);
}

absl::StatusOr<v1::FlushActionsResponse> Client::FlushActions(
    const v1::FlushActionsRequest& request) {
  return Once(options_, store_.get(), &v1::ActionStore::Stub::FlushActions, request);
}

absl::StatusOr<v1::BindResponse> Client::Bind(const v1::BindRequest& request) {
  return Once(options_, store_.get(), &v1::ActionStore::Stub::Bind, request);
}

absl::StatusOr<v1::UnbindResponse> Client::Unbind(const v1::UnbindRequest& request) {
  return Once(options_, store_.get(), &v1::ActionStore::Stub::Unbind, request);
}

absl::StatusOr<v1::UpdateStatsResponse> Client::UpdateStats(const v1::UpdateStatsRequest& request) {
  return Once(options_, store_.get(), &v1::ActionStore::Stub::UpdateStats, request);
}

absl::StatusOr<v1::ResetStatsResponse> Client::ResetStats(const v1::ResetStatsRequest& request) {
  return Once(options_, store_.get(), &v1::ActionStore::Stub::ResetStats, request);
}

absl::StatusOr<v1::ResetLockStatsResponse> Client::ResetLockStats(
    const v1::ResetLockStatsRequest& request) {
  return Once(options_, admin_.get(), &v1::Admin::Stub::ResetLockStats, request);
}

absl::StatusOr<v1::ShrinkResponse> Client::Shrink(const v1::ShrinkRequest& request) {
  return Once(options_, admin_.get(), &v1::Admin::Stub::Shrink, request);
}

absl::StatusOr<v1::SetQuotaResponse> Client::SetQuota(const v1::SetQuotaRequest& request) {
  return Once(options_, admin_.get(), &v1::Admin::Stub::SetQuota, request);
}

absl::StatusOr<v1::DeleteNamespaceResponse> Client::DeleteNamespace(
    const v1::DeleteNamespaceRequest& request) {
  return Once(options_, admin_.get(), &v1::Admin::Stub::DeleteNamespace, request);
}

std::unique_ptr<DumpStream> Client::DumpActions(const v1::DumpActionsRequest& request,
                                                absl::Duration deadline) {
  return std::make_unique<DumpStream>(store_.get(), request, deadline);
}

std::unique_ptr<ApplyStream> Client::Apply(const ApplyOptions& options,
                                           ApplyStream::OnAnswer on_answer) {
  return std::make_unique<ApplyStream>(store_.get(), options, std::move(on_answer));
}

}  // namespace tcact::client
