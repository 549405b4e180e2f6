#include "client/lib/channel.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace tcact::client {
namespace {

TEST(AddressTest, TakesHostPortAndUnixPath) {
  for (const char* address :
       {"127.0.0.1:9341", "localhost:1", "[::1]:65535", "unix:/run/x.sock", "unix:relative"}) {
    EXPECT_TRUE(CheckAddress(address).ok()) << address << ": " << CheckAddress(address);
  }
}

TEST(AddressTest, RefusesWithTheAddressAndTheCause) {
  for (const char* address : {"", "localhost", ":9341", "h:", "h:0", "h:65536", "h:-1", "h:http",
                              "::1:9341", "http://h:80", "unix:"}) {
    const absl::Status status = CheckAddress(address);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_TRUE(absl::StrContains(status.message(), address)) << status;
  }
}

TEST(AddressTest, RefusesASocketPathThatTheSystemCannotHold) {
  EXPECT_TRUE(CheckAddress("unix:" + std::string(107, 'a')).ok());
  EXPECT_FALSE(CheckAddress("unix:" + std::string(108, 'a')).ok());
}

TEST(ChannelTest, RefusesMessageLimitsOutsideTheRange) {
  EXPECT_TRUE(MakeChannel({}).ok());
  EXPECT_FALSE(MakeChannel({.max_message_bytes = 1023}).ok());
  EXPECT_FALSE(MakeChannel({.max_message_bytes = (1 << 30) + 1}).ok());
}

}  // namespace
}  // namespace tcact::client
