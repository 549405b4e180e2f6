// Dump: one walk over a kind's table, resumed slice by slice. ListActions is one slice, DumpActions
// many.
//
// A walk resumes from an index, never from a position, so an action that lives through the whole of
// it is shown exactly once.
#ifndef TCACT_SERVER_RPC_DUMP_H_
#define TCACT_SERVER_RPC_DUMP_H_

#include <cstdint>

#include "proto/tcact/v1/action_store.pb.h"
#include "server/rpc/context.h"
#include "server/rpc/status.h"

namespace tcact::rpc {

// Not thread safe.
class Dump {
 public:
  using Actions = google::protobuf::RepeatedPtrField<v1::Action>;

  // An empty one, done.
  Dump() = default;

  // Begins at index `first`. used_within_ms 0: all.
  Problem Begin(const Context& context, absl::string_view netns, absl::string_view kind,
                v1::ActionView view, uint64_t used_within_ms, bool poll_hw_stats, uint32_t first);

  bool done() const { return next_ == 0; }
  // The index to go on from; 0 when done.
  uint32_t next() const { return next_; }

  // Adds at most `max` actions to *actions and looks at about `max_visits`, so that a filter that
  // leaves all out does not hold its thread. Times are of now. REQUIRES: not done.
  void Slice(int max, int max_visits, Actions* actions);

 private:
  const Context* context_ = nullptr;
  act::NetnsRef netns_;
  act::Kind kind_ = 0;
  v1::ActionView view_ = v1::ACTION_VIEW_UNSPECIFIED;
  act::DumpOptions options_;
  int64_t used_since_ms_ = INT64_MIN;
  uint32_t next_ = 0;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_DUMP_H_
