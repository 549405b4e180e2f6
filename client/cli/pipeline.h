// Pipeline: the changes of a batch file, sent ahead of their answers on an Apply stream, so that a
// file of adds costs no round trip a line.
//
// Invariants
//   - What a user sees is what one call a line would show: failures in the order of the lines, each
//     with its own text and line. Without -force nothing behind the first failure is done: the
//     server itself stops there, whatever was sent after it.
//   - Between Drain and the next Add nothing is under way: other commands may run then.
//   - A stream that breaks (no server, no answer in time) ends the batch, also with -force.
//
// Thread safety: not thread-safe. Everything is printed by the thread that calls Add and Drain.
#ifndef TCACT_CLIENT_CLI_PIPELINE_H_
#define TCACT_CLIENT_CLI_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/cli/actions.h"
#include "client/cli/session.h"
#include "client/lib/apply_stream.h"

namespace tcact::cli {

class Pipeline {
 public:
  // `name` stands for the file in "Command failed NAME:LINE". Both must outlive this.
  Pipeline(Session* session, absl::string_view name) : session_(session), name_(name) {}
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Takes the change that stands in `line`. False: the batch is to end, and why was printed.
  bool Add(Change change, size_t line);

  // Sends what was taken and waits for all answers. False as in Add.
  bool Drain();

  // Whether a line failed.
  bool failed() const { return failed_; }

 private:
  // What an operation of a batch on its way belongs to.
  struct Origin {
    size_t line;
    Request request;
  };
  using Origins = std::vector<Origin>;
  struct Failure {
    Origin origin;
    absl::Status status;
  };

  bool Send();
  bool Open();
  // Ends the stream, waits for its answers and prints what failed.
  bool Finish();
  bool PrintFailures();
  void PrintFailure(const Failure& failure);
  bool Broken(const absl::Status& status);
  // On the stream's thread.
  void OnAnswer(const v1::ApplyResponse& answer) ABSL_LOCKS_EXCLUDED(mu_);

  Session* const session_;
  const absl::string_view name_;
  bool failed_ = false;

  // Taken and not yet sent.
  v1::ApplyRequest request_;
  Origins origins_;
  size_t entries_ = 0;
  size_t bytes_ = 0;

  absl::Mutex mu_;
  // Sent and not yet answered.
  std::deque<Origins> under_way_ ABSL_GUARDED_BY(mu_);
  std::vector<Failure> failures_ ABSL_GUARDED_BY(mu_);

  absl::Time opened_;
  // The last member: its thread uses the others.
  std::unique_ptr<client::ApplyStream> stream_;
};

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_PIPELINE_H_
