// UpdateStats: columns in, counters up. No transaction: an update touches only its action's own
// lines.
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/rpc/action_calls.h"
#include "server/rpc/limits.h"
#include "server/rpc/netns.h"

namespace tcact::rpc {
namespace {

template <typename Column>
Problem CheckLength(absl::string_view field, const Column& column, int entries) {
  if (column.empty() || column.size() == entries) return {};
  return InvalidField(field, absl::StrCat(column.size(), " entries; 0 or as many as indexes (",
                                          entries, ") are allowed"));
}

// Looks at the top bits of all values first: a loop that the compiler makes wide.
Problem CheckDeltas(absl::string_view field,
                    const google::protobuf::RepeatedField<uint64_t>& column) {
  uint64_t bits = 0;
  for (const uint64_t value : column) bits |= value;
  if (bits <= kMaxDelta) return {};
  for (int i = 0; i < column.size(); ++i) {
    if (column[i] <= kMaxDelta) continue;
    Problem problem = InvalidField(absl::StrCat(field, "[", i, "]"),
                                   absl::StrCat(column[i], "; 0 to ", kMaxDelta, " are allowed"));
    problem->position = i;
    return problem;
  }
  return {};
}

Problem CheckColumns(const v1::UpdateStatsRequest& request) {
  const int entries = request.indexes_size();
  if (entries < 1 || entries > kMaxStatsEntries)
    return BatchTooLarge("indexes", entries, kMaxStatsEntries);
  Problem problems[] = {
      CheckLength("packets", request.packets(), entries),
      CheckLength("bytes", request.bytes(), entries),
      CheckLength("drops", request.drops(), entries),
      CheckLength("overlimits", request.overlimits(), entries),
      CheckLength("requeues", request.requeues(), entries),
      CheckLength("qlen_delta", request.qlen_delta(), entries),
      CheckLength("backlog_delta", request.backlog_delta(), entries),
      CheckDeltas("packets", request.packets()),
      CheckDeltas("bytes", request.bytes()),
      CheckDeltas("drops", request.drops()),
  };
  for (Problem& problem : problems) {
    if (!problem.ok()) return std::move(problem);
  }
  return {};
}

template <typename T>
absl::Span<const T> SpanOf(const google::protobuf::RepeatedField<T>& column) {
  return {column.data(), static_cast<size_t>(column.size())};
}

}  // namespace

grpc::Status UpdateStats(const Context& context, v1::UpdateStatsRequest* request,
                         v1::UpdateStatsResponse* response) {
  act::NetnsRef netns;
  act::Kind kind = 0;
  Problem problem = FindNetns(context, request->netns(), &netns);
  if (problem.ok()) problem = ReadKind(*context.kinds, "kind", request->kind(), &kind);
  if (problem.ok()) problem = CheckColumns(*request);
  if (!problem.ok()) return ToStatus(problem, request->netns());

  const int entries = request->indexes_size();
  if (!netns) {
    response->mutable_missing()->Reserve(entries);
    for (int i = 0; i < entries; ++i) response->add_missing(static_cast<uint32_t>(i));
    return grpc::Status::OK;
  }
  act::StatsColumns columns;
  columns.indexes = SpanOf(request->indexes());
  columns.packets = SpanOf(request->packets());
  columns.bytes = SpanOf(request->bytes());
  columns.drops = SpanOf(request->drops());
  columns.overlimits = SpanOf(request->overlimits());
  columns.requeues = SpanOf(request->requeues());
  columns.qlen = SpanOf(request->qlen_delta());
  columns.backlog = SpanOf(request->backlog_delta());
  columns.hardware = request->hardware();
  std::vector<uint32_t> missing;
  response->set_applied(context.store->UpdateStatsBatch(netns, kind, columns, NowMs(), &missing));
  response->mutable_missing()->Add(missing.begin(), missing.end());
  return grpc::Status::OK;
}

}  // namespace tcact::rpc
