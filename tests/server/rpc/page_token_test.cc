#include "server/rpc/page_token.h"

#include "gtest/gtest.h"

namespace tcact::rpc {
namespace {

TEST(PageTokenTest, ComesBackAsItWasMade) {
  std::string position;
  const std::string token = MakePageToken({"a", "b"}, std::string("1\0\xff", 3));
  ASSERT_TRUE(ReadPageToken({"a", "b"}, token, &position).ok());
  EXPECT_EQ(position, std::string("1\0\xff", 3));
}

TEST(PageTokenTest, IsRefusedInAnotherScope) {
  std::string position;
  const std::string token = MakePageToken({"a", "bc"}, "1");
  EXPECT_FALSE(ReadPageToken({"ab", "c"}, token, &position).ok());
  EXPECT_FALSE(ReadPageToken({"a"}, token, &position).ok());
}

TEST(PageTokenTest, IsRefusedWhenItsPositionWasChanged) {
  std::string position;
  std::string token = MakePageToken({"a"}, "12345");
  token[12] = token[12] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(ReadPageToken({"a"}, token, &position).ok());
}

TEST(PageTokenTest, WhatIsNoTokenIsRefused) {
  std::string position;
  for (const char* word : {"AAAA", "!!!", "AAAAAAAAAAA"})
    EXPECT_FALSE(ReadPageToken({"a"}, word, &position).ok());
}

TEST(PageSizeTest, HasADefaultAndACeiling) {
  int size = 0;
  ASSERT_TRUE(ReadPageSize(0, &size).ok());
  EXPECT_EQ(size, 1000);
  ASSERT_TRUE(ReadPageSize(1'000'000, &size).ok());
  EXPECT_EQ(size, 10'000);
  EXPECT_FALSE(ReadPageSize(-1, &size).ok());
}

}  // namespace
}  // namespace tcact::rpc
