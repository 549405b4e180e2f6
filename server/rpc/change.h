// The path of a change through the server. Every call that changes actions goes through here, so
// that "recorded before answered" is true in one place.
//
// With a keeper each of these is one turn of its journal, in which the change is made and its
// records are appended; when they return, memory has changed and the records wait to be committed.
// The answer waits for that in the loop's gate (docs/adr/0010). Without one nothing is recorded and
// nothing costs. Once the journal has failed, all of them answer READ_ONLY.
#ifndef TCACT_SERVER_RPC_CHANGE_H_
#define TCACT_SERVER_RPC_CHANGE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/rpc/context.h"
#include "server/rpc/status.h"

namespace tcact::rpc {

// Does all `ops` or none. `list` names their place in the request, for errors. `sink` is told each
// result in order. REQUIRES: netns.
Problem ChangeAll(const Context& context, const act::NetnsRef& netns, absl::Span<const act::Op> ops,
                  int64_t now_ms, act::SnapshotParts parts, act::Store::ResultSink sink);

// Does one. *snapshot (by `parts`) is the action as it is then, or was when it died. REQUIRES:
// netns.
Problem ChangeOne(const Context& context, const act::NetnsRef& netns, const act::Op& op,
                  int position, int64_t now_ms, act::SnapshotParts parts, act::Snapshot* snapshot);

// Does one and tells its index only: cheaper.
Problem ChangeOne(const Context& context, const act::NetnsRef& netns, const act::Op& op,
                  int position, int64_t now_ms, uint32_t* index);

// Adds to one action's counters; recorded at once only with acknowledged statistics. REQUIRES:
// netns.
Problem CountOne(const Context& context, const act::NetnsRef& netns, const act::Spec& spec,
                 int position, const act::StatsDelta& delta, int64_t now_ms);

// Deletes all actions of a kind; as Store::PrepareFlush. REQUIRES: netns.
Problem Flush(const Context& context, const act::NetnsRef& netns, act::Kind kind,
              bool stop_at_bound, uint64_t* deleted, uint32_t* stopped_at);

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_CHANGE_H_
