// grpc.health.v1 through a real server.
#include "server/rpc/health_calls.h"

#include <thread>

#include "tests/server/rpc/server_fixture.h"

namespace tcact::rpc {
namespace {

using grpc::StatusCode;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class HealthCallsTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    health_ = grpc::health::v1::Health::NewStub(channel_);
  }

  grpc::Status Check(const std::string& service, HealthCheckResponse* response) {
    grpc::ClientContext context;
    HealthCheckRequest request;
    request.set_service(service);
    return health_->Check(&context, request, response);
  }

  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> Watch(grpc::ClientContext* context,
                                                                 const std::string& service) {
    context->set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(30)));
    HealthCheckRequest request;
    request.set_service(service);
    return health_->Watch(context, request);
  }

  std::unique_ptr<grpc::health::v1::Health::Stub> health_;
};

TEST_F(HealthCallsTest, TheServerAndEachOfItsServicesServe) {
  for (const char* service : {"", "tcact.v1.ActionStore", "tcact.v1.Admin"}) {
    HealthCheckResponse response;
    ASSERT_TRUE(Check(service, &response).ok()) << service;
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << service;
  }
}

TEST_F(HealthCallsTest, AServiceThatIsNotThereIsNotFound) {
  HealthCheckResponse response;
  const grpc::Status status = Check("no.such.Service", &response);
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(),
            "service: unknown; tcact.v1.ActionStore, tcact.v1.Admin and \"\" (all) are known");
}

TEST_F(HealthCallsTest, AWatchOfAnUnknownServiceSaysSoAndStays) {
  grpc::ClientContext context;
  auto reader = Watch(&context, "no.such.Service");
  HealthCheckResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);
  context.TryCancel();
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::CANCELLED);
}

TEST_F(HealthCallsTest, AWatchIsToldOfADrainAndThenEnds) {
  grpc::ClientContext context;
  auto reader = Watch(&context, "");
  HealthCheckResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  const absl::Time start = absl::Now();
  std::thread drain([this] { server_->Shutdown(absl::Seconds(20)); });
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::UNAVAILABLE);
  drain.join();
  // The watch does not hold the drain up.
  EXPECT_LT(absl::Now() - start, absl::Seconds(15));
}

TEST_F(HealthCallsTest, WatchesThatTheirClientsLeaveFreeTheirSeats) {
  for (int i = 0; i < kMaxHealthWatches + 100; ++i) {
    grpc::ClientContext context;
    auto reader = Watch(&context, "");
    HealthCheckResponse response;
    // A seat is free again once the server has seen the cancel.
    ASSERT_TRUE(reader->Read(&response)) << i << ": " << reader->Finish().error_message();
    context.TryCancel();
    while (reader->Read(&response)) {
    }
    (void)reader->Finish();
  }
}

TEST_F(HealthCallsTest, MoreWatchesThanAllowedAreRefused) {
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<HealthCheckResponse>>> readers;
  // Two connections, for one takes kMaxStreamsPerConnection streams.
  const auto other = grpc::health::v1::Health::NewStub(NewChannel());
  HealthCheckResponse response;
  for (int i = 0; i < kMaxHealthWatches; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(i % 2 == 0 ? Watch(contexts.back().get(), "")
                                 : other->Watch(contexts.back().get(), HealthCheckRequest()));
    ASSERT_TRUE(readers.back()->Read(&response)) << i;
  }
  grpc::ClientContext context;
  auto refused = Watch(&context, "");
  EXPECT_FALSE(refused->Read(&response));
  ExpectError(refused->Finish(), StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED");
  for (auto& each : contexts) each->TryCancel();
  for (auto& each : readers) {
    while (each->Read(&response)) {
    }
    (void)each->Finish();
  }
}

}  // namespace
}  // namespace tcact::rpc
