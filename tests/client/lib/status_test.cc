#include "client/lib/status.h"

#include "gtest/gtest.h"
#include "tests/client/lib/fake_server.h"

namespace tcact::client {
namespace {

TEST(StatusTest, KeepsCodeAndMessage) {
  const absl::Status status = FromGrpc({grpc::StatusCode::NOT_FOUND, "no action 7"});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "no action 7");
}

TEST(StatusTest, OkStaysOk) { EXPECT_TRUE(FromGrpc(grpc::Status::OK).ok()); }

TEST(StatusTest, KeepsReasonDomainAndMetadata) {
  const absl::Status status = FromGrpc(
      WithReason(grpc::StatusCode::ALREADY_EXISTS, "in use", "ACTION_EXISTS", {{"index", "7"}}));
  const auto info = GetErrorInfo(status);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->reason(), "ACTION_EXISTS");
  EXPECT_EQ(info->domain(), "tcact");
  EXPECT_EQ(info->metadata().at("index"), "7");
  EXPECT_EQ(Reason(status), "ACTION_EXISTS");
}

TEST(StatusTest, SurvivesDetailsThatAreNoMessage) {
  const absl::Status status = FromGrpc({grpc::StatusCode::INTERNAL, "x", std::string("\xff\xff")});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(GetErrorInfo(status).has_value());
  EXPECT_EQ(Reason(status), "");
}

TEST(StatusTest, SkipsDetailsOfOtherTypes) {
  v1::StatusDetails details;
  details.add_details()->set_type_url("type.googleapis.com/google.rpc.Help");
  const absl::Status status =
      FromGrpc({grpc::StatusCode::INTERNAL, "x", details.SerializeAsString()});
  EXPECT_FALSE(GetErrorInfo(status).has_value());
}

}  // namespace
}  // namespace tcact::client
