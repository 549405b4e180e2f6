// ApplyCall: one Apply stream. The next batch is read while answers are on their way, up to
// kApplyWindow answers (with a journal kJournalWindow); then reading waits, and HTTP/2's flow
// control makes the client wait.
//
// Invariants
//   - Answers go out in the order of the batches. At most one read and one write is with gRPC at a
//     time.
//   - A batch that was done is answered before the stream ends, also in a drain, unless the client
//     is gone.
#ifndef TCACT_SERVER_RPC_APPLY_CALL_H_
#define TCACT_SERVER_RPC_APPLY_CALL_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_stream.h"
#include "proto/tcact/v1/action_store.grpc.pb.h"
#include "server/rpc/apply.h"
#include "server/rpc/limits.h"
#include "server/rpc/loop.h"
#include "server/rpc/scratch_arena.h"
#include "server/rpc/shared.h"

namespace tcact::rpc {

// Owns itself: lives from Arm to the last event of its RPC. On its loop's thread.
class ApplyCall final : public Stream, public Parked {
 public:
  // Waits for one Apply on `loop`; when it comes, arms another.
  static void Arm(Shared* shared, Loop* loop, v1::ActionStore::AsyncService* service);

  void Drain() override;
  void Tick(absl::Time stalled_since) override;
  void OnOutcome(bool recorded) override;

 private:
  // An answer, from being made to being sent.
  struct Answer {
    ScratchArena arena;
    v1::ApplyResponse* response = nullptr;
    // Of the journal, if there is one.
    uint64_t ticket = 0;
  };

  ApplyCall(Shared* shared, Loop* loop, v1::ActionStore::AsyncService* service);
  ~ApplyCall() = default;

  void OnStarted(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnFinished(bool ok);

  // Begins what can be begun: a read, a write, the end.
  void Advance();
  void Apply();
  // Whether the first answer may go out; if it has to wait, it is parked.
  bool MaySend();
  bool MayRead() const;
  // No more is read; the stream ends with `status` when the answers are sent. The first call wins.
  void End(const grpc::Status& status);
  void DeleteIfDone();

  Shared* const shared_;
  Loop* const loop_;
  v1::ActionStore::AsyncService* const service_;
  grpc::ServerContext server_context_;
  grpc::ServerAsyncReaderWriter<v1::ApplyResponse, v1::ApplyRequest> stream_{&server_context_};
  Seat seat_;
  Applier applier_;
  ScratchArena request_arena_;
  v1::ApplyRequest* request_ = nullptr;
  // A ring: answers first_ to first_ + unsent_ - 1.
  std::vector<Answer> answers_;
  int first_ = 0;
  int unsent_ = 0;
  // Operations of these.
  int unsent_ops_ = 0;
  bool parked_ = false;
  bool reading_ = false;
  std::optional<absl::Time> writing_since_;
  std::optional<grpc::Status> end_;
  bool finishing_ = false;
  bool done_ = false;
  bool listed_ = false;

  MethodEvent<ApplyCall, &ApplyCall::OnStarted> started_{this};
  MethodEvent<ApplyCall, &ApplyCall::OnRead> read_{this};
  MethodEvent<ApplyCall, &ApplyCall::OnWritten> written_{this};
  MethodEvent<ApplyCall, &ApplyCall::OnFinished> finished_{this};
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_APPLY_CALL_H_
