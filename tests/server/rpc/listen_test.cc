#include "server/rpc/listen.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/server/rpc/server_fixture.h"

namespace tcact::rpc {
namespace {

TEST(CheckListenAddressTest, TakesLoopbackAndUnixSockets) {
  for (const char* address :
       {"127.0.0.1:9341", "127.8.8.8:0", "localhost:1", "[::1]:65535", "unix:/tmp/x.sock"}) {
    EXPECT_TRUE(CheckListenAddress(address, false).ok()) << address;
  }
}

TEST(CheckListenAddressTest, TakesOtherInterfacesOnlyWhenAllowed) {
  for (const char* address : {"0.0.0.0:9341", "[::]:9341", "127.evil.example:1", "host:1"}) {
    EXPECT_FALSE(CheckListenAddress(address, false).ok()) << address;
    EXPECT_TRUE(CheckListenAddress(address, true).ok()) << address;
  }
}

TEST(CheckListenAddressTest, RefusesWhatIsNoAddress) {
  const std::string long_path = "unix:/" + std::string(200, 'p');
  for (const std::string& address :
       {std::string(), std::string("127.0.0.1"), std::string("127.0.0.1:"),
        std::string("127.0.0.1:65536"), std::string("127.0.0.1:-1"), std::string(":9341"),
        std::string("::1:9341"), std::string("unix:relative"), long_path}) {
    EXPECT_FALSE(CheckListenAddress(address, true).ok()) << address;
  }
}

class UnixListenTest : public ServerTest {
 protected:
  UnixListenTest() { server_options_.listen = {Address()}; }
  // Short: a socket's path has 107 bytes, and the folder that a test is given may have more.
  static std::string Path() { return absl::StrCat("/tmp/tcact-listen-test-", getpid(), ".sock"); }
  static std::string Address() { return "unix:" + Path(); }
  void SetUp() override {
    // What a server that was killed leaves behind.
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(Path().size(), sizeof(address.sun_path));
    std::strcpy(address.sun_path, Path().c_str());
    ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    close(fd);
    ServerTest::SetUp();
  }
};

TEST_F(UnixListenTest, AStaleSocketFileIsReplacedAndALiveOneIsNot) {
  Fill(1);
  auto second = Server::Start(server_options_, context_);
  ASSERT_FALSE(second.ok());
  EXPECT_TRUE(absl::StrContains(second.status().message(), "listening on")) << second.status();
  v1::Action action;
  EXPECT_TRUE(Get(1, &action).ok());
}

TEST_F(ServerTest, APortInUseIsTold) {
  ServerOptions options;
  options.listen = {server_->addresses()[0]};
  auto second = Server::Start(options, context_);
  ASSERT_FALSE(second.ok());
  EXPECT_TRUE(absl::StrContains(second.status().message(), "Address already in use"))
      << second.status();
}

}  // namespace
}  // namespace tcact::rpc
