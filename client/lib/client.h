// Client: the calls of tcact.v1 with deadlines, typed errors and careful retries.
//
// Invariants
//   - Every unary call ends within `deadline` of its start, retries included.
//   - Reads are sent again on UNAVAILABLE, after a backoff; changes are sent once, whatever
//     happens: after a failed change the caller alone knows whether it may be repeated.
//   - Every error that the server explained carries its ErrorInfo (status.h).
//
// Thread safety: all methods from any thread. Streams: see each.
#ifndef TCACT_CLIENT_LIB_CLIENT_H_
#define TCACT_CLIENT_LIB_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/apply_stream.h"
#include "client/lib/channel.h"
#include "client/lib/retry.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "proto/tcact/v1/action_store.grpc.pb.h"
#include "proto/tcact/v1/admin.grpc.pb.h"

namespace tcact::client {

struct Options {
  ChannelOptions channel = {};
  // Of each unary call. More than 0.
  absl::Duration deadline = absl::Seconds(10);
  RetryOptions retry = {};
};

// The messages of one DumpActions. Not thread-safe, save Cancel. Must not outlive its Client.
class DumpStream {
 public:
  DumpStream(v1::ActionStore::StubInterface* stub, const v1::DumpActionsRequest& request,
             absl::Duration deadline);
  // Cancels what was not read.
  ~DumpStream();
  DumpStream(const DumpStream&) = delete;
  DumpStream& operator=(const DumpStream&) = delete;

  // The next message, in the server's order. False at the end and on failure; Finish tells which.
  bool Next(v1::DumpActionsResponse* batch);

  // How the dump ended: OK only if all of it was read. Before Next has returned false it cancels
  // the rest, and the result is CANCELLED. A second call returns the same.
  absl::Status Finish();

  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderInterface<v1::DumpActionsResponse>> reader_;
  bool at_end_ = false;
  bool finished_ = false;
  absl::Status result_;
};

class Client {
 public:
  // Connects lazily: a server that is absent shows as UNAVAILABLE in the first call.
  // INVALID_ARGUMENT on options outside their ranges.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const Options& options);

  // --- reads: retried on UNAVAILABLE ---

  absl::StatusOr<v1::Action> GetAction(const v1::GetActionRequest& request);
  absl::StatusOr<v1::BatchGetActionsResponse> BatchGetActions(
      const v1::BatchGetActionsRequest& request);
  absl::StatusOr<v1::ListActionsResponse> ListActions(const v1::ListActionsRequest& request);
  absl::StatusOr<v1::GetSlabInfoResponse> GetSlabInfo(const v1::GetSlabInfoRequest& request);
  absl::StatusOr<v1::GetLockStatsResponse> GetLockStats(const v1::GetLockStatsRequest& request);
  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo(const v1::GetServerInfoRequest& request);
  absl::StatusOr<v1::ListNamespacesResponse> ListNamespaces(
      const v1::ListNamespacesRequest& request);

  // Health of a service ("tcact.v1.ActionStore"; "" for the whole server) by grpc.health.v1: OK if
  // it serves, UNAVAILABLE if it does not or cannot be reached, NOT_FOUND if the server knows no
  // such service. Not retried: the answer is about now.
  absl::Status CheckHealth(const std::string& service = "");

  // --- changes: sent once ---

  absl::StatusOr<v1::CreateActionsResponse> CreateActions(const v1::CreateActionsRequest& request);
  absl::StatusOr<v1::ReplaceActionsResponse> ReplaceActions(
      const v1::ReplaceActionsRequest& request);
  absl::StatusOr<v1::DeleteActionsResponse> DeleteActions(const v1::DeleteActionsRequest& request);
  absl::StatusOr<v1::FlushActionsResponse> FlushActions(const v1::FlushActionsRequest& request);
  absl::StatusOr<v1::BindResponse> Bind(const v1::BindRequest& request);
  absl::StatusOr<v1::UnbindResponse> Unbind(const v1::UnbindRequest& request);
  absl::StatusOr<v1::UpdateStatsResponse> UpdateStats(const v1::UpdateStatsRequest& request);
  absl::StatusOr<v1::ResetStatsResponse> ResetStats(const v1::ResetStatsRequest& request);
  absl::StatusOr<v1::ResetLockStatsResponse> ResetLockStats(
      const v1::ResetLockStatsRequest& request);
  absl::StatusOr<v1::ShrinkResponse> Shrink(const v1::ShrinkRequest& request);
  absl::StatusOr<v1::SetQuotaResponse> SetQuota(const v1::SetQuotaRequest& request);
  absl::StatusOr<v1::DeleteNamespaceResponse> DeleteNamespace(
      const v1::DeleteNamespaceRequest& request);

  // --- streams: never retried ---

  // `deadline` is for the whole dump.
  std::unique_ptr<DumpStream> DumpActions(const v1::DumpActionsRequest& request,
                                          absl::Duration deadline = absl::InfiniteDuration());

  // Must not outlive the client.
  std::unique_ptr<ApplyStream> Apply(const ApplyOptions& options, ApplyStream::OnAnswer on_answer);

  const Options& options() const { return options_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  Client(const Options& options, std::shared_ptr<grpc::Channel> channel);

  const Options options_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::ActionStore::Stub> store_;
  const std::unique_ptr<v1::Admin::Stub> admin_;
};

}  // namespace tcact::client

#endif  // TCACT_CLIENT_LIB_CLIENT_H_
