#include "client/lib/client.h"

#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "client/lib/status.h"
#include "gtest/gtest.h"
#include "tests/client/lib/fake_server.h"

namespace tcact::client {
namespace {

std::unique_ptr<Client> ConnectTo(const std::string& address,
                                  absl::Duration deadline = absl::Seconds(10)) {
  Options options;
  options.channel.address = address;
  options.channel.own_connection = true;
  options.deadline = deadline;
  options.retry.first_backoff = absl::Milliseconds(5);
  auto client = Client::Connect(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

v1::GetActionRequest GetGact(uint32_t index) {
  v1::GetActionRequest request;
  request.mutable_key()->set_kind("gact");
  request.mutable_key()->set_index(index);
  return request;
}

TEST(ClientTest, ReturnsTheResponse) {
  FakeServer fake;
  fake.store.on_get = [](const v1::GetActionRequest& request, v1::Action* action) {
    action->set_index(request.key().index());
    return grpc::Status::OK;
  };
  const auto action = ConnectTo(fake.address())->GetAction(GetGact(7));
  ASSERT_TRUE(action.ok()) << action.status();
  EXPECT_EQ(action->index(), 7u);
}

TEST(ClientTest, AnErrorCarriesItsReason) {
  FakeServer fake;
  fake.store.on_get = [](const v1::GetActionRequest&, v1::Action*) {
    return WithReason(grpc::StatusCode::NOT_FOUND, "no gact 7", "ACTION_NOT_FOUND",
                      {{"index", "7"}});
  };
  const auto action = ConnectTo(fake.address())->GetAction(GetGact(7));
  EXPECT_EQ(action.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Reason(action.status()), "ACTION_NOT_FOUND");
  EXPECT_EQ(fake.store.gets, 1) << "only UNAVAILABLE is retried";
}

TEST(ClientTest, AReadIsRetriedWhileUnavailable) {
  FakeServer fake;
  fake.store.on_get = [&](const v1::GetActionRequest&, v1::Action*) {
    return fake.store.gets < 3 ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "not yet")
                               : grpc::Status::OK;
  };
  EXPECT_TRUE(ConnectTo(fake.address())->GetAction(GetGact(1)).ok());
  EXPECT_EQ(fake.store.gets, 3);
}

TEST(ClientTest, AReadIsGivenUpAfterItsAttempts) {
  FakeServer fake;
  fake.store.on_get = [](const v1::GetActionRequest&, v1::Action*) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "never");
  };
  EXPECT_EQ(ConnectTo(fake.address())->GetAction(GetGact(1)).status().message(), "never");
  EXPECT_EQ(fake.store.gets, 4);
}

TEST(ClientTest, AChangeIsSentOnce) {
  FakeServer fake;
  fake.store.on_create = [](const v1::CreateActionsRequest&, v1::CreateActionsResponse*) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "going down");
  };
  EXPECT_EQ(ConnectTo(fake.address())->CreateActions({}).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(fake.store.creates, 1);
}

TEST(ClientTest, ACallEndsAtItsDeadline) {
  FakeServer fake;
  fake.store.on_get = [](const v1::GetActionRequest&, v1::Action*) {
    absl::SleepFor(absl::Seconds(1));
    return grpc::Status::OK;
  };
  const absl::Time start = absl::Now();
  const auto action = ConnectTo(fake.address(), absl::Milliseconds(100))->GetAction(GetGact(1));
  EXPECT_EQ(action.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_LT(absl::Now() - start, absl::Milliseconds(900));
}

TEST(ClientTest, AnAbsentServerIsUnavailableAndFoundOnceItIsThere) {
  const std::string address = FakeServer::NewAddress();
  auto client = ConnectTo(address);
  EXPECT_EQ(client->GetServerInfo({}).status().code(), absl::StatusCode::kUnavailable);
  FakeServer fake(address);
  absl::StatusOr<v1::GetServerInfoResponse> info;
  for (int i = 0; i < 100 && !info.ok(); ++i) {
    absl::SleepFor(absl::Milliseconds(20));
    info = client->GetServerInfo({});
  }
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->version(), "fake");
}

TEST(ClientTest, HealthTellsServingFromNotServingFromUnknown) {
  FakeServer fake;
  auto client = ConnectTo(fake.address());
  EXPECT_TRUE(client->CheckHealth().ok()) << client->CheckHealth();
  fake.server()->GetHealthCheckService()->SetServingStatus(false);
  EXPECT_EQ(client->CheckHealth().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(client->CheckHealth("no.such.Service").code(), absl::StatusCode::kNotFound);
}

TEST(ClientTest, OptionsOutsideTheirRangesAreRefused) {
  EXPECT_FALSE(Client::Connect({.deadline = absl::ZeroDuration()}).ok());
  EXPECT_FALSE(Client::Connect({.channel = {.address = "nowhere"}}).ok());
  EXPECT_FALSE(Client::Connect({.retry = {.max_attempts = 0}}).ok());
}

TEST(ClientTest, ManyThreadsShareOneClient) {
  FakeServer fake;
  fake.store.on_get = [](const v1::GetActionRequest& request, v1::Action* action) {
    action->set_index(request.key().index());
    return grpc::Status::OK;
  };
  auto client = ConnectTo(fake.address());
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 1; i <= 25; ++i) {
        const auto action = client->GetAction(GetGact(t * 100 + i));
        if (action.ok() && action->index() == t * 100 + i) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 100);
}

TEST(DumpStreamTest, ReadsAllMessagesThenTheStatus) {
  FakeServer fake;
  fake.store.on_dump = [](FakeStore::DumpWriter* writer) {
    for (uint32_t i = 1; i <= 3; ++i) {
      v1::DumpActionsResponse batch;
      batch.add_actions()->set_index(i);
      writer->Write(batch);
    }
    return WithReason(grpc::StatusCode::RESOURCE_EXHAUSTED, "enough", "QUOTA_EXCEEDED");
  };
  auto client = ConnectTo(fake.address());
  auto dump = client->DumpActions({});
  std::vector<uint32_t> seen;
  v1::DumpActionsResponse batch;
  while (dump->Next(&batch)) seen.push_back(batch.actions(0).index());
  EXPECT_EQ(seen, (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(Reason(dump->Finish()), "QUOTA_EXCEEDED");
  EXPECT_EQ(Reason(dump->Finish()), "QUOTA_EXCEEDED") << "a second Finish says the same";
}

TEST(DumpStreamTest, OneThatIsLeftEndsAtOnce) {
  FakeServer fake;
  fake.store.on_dump = [](FakeStore::DumpWriter* writer) {
    v1::DumpActionsResponse batch;
    batch.add_actions()->set_cookie(std::string(1 << 16, 'x'));
    while (writer->Write(batch)) {
    }
    return grpc::Status::OK;
  };
  auto client = ConnectTo(fake.address());
  auto dump = client->DumpActions({});
  v1::DumpActionsResponse batch;
  ASSERT_TRUE(dump->Next(&batch));
  const absl::Time start = absl::Now();
  EXPECT_EQ(dump->Finish().code(), absl::StatusCode::kCancelled);
  EXPECT_LT(absl::Now() - start, absl::Seconds(1));
}

}  // namespace
}  // namespace tcact::client
