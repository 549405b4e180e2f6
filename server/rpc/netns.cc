#include "server/rpc/netns.h"

#include <optional>

#include "server/durable/records.h"

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
  std::optional<durable::Journal::Turn> turn;
  if (context.keeper != nullptr) {
    turn.emplace(context.keeper->journal());
    if (!turn->ok()) return ReadOnly();
  }
  const act::Error error = context.store->OpenNetns(name, netns);
  if (error.ok() && turn) durable::RecordNetns(name, act::Store::QuotaOf(*netns), turn->batch());
  return error.ok() ? Problem() : FromStoreError(error, "", kNoPosition);
}

}  // namespace tcact::rpc
