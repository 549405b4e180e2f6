// The unary calls of ActionStore, through a real server.
#include <vector>

#include "gmock/gmock.h"
#include "tests/server/rpc/server_fixture.h"

namespace tcact::rpc {
namespace {

using ActionCallsTest = ServerTest;

TEST_F(ActionCallsTest, CreateChoosesTheLowestFreeIndex) {
  Fill(3);
  v1::CreateActionsRequest request;
  *request.add_actions() = Gact(0);
  v1::CreateActionsResponse response;
  ASSERT_TRUE(Create(request, &response).ok());
  ASSERT_EQ(response.actions_size(), 1);
  EXPECT_EQ(response.actions(0).index(), 4u);
  EXPECT_EQ(response.actions(0).kind(), "gact");
  EXPECT_EQ(response.actions(0).refcnt(), 1u);
  EXPECT_EQ(response.actions(0).bindcnt(), 0u);
  EXPECT_EQ(response.actions(0).gact().verdict().type(), v1::Verdict::TYPE_DROP);
}

TEST_F(ActionCallsTest, CreateOfAnIndexInUseIsRefused) {
  Fill(1);
  v1::CreateActionsRequest request;
  *request.add_actions() = Gact(1);
  const grpc::Status status = Create(request);
  ExpectError(status, grpc::StatusCode::ALREADY_EXISTS, "ACTION_EXISTS");
  EXPECT_EQ(status.error_message(), "gact index 1: file exists (in use; use replace)");
  EXPECT_EQ(InfoOf(status).metadata().at("index"), "1");
  EXPECT_EQ(InfoOf(status).metadata().at("position"), "0");
}

TEST_F(ActionCallsTest, CreateIsWholeOrNotAtAll) {
  Fill(1);
  v1::CreateActionsRequest request;
  *request.add_actions() = Gact(7);
  *request.add_actions() = Gact(1);
  const grpc::Status status = Create(request);
  ExpectError(status, grpc::StatusCode::ALREADY_EXISTS, "ACTION_EXISTS");
  EXPECT_EQ(InfoOf(status).metadata().at("position"), "1");
  v1::Action action;
  ExpectError(Get(7, &action), grpc::StatusCode::NOT_FOUND, "ACTION_NOT_FOUND");
  EXPECT_EQ(ActionsInAll(), 1u);
}

TEST_F(ActionCallsTest, ReplaceKeepsTheCookieItOmits) {
  v1::CreateActionsRequest create;
  *create.add_actions() = Gact(5);
  create.mutable_actions(0)->set_cookie("0123456789abcdef");
  ASSERT_TRUE(Create(create).ok());
  grpc::ClientContext context;
  v1::ReplaceActionsRequest request;
  v1::ReplaceActionsResponse response;
  *request.add_actions() = Gact(5);
  request.mutable_actions(0)->mutable_gact()->mutable_verdict()->set_type(v1::Verdict::TYPE_PIPE);
  ASSERT_TRUE(actions_->ReplaceActions(&context, request, &response).ok());
  v1::Action action;
  ASSERT_TRUE(Get(5, &action).ok());
  EXPECT_EQ(action.cookie(), "0123456789abcdef");
  EXPECT_EQ(action.gact().verdict().type(), v1::Verdict::TYPE_PIPE);
}

TEST_F(ActionCallsTest, BestEffortReplaceKeepsWhatWasDoneBeforeTheFailure) {
  grpc::ClientContext quota_context;
  v1::SetQuotaRequest quota;
  v1::SetQuotaResponse quota_response;
  quota.set_max_actions(1);
  ASSERT_TRUE(admin_->SetQuota(&quota_context, quota, &quota_response).ok());
  v1::ReplaceActionsRequest request;
  v1::ReplaceActionsResponse response;
  *request.add_actions() = Gact(1);
  *request.add_actions() = Gact(2);
  grpc::ClientContext whole;
  ExpectError(actions_->ReplaceActions(&whole, request, &response),
              grpc::StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED");
  EXPECT_EQ(ActionsInAll(), 0u);
  request.set_best_effort(true);
  grpc::ClientContext in_order;
  ExpectError(actions_->ReplaceActions(&in_order, request, &response),
              grpc::StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED");
  EXPECT_EQ(ActionsInAll(), 1u);
}

TEST_F(ActionCallsTest, ViewsLeaveOutWhatTheySay) {
  Fill(1);
  for (const v1::ActionView view :
       {v1::ACTION_VIEW_TERSE, v1::ACTION_VIEW_BASIC, v1::ACTION_VIEW_TERSE_STATS,
        v1::ACTION_VIEW_FULL, v1::ACTION_VIEW_UNSPECIFIED}) {
    grpc::ClientContext context;
    v1::GetActionRequest request;
    v1::Action action;
    *request.mutable_key() = Key(1);
    request.set_view(view);
    ASSERT_TRUE(actions_->GetAction(&context, request, &action).ok());
    const bool full = view == v1::ACTION_VIEW_FULL || view == v1::ACTION_VIEW_UNSPECIFIED;
    EXPECT_EQ(action.kind(), "gact");
    EXPECT_EQ(action.index(), 1u);
    EXPECT_EQ(action.has_gact(), full || view == v1::ACTION_VIEW_BASIC) << view;
    EXPECT_EQ(action.has_stats(), full || view == v1::ACTION_VIEW_TERSE_STATS) << view;
  }
}

TEST_F(ActionCallsTest, BatchGetAnswersInTheOrderAsked) {
  Fill(3);
  grpc::ClientContext context;
  v1::BatchGetActionsRequest request;
  v1::BatchGetActionsResponse response;
  for (const uint32_t index : {3, 1, 2}) *request.add_keys() = Key(index);
  ASSERT_TRUE(actions_->BatchGetActions(&context, request, &response).ok());
  ASSERT_EQ(response.actions_size(), 3);
  EXPECT_EQ(response.actions(0).index(), 3u);
  EXPECT_EQ(response.actions(2).index(), 2u);
  *request.add_keys() = Key(9);
  grpc::ClientContext again;
  const grpc::Status status = actions_->BatchGetActions(&again, request, &response);
  ExpectError(status, grpc::StatusCode::NOT_FOUND, "ACTION_NOT_FOUND");
  EXPECT_EQ(InfoOf(status).metadata().at("position"), "3");
}

TEST_F(ActionCallsTest, ListGoesThroughAllPagesOnce) {
  Fill(25);
  v1::ListActionsRequest request;
  request.set_kind("gact");
  request.set_page_size(10);
  std::vector<uint32_t> seen;
  int pages = 0;
  do {
    grpc::ClientContext context;
    v1::ListActionsResponse response;
    ASSERT_TRUE(actions_->ListActions(&context, request, &response).ok());
    for (const auto& action : response.actions()) seen.push_back(action.index());
    request.set_page_token(response.next_page_token());
    ASSERT_LE(++pages, 4);
  } while (!request.page_token().empty());
  ASSERT_EQ(seen.size(), 25u);
  for (uint32_t i = 0; i < 25; ++i) EXPECT_EQ(seen[i], i + 1);
}

TEST_F(ActionCallsTest, ATokenOfAnotherListingIsRefused) {
  Fill(5, "red");
  v1::ListActionsRequest request;
  request.set_netns("red");
  request.set_kind("gact");
  request.set_page_size(2);
  v1::ListActionsResponse response;
  grpc::ClientContext first;
  ASSERT_TRUE(actions_->ListActions(&first, request, &response).ok());
  request.set_page_token(response.next_page_token());
  std::vector<v1::ListActionsRequest> others(4, request);
  others[0].set_netns("blue");
  others[1].set_kind("police");
  others[2].set_used_within_ms(1000);
  others[3].set_page_token("garbage");
  for (const auto& other : others) {
    grpc::ClientContext context;
    const grpc::Status status = actions_->ListActions(&context, other, &response);
    ExpectError(status, grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD");
    EXPECT_EQ(InfoOf(status).metadata().at("field"), "page_token");
  }
}

TEST_F(ActionCallsTest, DeleteAnswersWithTheLastStatistics) {
  Fill(2);
  v1::UpdateStatsRequest update;
  update.set_kind("gact");
  update.add_indexes(2);
  update.add_packets(3);
  update.add_bytes(300);
  v1::UpdateStatsResponse updated;
  grpc::ClientContext update_context;
  ASSERT_TRUE(actions_->UpdateStats(&update_context, update, &updated).ok());
  EXPECT_EQ(updated.applied(), 1u);
  grpc::ClientContext context;
  v1::DeleteActionsRequest request;
  v1::DeleteActionsResponse response;
  *request.add_keys() = Key(2);
  ASSERT_TRUE(actions_->DeleteActions(&context, request, &response).ok());
  ASSERT_EQ(response.actions_size(), 1);
  EXPECT_EQ(response.actions(0).stats().packets(), 3u);
  EXPECT_EQ(response.actions(0).stats().bytes(), 300u);
  EXPECT_EQ(ActionsInAll(), 1u);
}

TEST_F(ActionCallsTest, DeleteOfABoundActionIsRefusedAndChangesNothing) {
  Fill(2);
  ASSERT_TRUE(Bind(2).ok());
  grpc::ClientContext context;
  v1::DeleteActionsRequest request;
  v1::DeleteActionsResponse response;
  *request.add_keys() = Key(1);
  *request.add_keys() = Key(2);
  const grpc::Status status = actions_->DeleteActions(&context, request, &response);
  ExpectError(status, grpc::StatusCode::FAILED_PRECONDITION, "ACTION_BOUND");
  EXPECT_EQ(ActionsInAll(), 2u);
  v1::Action action;
  ASSERT_TRUE(Get(2, &action).ok());
  EXPECT_EQ(action.refcnt(), 2u);
  EXPECT_EQ(action.bindcnt(), 1u);
}

TEST_F(ActionCallsTest, BestEffortDeleteStopsAtTheBoundOne) {
  Fill(3);
  ASSERT_TRUE(Bind(2).ok());
  v1::DeleteActionsRequest request;
  v1::DeleteActionsResponse response;
  request.set_best_effort(true);
  for (const uint32_t index : {1, 2, 3}) *request.add_keys() = Key(index);
  grpc::ClientContext context;
  ExpectError(actions_->DeleteActions(&context, request, &response),
              grpc::StatusCode::FAILED_PRECONDITION, "ACTION_BOUND");
  EXPECT_EQ(ActionsInAll(), 2u);
}

TEST_F(ActionCallsTest, BestEffortDeleteWithAMissingIndexDeletesNothing) {
  Fill(1);
  v1::DeleteActionsRequest request;
  v1::DeleteActionsResponse response;
  request.set_best_effort(true);
  for (const uint32_t index : {1, 9}) *request.add_keys() = Key(index);
  grpc::ClientContext context;
  ExpectError(actions_->DeleteActions(&context, request, &response), grpc::StatusCode::NOT_FOUND,
              "ACTION_NOT_FOUND");
  EXPECT_EQ(ActionsInAll(), 1u);
}

// As in the kernel, whose kinds look for the index before they look at the parameters.
TEST_F(ActionCallsTest, ABindOfWhatIsThereNeedsNoParametersOfItsKind) {
  v1::CreateActionsRequest create;
  v1::Action* action = create.add_actions();
  action->set_index(4);
  action->mutable_mpls()->set_operation(v1::Mpls::OPERATION_PUSH);
  action->mutable_mpls()->set_label(77);
  ASSERT_TRUE(Create(create).ok());

  const auto bind = [this](uint32_t index, v1::BindResponse* response) {
    grpc::ClientContext context;
    v1::BindRequest request;
    request.add_actions()->mutable_mpls()->set_operation(v1::Mpls::OPERATION_PUSH);  // no label
    request.mutable_actions(0)->set_index(index);
    request.mutable_actions(0)->set_cookie("new");
    return actions_->Bind(&context, request, response);
  };
  v1::BindResponse response;
  const grpc::Status status = bind(4, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.actions(0).bindcnt(), 1u);
  EXPECT_EQ(response.actions(0).mpls().label(), 77u);
  EXPECT_EQ(response.actions(0).cookie(), "new");

  for (const uint32_t absent : {0, 5}) {
    const grpc::Status refused = bind(absent, &response);
    ExpectError(refused, grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD");
    EXPECT_THAT(refused.error_message(), testing::HasSubstr("actions[0].mpls.label"));
  }
  EXPECT_EQ(ActionsInAll(), 1u);
}

TEST_F(ActionCallsTest, AnActionCreatedByItsBindDiesWithItsLastOne) {
  ASSERT_TRUE(Bind(8).ok());
  v1::Action action;
  ASSERT_TRUE(Get(8, &action).ok());
  EXPECT_EQ(action.refcnt(), 1u);
  EXPECT_EQ(action.bindcnt(), 1u);
  grpc::ClientContext context;
  v1::UnbindRequest request;
  v1::UnbindResponse response;
  *request.add_keys() = Key(8);
  ASSERT_TRUE(actions_->Unbind(&context, request, &response).ok());
  ASSERT_EQ(response.actions_size(), 1);
  EXPECT_EQ(response.actions(0).refcnt(), 0u);
  EXPECT_EQ(ActionsInAll(), 0u);
}

TEST_F(ActionCallsTest, UnbindOfAnUnboundActionIsRefused) {
  Fill(1);
  grpc::ClientContext context;
  v1::UnbindRequest request;
  v1::UnbindResponse response;
  *request.add_keys() = Key(1);
  ExpectError(actions_->Unbind(&context, request, &response), grpc::StatusCode::FAILED_PRECONDITION,
              "ACTION_NOT_BOUND");
}

TEST_F(ActionCallsTest, FlushDeletesAllOfAKind) {
  Fill(1000);
  grpc::ClientContext context;
  v1::FlushActionsRequest request;
  v1::FlushActionsResponse response;
  request.set_kind("gact");
  ASSERT_TRUE(actions_->FlushActions(&context, request, &response).ok());
  EXPECT_EQ(response.deleted(), 1000u);
  EXPECT_EQ(response.stopped_at(), 0u);
  EXPECT_EQ(ActionsInAll(), 0u);
}

TEST_F(ActionCallsTest, BestEffortFlushTellsWhereItStopped) {
  Fill(5);
  ASSERT_TRUE(Bind(3).ok());
  v1::FlushActionsRequest request;
  v1::FlushActionsResponse response;
  request.set_kind("gact");
  grpc::ClientContext whole;
  ExpectError(actions_->FlushActions(&whole, request, &response),
              grpc::StatusCode::FAILED_PRECONDITION, "ACTION_BOUND");
  EXPECT_EQ(ActionsInAll(), 5u);
  request.set_best_effort(true);
  grpc::ClientContext in_order;
  ASSERT_TRUE(actions_->FlushActions(&in_order, request, &response).ok());
  EXPECT_EQ(response.deleted(), 2u);
  EXPECT_EQ(response.stopped_at(), 3u);
}

TEST_F(ActionCallsTest, FlushOfANamespaceThatIsNotThereSucceeds) {
  grpc::ClientContext context;
  v1::FlushActionsRequest request;
  v1::FlushActionsResponse response;
  request.set_netns("nowhere");
  request.set_kind("gact");
  ASSERT_TRUE(actions_->FlushActions(&context, request, &response).ok());
  EXPECT_EQ(response.deleted(), 0u);
}

TEST_F(ActionCallsTest, UpdateStatsTellsWhatItDidNotFind) {
  Fill(2);
  grpc::ClientContext context;
  v1::UpdateStatsRequest request;
  v1::UpdateStatsResponse response;
  request.set_kind("gact");
  for (const uint32_t index : {1, 77, 2, 1}) request.add_indexes(index);
  for (int i = 0; i < 4; ++i) request.add_packets(10);
  ASSERT_TRUE(actions_->UpdateStats(&context, request, &response).ok());
  EXPECT_EQ(response.applied(), 3u);
  ASSERT_EQ(response.missing_size(), 1);
  EXPECT_EQ(response.missing(0), 1u);
  v1::Action action;
  ASSERT_TRUE(Get(1, &action).ok());
  EXPECT_EQ(action.stats().packets(), 20u);
}

TEST_F(ActionCallsTest, UpdateStatsOfManyEntriesRunsOnTheWorkerAndCountsAll) {
  Fill(100);
  grpc::ClientContext context;
  v1::UpdateStatsRequest request;
  v1::UpdateStatsResponse response;
  request.set_kind("gact");
  for (int i = 0; i < kInlineStatsEntries * 2; ++i) {
    request.add_indexes(static_cast<uint32_t>(i % 100) + 1);
    request.add_bytes(1);
  }
  ASSERT_TRUE(actions_->UpdateStats(&context, request, &response).ok());
  EXPECT_EQ(response.applied(), static_cast<uint64_t>(kInlineStatsEntries) * 2);
}

TEST_F(ActionCallsTest, CountersStopAtTheirLargestValue) {
  Fill(1);
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext context;
    v1::UpdateStatsRequest request;
    v1::UpdateStatsResponse response;
    request.set_kind("gact");
    request.add_indexes(1);
    request.add_bytes(kMaxDelta);
    ASSERT_TRUE(actions_->UpdateStats(&context, request, &response).ok());
  }
  v1::Action action;
  ASSERT_TRUE(Get(1, &action).ok());
  EXPECT_EQ(action.stats().bytes(), UINT64_MAX);
}

TEST_F(ActionCallsTest, ResetStatsSetsCountersToZero) {
  Fill(1);
  v1::UpdateStatsRequest update;
  v1::UpdateStatsResponse updated;
  update.set_kind("gact");
  update.add_indexes(1);
  update.add_drops(4);
  grpc::ClientContext update_context;
  ASSERT_TRUE(actions_->UpdateStats(&update_context, update, &updated).ok());
  grpc::ClientContext context;
  v1::ResetStatsRequest request;
  v1::ResetStatsResponse response;
  *request.add_keys() = Key(1);
  ASSERT_TRUE(actions_->ResetStats(&context, request, &response).ok());
  v1::Action action;
  ASSERT_TRUE(Get(1, &action).ok());
  EXPECT_EQ(action.stats().drops(), 0u);
}

TEST_F(ActionCallsTest, NamespacesDoNotSeeEachOther) {
  Fill(1, "red");
  v1::Action action;
  EXPECT_TRUE(Get(1, &action, "red").ok());
  ExpectError(Get(1, &action, "blue"), grpc::StatusCode::NOT_FOUND, "ACTION_NOT_FOUND");
  ExpectError(Get(1, &action), grpc::StatusCode::NOT_FOUND, "ACTION_NOT_FOUND");
}

}  // namespace
}  // namespace tcact::rpc
