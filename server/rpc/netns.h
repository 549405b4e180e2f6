// A request's netns: checked, and found or made.
#ifndef TCACT_SERVER_RPC_NETNS_H_
#define TCACT_SERVER_RPC_NETNS_H_

#include "absl/strings/string_view.h"
#include "server/rpc/context.h"
#include "server/rpc/status.h"

namespace tcact::rpc {

// Whether `name` may name a namespace at all. Names that may not are refused in reads too.
Problem CheckNetns(absl::string_view name);

// For reads: *netns is null where there is no such namespace, which is the same as an empty one.
Problem FindNetns(const Context& context, absl::string_view name, act::NetnsRef* netns);

// For what creates. REQUIRES: the rest of the request is valid, so that a bad one makes no
// namespace.
Problem OpenNetns(const Context& context, absl::string_view name, act::NetnsRef* netns);

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_NETNS_H_
