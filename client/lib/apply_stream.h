// ApplyStream: batches of operations sent without waiting for the answers of those before them.
//
// Invariants
//   - At most `window` batches are sent and not yet answered, so what a stream holds is bounded.
//   - Answers reach `on_answer` in the order of Send, each exactly once, from one thread that
//     belongs to the stream; none after Finish has returned.
//   - An answer whose batch_id is not the next one ends the stream with INTERNAL.
//   - Nothing is retried: after a failure the caller knows which batches were answered; of the
//     others it knows only that the server may have done them.
//
// Thread safety: Send and Finish from one thread at a time; Cancel from any.
#ifndef TCACT_CLIENT_LIB_APPLY_STREAM_H_
#define TCACT_CLIENT_LIB_APPLY_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "proto/tcact/v1/action_store.grpc.pb.h"

namespace tcact::client {

struct ApplyOptions {
  // Batches in flight, 1 to 1024 (values outside are taken as the nearest).
  int window = 8;
  // For the whole stream.
  absl::Duration deadline = absl::InfiniteDuration();
};

class ApplyStream {
 public:
  // Runs on the stream's own thread; must not call back into the stream, save Cancel. A slow one
  // slows the stream.
  using OnAnswer = std::function<void(const v1::ApplyResponse&)>;

  // `stub` must outlive the stream.
  ApplyStream(v1::ActionStore::StubInterface* stub, const ApplyOptions& options,
              OnAnswer on_answer);
  // Cancels what is not finished, and waits for the stream's thread.
  ~ApplyStream();
  ApplyStream(const ApplyStream&) = delete;
  ApplyStream& operator=(const ApplyStream&) = delete;

  // Sends a batch; waits while the window is full. Sets the batch_id (1, 2, 3, …) and returns it.
  // An error says that the stream is over: Finish tells why. FAILED_PRECONDITION after Finish.
  absl::StatusOr<uint64_t> Send(v1::ApplyRequest* request);

  // Ends the sending, waits for all answers and returns how the stream ended. OK only if every
  // batch that Send accepted was answered. A second call returns the same.
  absl::Status Finish();

  // Gives up: Send and Finish return soon, Finish with CANCELLED unless all was answered.
  void Cancel();

  // Batches sent and not yet answered.
  int in_flight() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void ReadAnswers();

  const int window_;
  const OnAnswer on_answer_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriterInterface<v1::ApplyRequest, v1::ApplyResponse>> stream_;

  mutable absl::Mutex mu_;
  absl::CondVar changed_;  // answered_ or reader_done_ changed
  uint64_t sent_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t answered_ ABSL_GUARDED_BY(mu_) = 0;
  bool reader_done_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status broken_ ABSL_GUARDED_BY(mu_);  // what this side found wrong, if anything

  // Of the thread that calls Send and Finish.
  bool finished_ = false;
  absl::Status result_;

  std::thread reader_;
};

}  // namespace tcact::client

#endif  // TCACT_CLIENT_LIB_APPLY_STREAM_H_
