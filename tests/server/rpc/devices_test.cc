// Devices: names to the store, unless the server knows those of its host.
#include "server/rpc/devices.h"

#include "tests/server/rpc/server_fixture.h"

namespace tcact::rpc {
namespace {

using grpc::StatusCode;

class OnlyEth7 final : public kinds::Devices {
 public:
  bool Has(absl::string_view name) const override { return name == "eth7"; }
};

const OnlyEth7& TheDevices() {
  static const OnlyEth7 devices;
  return devices;
}

v1::Action MirrorTo(const std::string& device, uint32_t index) {
  v1::Action action;
  action.set_index(index);
  action.mutable_mirred()->set_operation(v1::Mirred::OPERATION_MIRROR);
  action.mutable_mirred()->set_device(device);
  return action;
}

class AnyDeviceTest : public ServerTest {};

class KnownDevicesTest : public ServerTest {
 protected:
  KnownDevicesTest() : ServerTest(&TheDevices()) {}
};

TEST(HostDevices, HasTheLoopbackAndNoDeviceThatIsNotThere) {
  const HostDevices devices;
  EXPECT_TRUE(devices.Has("lo"));
  EXPECT_FALSE(devices.Has("nosuch"));
  EXPECT_FALSE(devices.Has(""));
  EXPECT_FALSE(devices.Has(std::string(1000, 'x')));
}

TEST_F(AnyDeviceTest, MayBeNamed) {
  v1::CreateActionsRequest request;
  *request.add_actions() = MirrorTo("nosuch", 1);
  EXPECT_TRUE(Create(request).ok());
}

TEST_F(AnyDeviceTest, MustHaveAValidName) {
  v1::CreateActionsRequest request;
  *request.add_actions() = MirrorTo("a/b", 1);
  ExpectError(Create(request), StatusCode::INVALID_ARGUMENT, "INVALID_FIELD");
}

TEST_F(KnownDevicesTest, AreFound) {
  v1::CreateActionsRequest request;
  *request.add_actions() = MirrorTo("eth7", 1);
  EXPECT_TRUE(Create(request).ok());
}

TEST_F(KnownDevicesTest, AnotherOneIsNotFoundAndNothingIsChanged) {
  v1::CreateActionsRequest request;
  *request.add_actions() = Gact(1);
  *request.add_actions() = MirrorTo("nosuch", 2);
  const grpc::Status status = Create(request);
  ExpectError(status, StatusCode::FAILED_PRECONDITION, "DEVICE_NOT_FOUND");
  EXPECT_EQ(status.error_message(), "actions[1].mirred.device: Cannot find device \"nosuch\"");
  const v1::ErrorInfo info = InfoOf(status);
  EXPECT_EQ(info.metadata().at("field"), "actions[1].mirred.device");
  EXPECT_EQ(info.metadata().at("kind"), "mirred");
  EXPECT_EQ(info.metadata().at("index"), "2");
  EXPECT_EQ(info.metadata().at("position"), "1");
  EXPECT_EQ(ActionsInAll(), 0u);
}

TEST_F(KnownDevicesTest, AnInvalidNameIsStillAnInvalidField) {
  v1::CreateActionsRequest request;
  *request.add_actions() = MirrorTo("a/b", 1);
  ExpectError(Create(request), StatusCode::INVALID_ARGUMENT, "INVALID_FIELD");
}

TEST_F(KnownDevicesTest, AReplaceAndABindAreCheckedToo) {
  {
    grpc::ClientContext context;
    v1::ReplaceActionsRequest request;
    v1::ReplaceActionsResponse response;
    *request.add_actions() = MirrorTo("nosuch", 1);
    ExpectError(actions_->ReplaceActions(&context, request, &response),
                StatusCode::FAILED_PRECONDITION, "DEVICE_NOT_FOUND");
  }
  grpc::ClientContext context;
  v1::BindRequest request;
  v1::BindResponse response;
  *request.add_actions() = MirrorTo("nosuch", 1);
  ExpectError(actions_->Bind(&context, request, &response), StatusCode::FAILED_PRECONDITION,
              "DEVICE_NOT_FOUND");
}

TEST_F(KnownDevicesTest, SoIsAnOperationOfApply) {
  grpc::ClientContext context;
  auto stream = actions_->Apply(&context);
  v1::ApplyRequest request;
  *request.add_ops()->mutable_create() = MirrorTo("nosuch", 1);
  *request.add_ops()->mutable_create() = MirrorTo("eth7", 1);
  ASSERT_TRUE(stream->Write(request));
  v1::ApplyResponse response;
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_EQ(response.errors_size(), 1);
  EXPECT_EQ(response.errors(0).reason(), "DEVICE_NOT_FOUND");
  EXPECT_EQ(response.errors(0).code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(response.errors(0).position(), 0u);
  stream->WritesDone();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(ActionsInAll(), 1u);
}

}  // namespace
}  // namespace tcact::rpc
