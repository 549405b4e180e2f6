// What a client may send wrong: each gets a clear error, and nothing is changed.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "absl/strings/numbers.h"
#include "tests/server/rpc/server_fixture.h"

namespace tcact::rpc {
namespace {

using grpc::StatusCode;

class BadInputTest : public ServerTest {
 protected:
  // The create of one action, made bad by `change`.
  grpc::Status CreateBad(const std::function<void(v1::CreateActionsRequest*)>& change) {
    v1::CreateActionsRequest request;
    *request.add_actions() = Gact(1);
    change(&request);
    return Create(request);
  }

  grpc::Status Update(const std::function<void(v1::UpdateStatsRequest*)>& change) {
    v1::UpdateStatsRequest request;
    v1::UpdateStatsResponse response;
    request.set_kind("gact");
    request.add_indexes(1);
    request.add_indexes(2);
    change(&request);
    grpc::ClientContext context;
    return actions_->UpdateStats(&context, request, &response);
  }

  void ExpectField(const grpc::Status& status, const std::string& field) {
    ExpectError(status, StatusCode::INVALID_ARGUMENT, "INVALID_FIELD");
    EXPECT_EQ(InfoOf(status).metadata().at("field"), field) << status.error_message();
  }

  void ExpectNothingChanged() {
    EXPECT_EQ(ActionsInAll(), 0u);
    EXPECT_EQ(store_->NetnsCount(), 0u);
  }
};

TEST_F(BadInputTest, ActionWithoutAKindThatIsKnown) {
  ExpectError(CreateBad([](auto* request) { request->mutable_actions(0)->clear_params(); }),
              StatusCode::INVALID_ARGUMENT, "UNKNOWN_KIND");
  ExpectNothingChanged();
}

TEST_F(BadInputTest, KeyOfAnUnknownKind) {
  grpc::ClientContext context;
  v1::GetActionRequest request;
  v1::Action action;
  *request.mutable_key() = Key(1, "nosuch");
  const grpc::Status status = actions_->GetAction(&context, request, &action);
  ExpectError(status, StatusCode::INVALID_ARGUMENT, "UNKNOWN_KIND");
  EXPECT_EQ(status.error_message(), "key.kind: unknown kind \"nosuch\"");
}

TEST_F(BadInputTest, KindOfAMegabyteIsNotEchoed) {
  grpc::ClientContext context;
  v1::GetActionRequest request;
  v1::Action action;
  *request.mutable_key() = Key(1, std::string(1 << 20, 'x'));
  const grpc::Status status = actions_->GetAction(&context, request, &action);
  ExpectError(status, StatusCode::INVALID_ARGUMENT, "UNKNOWN_KIND");
  EXPECT_LT(status.error_message().size(), 200u);
}

TEST_F(BadInputTest, IndexZeroInAKey) {
  v1::DeleteActionsRequest request;
  v1::DeleteActionsResponse response;
  *request.add_keys() = Key(0);
  grpc::ClientContext context;
  ExpectField(actions_->DeleteActions(&context, request, &response), "keys[0].index");
}

TEST_F(BadInputTest, CookieOf17Bytes) {
  const grpc::Status status = CreateBad(
      [](auto* request) { request->mutable_actions(0)->set_cookie(std::string(17, 'c')); });
  ExpectField(status, "actions[0].cookie");
  EXPECT_EQ(status.error_message(), "actions[0].cookie: 17 bytes; 0 to 16 are allowed");
  ExpectNothingChanged();
}

TEST_F(BadInputTest, CookieOf16BytesIsTaken) {
  EXPECT_TRUE(CreateBad([](auto* request) {
                request->mutable_actions(0)->set_cookie(std::string(16, 'c'));
              }).ok());
}

TEST_F(BadInputTest, HwStatsOutOfRange) {
  ExpectField(CreateBad([](auto* request) {
                request->mutable_actions(0)->set_hw_stats(static_cast<v1::HwStats>(9));
              }),
              "actions[0].hw_stats");
  ExpectNothingChanged();
}

TEST_F(BadInputTest, SkipSwWithoutHardware) {
  ExpectError(CreateBad([](auto* request) { request->mutable_actions(0)->set_skip_sw(true); }),
              StatusCode::INVALID_ARGUMENT, "NOT_OFFLOADABLE");
  ExpectNothingChanged();
}

TEST_F(BadInputTest, GotoChainOutsideAFilter) {
  const auto go = [](auto* request) {
    request->mutable_actions(0)->mutable_gact()->mutable_verdict()->set_type(
        v1::Verdict::TYPE_GOTO_CHAIN);
  };
  ExpectError(CreateBad(go), StatusCode::INVALID_ARGUMENT, "INVALID_FIELD");
  ExpectNothingChanged();
}

TEST_F(BadInputTest, BatchOf4097) {
  v1::CreateActionsRequest request;
  for (int i = 0; i < 4097; ++i) *request.add_actions() = Gact(0);
  ExpectError(Create(request), StatusCode::INVALID_ARGUMENT, "BATCH_TOO_LARGE");
  ExpectNothingChanged();
  request.mutable_actions()->RemoveLast();
  EXPECT_TRUE(Create(request).ok());
}

TEST_F(BadInputTest, EmptyBatch) {
  ExpectError(CreateBad([](auto* request) { request->clear_actions(); }),
              StatusCode::INVALID_ARGUMENT, "BATCH_TOO_LARGE");
}

TEST_F(BadInputTest, RequestOverTheMessageLimit) {
  const grpc::Status status = CreateBad([](auto* request) {
    request->mutable_actions(0)->set_cookie(std::string(kMaxMessageBytes + 1, 'x'));
  });
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  ExpectNothingChanged();
}

TEST_F(BadInputTest, NamespaceNames) {
  for (const std::string& name :
       {std::string("a\nb"), std::string("a/b"), std::string("."), std::string(".."),
        std::string(1000, 'n'), std::string("a\0b", 3), std::string("del\x7f")}) {
    ExpectField(CreateBad([&name](auto* request) { request->set_netns(name); }), "netns");
    v1::Action action;
    ExpectField(Get(1, &action, name), "netns");
  }
  ExpectNothingChanged();
}

TEST_F(BadInputTest, DuplicateIndexInOneBatch) {
  const grpc::Status status = CreateBad([](auto* request) { *request->add_actions() = Gact(1); });
  ExpectError(status, StatusCode::ABORTED, "DUPLICATE_INDEX");
  EXPECT_EQ(ActionsInAll(), 0u);
}

TEST_F(BadInputTest, ColumnsOfUnequalLength) {
  Fill(2);
  ExpectField(Update([](auto* request) { request->add_packets(1); }), "packets");
  ExpectField(Update([](auto* request) {
                for (int i = 0; i < 3; ++i) request->add_backlog_delta(1);
              }),
              "backlog_delta");
  v1::Action action;
  ASSERT_TRUE(Get(1, &action).ok());
  EXPECT_EQ(action.stats().packets(), 0u);
}

TEST_F(BadInputTest, DeltasOf2To63) {
  Fill(2);
  ExpectField(Update([](auto* request) {
                request->add_bytes(1);
                request->add_bytes(uint64_t{1} << 63);
              }),
              "bytes[1]");
  v1::Action action;
  ASSERT_TRUE(Get(1, &action).ok());
  EXPECT_EQ(action.stats().bytes(), 0u);
}

TEST_F(BadInputTest, UpdateStatsOfOneMillionAndOneEntries) {
  ExpectError(
      Update([](auto* request) { request->mutable_indexes()->Resize(kMaxStatsEntries + 1, 1); }),
      StatusCode::INVALID_ARGUMENT, "BATCH_TOO_LARGE");
}

TEST_F(BadInputTest, NegativePageSize) {
  v1::ListActionsRequest request;
  v1::ListActionsResponse response;
  request.set_kind("gact");
  request.set_page_size(-1);
  grpc::ClientContext context;
  ExpectField(actions_->ListActions(&context, request, &response), "page_size");
}

TEST_F(BadInputTest, GarbageOnThePort) {
  const std::string& address = server_->addresses()[0];
  int port = 0;
  ASSERT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  const timeval patience{20, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  std::string garbage(64 << 10, '\0');
  unsigned state = 1;
  for (char& c : garbage) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  (void)send(fd, garbage.data(), garbage.size(), MSG_NOSIGNAL);
  // The server hangs up (after HTTP/2's own hello), rather than wait for more.
  char buffer[4096];
  ssize_t got = 0;
  while ((got = recv(fd, buffer, sizeof(buffer), 0)) > 0) {
  }
  EXPECT_TRUE(got == 0 || errno == ECONNRESET) << errno;
  close(fd);
  EXPECT_TRUE(CreateBad([](auto*) {}).ok());
}

TEST_F(BadInputTest, OneThousandConnectionsAreServed) {
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < 1000; ++i) channels.push_back(NewChannel());
  for (size_t i = 0; i < channels.size(); ++i) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    v1::CreateActionsRequest request;
    v1::CreateActionsResponse response;
    *request.add_actions() = Gact(static_cast<uint32_t>(i) + 1);
    const grpc::Status status =
        v1::ActionStore::NewStub(channels[i])->CreateActions(&context, request, &response);
    ASSERT_TRUE(status.ok()) << i << ": " << status.error_message();
  }
  EXPECT_EQ(ActionsInAll(), 1000u);
}

}  // namespace
}  // namespace tcact::rpc
