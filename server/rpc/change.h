// The path of a change through the server: prepare, record, commit. Every call that changes actions
// goes through here, so that "recorded before committed" is true in one place.
//
// With --store=memory there is nothing to record; docs/adr/0006 says where the durable store will
// stand.
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

// Deletes all actions of a kind; as Store::PrepareFlush. REQUIRES: netns.
Problem Flush(const Context& context, const act::NetnsRef& netns, act::Kind kind,
              bool stop_at_bound, uint64_t* deleted, uint32_t* stopped_at);

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_CHANGE_H_
