// The calls of grpc.health.v1.Health, on our own loops.
//
// gRPC's built-in health service would do, but for its cost: it brings a completion queue with two
// threads of its own, which then wake for each message of every connection (docs/performance.md).
#ifndef TCACT_SERVER_RPC_HEALTH_CALLS_H_
#define TCACT_SERVER_RPC_HEALTH_CALLS_H_

#include <optional>

#include "absl/time/time.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_stream.h"
#include "proto/grpc/health/v1/health.grpc.pb.h"
#include "server/obs/health.h"
#include "server/rpc/loop.h"
#include "server/rpc/shared.h"

namespace tcact::rpc {

grpc::Status CheckHealth(const Context& context, grpc::health::v1::HealthCheckRequest* request,
                         grpc::health::v1::HealthCheckResponse* response);

// One Watch stream. A change is told within a second (the loop's tick), a drain at once; then the
// stream ends. Owns itself, as DumpCall. On its loop's thread.
class WatchHealthCall final : public Stream {
 public:
  // Waits for one Watch on `loop`; when it comes, arms another.
  static void Arm(Shared* shared, Loop* loop, grpc::health::v1::Health::AsyncService* service);

  void Drain() override;
  void Tick(absl::Time stalled_since) override;

 private:
  WatchHealthCall(Shared* shared, Loop* loop, grpc::health::v1::Health::AsyncService* service);
  ~WatchHealthCall() = default;

  void OnStarted(bool ok);
  void OnWritten(bool ok);
  void OnFinished(bool ok);
  // The RPC is over: finished, cancelled by the client, or its connection is gone.
  void OnDone(bool ok);

  // Writes the status if it is not the one that was told last, or ends the stream.
  void Advance();
  void Finish(const grpc::Status& status);
  void DeleteIfOver();

  Shared* const shared_;
  Loop* const loop_;
  grpc::health::v1::Health::AsyncService* const service_;
  grpc::ServerContext server_context_;
  grpc::ServerAsyncWriter<grpc::health::v1::HealthCheckResponse> writer_{&server_context_};
  grpc::health::v1::HealthCheckRequest request_;
  grpc::health::v1::HealthCheckResponse response_;
  Seat seat_;
  std::optional<obs::ServingStatus> told_;
  std::optional<absl::Time> writing_since_;
  bool ending_ = false;     // the server drains
  bool finishing_ = false;  // Finish was called
  bool finished_sent_ = false;
  bool done_ = false;
  bool listed_ = false;  // in the loop's list of streams

  MethodEvent<WatchHealthCall, &WatchHealthCall::OnStarted> started_{this};
  MethodEvent<WatchHealthCall, &WatchHealthCall::OnWritten> written_{this};
  MethodEvent<WatchHealthCall, &WatchHealthCall::OnFinished> finished_{this};
  MethodEvent<WatchHealthCall, &WatchHealthCall::OnDone> done_event_{this};
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_HEALTH_CALLS_H_
