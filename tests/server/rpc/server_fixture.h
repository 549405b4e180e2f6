// A whole server on a port of its own, and clients for it.
#ifndef TCACT_TESTS_SERVER_RPC_SERVER_FIXTURE_H_
#define TCACT_TESTS_SERVER_RPC_SERVER_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpcpp/create_channel.h"
#include "gtest/gtest.h"
#include "proto/tcact/v1/action_store.grpc.pb.h"
#include "proto/tcact/v1/admin.grpc.pb.h"
#include "proto/tcact/v1/error_details.pb.h"
#include "server/durable/keeper.h"
#include "server/rpc/server.h"

namespace tcact::rpc {

class ServerTest : public ::testing::Test {
 protected:
  // `devices`: those of the server's host, or null where any may be named.
  explicit ServerTest(const kinds::Devices* devices = nullptr) : kinds_(devices) {}

  void SetUp() override {
    act::StoreOptions options;
    options.kinds = kinds_.Specs();
    options.max_netns = max_netns_;
    store_ = std::make_unique<act::Store>(options);
    context_.store = store_.get();
    context_.kinds = &kinds_;
    context_.version = "test";
    context_.store_name = "memory";
    context_.started = absl::Now();
    if (std::unique_ptr<durable::RecordStore> records = Records()) {
      auto keeper = durable::Keeper::Start(std::move(records), store_.get(), keeper_options_);
      ASSERT_TRUE(keeper.ok()) << keeper.status();
      keeper_ = std::move(*keeper);
      context_.keeper = keeper_.get();
      context_.replays = keeper_->replays();
      context_.sources = keeper_->sources();
    }
    auto server = Server::Start(server_options_, context_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
    channel_ = NewChannel();
    actions_ = v1::ActionStore::NewStub(channel_);
    admin_ = v1::Admin::NewStub(channel_);
  }

  void TearDown() override {
    server_.reset();
    keeper_.reset();
  }

  // Where changes are recorded; null: nowhere.
  virtual std::unique_ptr<durable::RecordStore> Records() { return nullptr; }

  // A connection of its own.
  std::shared_ptr<grpc::Channel> NewChannel() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    // A stream that is not read takes this much and no more, so that a stalled reader is one.
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 64 << 10);
    return grpc::CreateCustomChannel(server_->addresses()[0], grpc::InsecureChannelCredentials(),
                                     arguments);
  }

  static v1::Action Gact(uint32_t index) {
    v1::Action action;
    action.set_index(index);
    action.mutable_gact()->mutable_verdict()->set_type(v1::Verdict::TYPE_DROP);
    return action;
  }

  static v1::ActionKey Key(uint32_t index, const std::string& kind = "gact") {
    v1::ActionKey key;
    key.set_kind(kind);
    key.set_index(index);
    return key;
  }

  grpc::Status Create(const v1::CreateActionsRequest& request,
                      v1::CreateActionsResponse* response = nullptr) {
    grpc::ClientContext context;
    v1::CreateActionsResponse ignored;
    return actions_->CreateActions(&context, request, response == nullptr ? &ignored : response);
  }

  // Creates gact actions 1 to `count` in `netns`.
  void Fill(uint32_t count, const std::string& netns = "") {
    for (uint32_t first = 1; first <= count; first += 4096) {
      v1::CreateActionsRequest request;
      request.set_netns(netns);
      request.set_view(v1::ACTION_VIEW_TERSE);
      for (uint32_t i = first; i <= count && i < first + 4096; ++i)
        *request.add_actions() = Gact(i);
      const grpc::Status status = Create(request);
      ASSERT_TRUE(status.ok()) << status.error_message();
    }
  }

  grpc::Status Get(uint32_t index, v1::Action* action, const std::string& netns = "") {
    grpc::ClientContext context;
    v1::GetActionRequest request;
    request.set_netns(netns);
    *request.mutable_key() = Key(index);
    return actions_->GetAction(&context, request, action);
  }

  grpc::Status Bind(uint32_t index) {
    grpc::ClientContext context;
    v1::BindRequest request;
    v1::BindResponse response;
    *request.add_actions() = Gact(index);
    return actions_->Bind(&context, request, &response);
  }

  uint64_t ActionsInAll() { return store_->TotalActions(); }

  static v1::ErrorInfo InfoOf(const grpc::Status& status) {
    v1::StatusDetails details;
    v1::ErrorInfo info;
    EXPECT_TRUE(details.ParseFromString(status.error_details()));
    EXPECT_EQ(details.code(), status.error_code());
    EXPECT_EQ(details.message(), status.error_message());
    EXPECT_EQ(details.details_size(), 1) << status.error_message();
    if (details.details_size() != 1) return info;
    EXPECT_EQ(details.details(0).type_url(), "type.googleapis.com/google.rpc.ErrorInfo");
    EXPECT_TRUE(info.ParseFromString(details.details(0).value()));
    EXPECT_EQ(info.domain(), "tcact");
    return info;
  }

  static void ExpectError(const grpc::Status& status, grpc::StatusCode code,
                          const std::string& reason) {
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_EQ(InfoOf(status).reason(), reason) << status.error_message();
    EXPECT_FALSE(status.error_message().empty());
  }

  KindTable kinds_;
  uint32_t max_netns_ = 1000;
  ServerOptions server_options_ = [] {
    ServerOptions options;
    options.listen = {"127.0.0.1:0"};
    return options;
  }();
  Context context_;
  std::unique_ptr<act::Store> store_;
  durable::KeeperOptions keeper_options_;
  std::unique_ptr<durable::Keeper> keeper_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ActionStore::Stub> actions_;
  std::unique_ptr<v1::Admin::Stub> admin_;
};

}  // namespace tcact::rpc

#endif  // TCACT_TESTS_SERVER_RPC_SERVER_FIXTURE_H_
