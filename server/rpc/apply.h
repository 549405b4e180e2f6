// One batch of Apply: mixed operations, done in order, each by itself. No gRPC streams in here.
#ifndef TCACT_SERVER_RPC_APPLY_H_
#define TCACT_SERVER_RPC_APPLY_H_

#include <string>

#include "proto/tcact/v1/action_store.pb.h"
#include "server/rpc/context.h"
#include "server/rpc/status.h"

namespace tcact::rpc {

// Applies batches, one after the other. Keeps what they may share, so that an operation allocates
// nothing of its own. Not thread safe; one for each stream.
class Applier {
 public:
  explicit Applier(const Context& context) : context_(context) {}

  // Fills an empty *response. The request's actions are normalized in place. Not OK: the batch as a
  // whole is refused and nothing of it was done.
  Problem Apply(v1::ApplyRequest* request, v1::ApplyResponse* response);

  // Not OK: the last batch asked to stop at an error, and this is it. No further batch may be
  // applied.
  const Problem& stopped() const { return stopped_; }

 private:
  struct Batch;

  Problem One(Batch* batch, int position, v1::Operation* operation, uint32_t* index);
  Problem Change(Batch* batch, int position, act::OpType type, v1::Action* action, uint32_t* index);
  Problem CreateAll(Batch* batch, int position, v1::Operation::Actions* actions, uint32_t* index);
  Problem ChangeKey(Batch* batch, int position, act::OpType type, const v1::ActionKey& key,
                    bool show);
  Problem Get(Batch* batch, int position, const v1::ActionKey& key);
  Problem AddStats(Batch* batch, int position, const v1::Operation::Stats& stats);
  Problem Open(Batch* batch);

  const Context& context_;
  std::string params_;
  act::Snapshot snapshot_;
  Problem stopped_;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_APPLY_H_
