#include "server/rpc/dump.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/action_calls.h"
#include "server/rpc/limits.h"
#include "server/rpc/netns.h"
#include "server/rpc/page_token.h"

namespace tcact::rpc {

Problem Dump::Begin(const Context& context, absl::string_view netns, absl::string_view kind,
                    v1::ActionView view, uint64_t used_within_ms, bool poll_hw_stats,
                    uint32_t first) {
  context_ = &context;
  Problem problem = FindNetns(context, netns, &netns_);
  if (problem.ok()) problem = ReadKind(*context.kinds, "kind", kind, &kind_);
  if (!problem.ok()) return problem;
  view_ = view;
  options_.parts = PartsOf(view);
  options_.poll_hw_stats = poll_hw_stats;
  if (used_within_ms != 0) {
    // Fixed here: a filter that moved with the clock would show other actions at the end than at
    // the start.
    const int64_t now_ms = NowMs();
    used_since_ms_ = used_within_ms < static_cast<uint64_t>(now_ms)
                         ? now_ms - static_cast<int64_t>(used_within_ms)
                         : 0;
  }
  next_ = netns_ ? first : 0;
  return {};
}

void Dump::Slice(int max, int max_visits, Actions* actions) {
  const int64_t now_ms = NowMs();
  int added = 0;
  int visits = 0;
  next_ = context_->store->Dump(netns_, kind_, next_, options_, [&](act::Snapshot& snapshot) {
    ++visits;
    if (snapshot.last_used_ms >= used_since_ms_) {
      WriteAction(*context_->kinds, snapshot, view_, now_ms, actions->Add());
      ++added;
    }
    return added < max && visits < max_visits;
  });
}

grpc::Status ListActions(const Context& context, v1::ListActionsRequest* request,
                         v1::ListActionsResponse* response) {
  const std::string filter = absl::StrCat(request->used_within_ms());
  const auto scope = {absl::string_view("actions"), absl::string_view(request->netns()),
                      absl::string_view(request->kind()), absl::string_view(filter)};
  int page_size = 0;
  uint32_t first = 1;
  Problem problem = ReadPageSize(request->page_size(), &page_size);
  if (problem.ok() && !request->page_token().empty()) {
    std::string position;
    problem = ReadPageToken(scope, request->page_token(), &position);
    if (problem.ok() && (!absl::SimpleAtoi(position, &first) || first == 0)) {
      problem = InvalidField("page_token", "not a token of this listing");
    }
  }
  Dump dump;
  if (problem.ok()) {
    problem = dump.Begin(context, request->netns(), request->kind(), request->view(),
                         request->used_within_ms(), false, first);
  }
  if (!problem.ok()) return ToStatus(problem, request->netns());
  if (!dump.done()) dump.Slice(page_size, kMaxPageSize, response->mutable_actions());
  if (!dump.done()) response->set_next_page_token(MakePageToken(scope, absl::StrCat(dump.next())));
  return grpc::Status::OK;
}

}  // namespace tcact::rpc
