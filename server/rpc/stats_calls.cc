// UpdateStats: columns in, counters up. No transaction: an update touches only its action's own
// lines.
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/durable/records.h"
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

act::StatsColumns ColumnsOf(const v1::UpdateStatsRequest& request) {
  act::StatsColumns columns;
  columns.indexes = SpanOf(request.indexes());
  columns.packets = SpanOf(request.packets());
  columns.bytes = SpanOf(request.bytes());
  columns.drops = SpanOf(request.drops());
  columns.overlimits = SpanOf(request.overlimits());
  columns.requeues = SpanOf(request.requeues());
  columns.qlen = SpanOf(request.qlen_delta());
  columns.backlog = SpanOf(request.backlog_delta());
  columns.hardware = request.hardware();
  return columns;
}

Problem CheckSource(const v1::UpdateStatsRequest& request) {
  if (request.source().size() > durable::kMaxSourceBytes) {
    return InvalidField("source", absl::StrCat(request.source().size(), " bytes; 0 to ",
                                               durable::kMaxSourceBytes, " are allowed"));
  }
  if (request.source().empty() != (request.sequence() == 0)) {
    return InvalidField("sequence", absl::StrCat(request.sequence(),
                                                 "; 1 to 18446744073709551615 with a source, 0 "
                                                 "without one are allowed"));
  }
  return {};
}

// Counts, once it is sure that this update was not counted before.
void Count(const Context& context, const act::NetnsRef& netns, act::Kind kind,
           const v1::UpdateStatsRequest& request, int64_t now_ms, durable::Batch* batch,
           v1::UpdateStatsResponse* response) {
  std::vector<uint32_t> missing;
  response->set_applied(
      context.store->UpdateStatsBatch(netns, kind, ColumnsOf(request), now_ms, &missing));
  response->mutable_missing()->Add(missing.begin(), missing.end());
  if (batch == nullptr) return;
  absl::flat_hash_set<uint32_t> saved;
  act::Snapshot snapshot;
  for (const uint32_t index : request.indexes()) {
    if (saved.insert(index).second &&
        context.store->SaveStats(netns, kind, index, &snapshot).ok()) {
      durable::RecordStats(request.netns(), snapshot, batch);
    }
  }
}

Problem CountOnce(const Context& context, const act::NetnsRef& netns, act::Kind kind,
                  const v1::UpdateStatsRequest& request, v1::UpdateStatsResponse* response) {
  const int64_t now_ms = NowMs();
  const std::string& source = request.source();
  std::optional<durable::SourceTable::Claim> claim;
  if (!source.empty()) {
    claim.emplace(context.sources, source);
    switch (context.sources->Look(source, request.sequence(), now_ms)) {
      case durable::SourceTable::Verdict::kCount:
        break;
      case durable::SourceTable::Verdict::kCounted:
        response->set_already_counted(true);
        return {};
      case durable::SourceTable::Verdict::kTooMany:
        return QuotaExceeded(absl::StrCat("source: ", durable::SourceTable::kMaxSources,
                                          " sources are in use; retry later"));
    }
  }
  std::optional<durable::Journal::Turn> turn;
  durable::Batch* batch = nullptr;
  if (context.keeper != nullptr) {
    if (context.keeper->journal()->failed()) return ReadOnly();
    if (context.keeper->options().stats_acked) {
      turn.emplace(context.keeper->journal());
      if (!turn->ok()) return ReadOnly();
      batch = turn->batch();
    }
  }
  if (netns) {
    Count(context, netns, kind, request, now_ms, batch, response);
  } else {
    response->mutable_missing()->Reserve(request.indexes_size());
    for (int i = 0; i < request.indexes_size(); ++i)
      response->add_missing(static_cast<uint32_t>(i));
  }
  if (!source.empty()) context.sources->Note(source, request.sequence(), now_ms, batch);
  return {};
}

}  // namespace

grpc::Status UpdateStats(const Context& context, v1::UpdateStatsRequest* request,
                         v1::UpdateStatsResponse* response) {
  act::NetnsRef netns;
  act::Kind kind = 0;
  Problem problem = FindNetns(context, request->netns(), &netns);
  if (problem.ok()) problem = ReadKind(*context.kinds, "kind", request->kind(), &kind);
  if (problem.ok()) problem = CheckColumns(*request);
  if (problem.ok()) problem = CheckSource(*request);
  if (problem.ok()) problem = CountOnce(context, netns, kind, *request, response);
  return ToStatus(problem, request->netns());
}

}  // namespace tcact::rpc
