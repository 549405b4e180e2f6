// DumpCall: one DumpActions stream. A slice is made only when the slice before was sent, so a
// stream holds one slice in memory however large the table and however slow the reader.
//
// With a journal only the end of the stream waits: a dump that ends with OK showed recorded
// actions.
#ifndef TCACT_SERVER_RPC_DUMP_CALL_H_
#define TCACT_SERVER_RPC_DUMP_CALL_H_

#include <optional>

#include "absl/time/time.h"
#include "grpcpp/alarm.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_stream.h"
#include "proto/tcact/v1/action_store.grpc.pb.h"
#include "server/rpc/dump.h"
#include "server/rpc/loop.h"
#include "server/rpc/scratch_arena.h"
#include "server/rpc/shared.h"

namespace tcact::rpc {

// Owns itself: lives from Arm to the last event of its RPC. On its loop's thread.
class DumpCall final : public Stream, public Parked {
 public:
  // Waits for one DumpActions on `loop`; when it comes, arms another.
  static void Arm(Shared* shared, Loop* loop, v1::ActionStore::AsyncService* service);

  void Drain() override;
  void Tick(absl::Time stalled_since) override;
  void OnOutcome(bool recorded) override;

 private:
  DumpCall(Shared* shared, Loop* loop, v1::ActionStore::AsyncService* service);
  ~DumpCall() = default;

  void OnStarted(bool ok);
  void OnTurn(bool ok);
  void OnWritten(bool ok);
  void OnFinished(bool ok);

  grpc::Status Begin();
  void NextSlice();
  // Whether what was shown is recorded.
  bool MayFinish();
  void FinishWhenRecorded();
  void Finish(const grpc::Status& status);

  Shared* const shared_;
  Loop* const loop_;
  v1::ActionStore::AsyncService* const service_;
  grpc::ServerContext server_context_;
  grpc::ServerAsyncWriter<v1::DumpActionsResponse> writer_{&server_context_};
  v1::DumpActionsRequest request_;
  Seat seat_;
  Dump dump_;
  ScratchArena arena_;
  grpc::Alarm turn_alarm_;
  std::optional<absl::Time> writing_since_;
  bool failed_before_ = false;  // the journal, when the dump began
  uint64_t ticket_ = 0;
  bool ending_ = false;  // the server drains
  bool listed_ = false;  // in the loop's list of streams

  MethodEvent<DumpCall, &DumpCall::OnStarted> started_{this};
  MethodEvent<DumpCall, &DumpCall::OnTurn> turn_{this};
  MethodEvent<DumpCall, &DumpCall::OnWritten> written_{this};
  MethodEvent<DumpCall, &DumpCall::OnFinished> finished_{this};
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_DUMP_CALL_H_
