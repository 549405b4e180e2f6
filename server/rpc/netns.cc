#include "server/rpc/netns.h"

namespace tcact::rpc {

Problem CheckNetns(absl::string_view name) {
  if (act::Store::ValidNetnsName(name)) return {};
  act::Error error;
  error.code = act::Errc::kBadName;
  return FromStoreError(error, "", kNoPosition);
}

Problem FindNetns(const Context& context, absl::string_view name, act::NetnsRef* netns) {
  *netns = context.store->FindNetns(name);
  // A name that is found is valid: the usual way costs one look-up.
  return *netns ? Problem() : CheckNetns(name);
}

Problem OpenNetns(const Context& context, absl::string_view name, act::NetnsRef* netns) {
  *netns = context.store->FindNetns(name);
  if (*netns) return {};
  const act::Error error = context.store->OpenNetns(name, netns);
  return error.ok() ? Problem() : FromStoreError(error, "", kNoPosition);
}

}  // namespace tcact::rpc
