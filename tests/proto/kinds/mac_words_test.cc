#include "proto/kinds/mac_words.h"

#include "gtest/gtest.h"
#include "proto/kinds/addresses.h"

namespace tcact::kinds {
namespace {

std::string Loosely(absl::string_view word) {
  std::string bytes;
  return ParseMacLoosely(word, &bytes) ? FormatMac(bytes) : "refused";
}

std::string Link(absl::string_view word) {
  std::string bytes;
  return ParseLinkAddress(word, &bytes) ? FormatMac(bytes) : "refused";
}

TEST(MacLoosely, HasSixHexadecimalNumbers) {
  EXPECT_EQ(Loosely("02:15:15:15:15:15"), "02:15:15:15:15:15");
  EXPECT_EQ(Loosely("1:2:3:a:B:0xff"), "01:02:03:0a:0b:ff");
  for (const char* word : {"", "foo", "index", "00:44:55:44:55", "1:2:3:4:5:", "1:2:3:4:5:pp",
                           "1:2::4:5:6", ":1:2:3:4:5:6", "1-2-3-4-5-6"}) {
    EXPECT_EQ(Loosely(word), "refused") << word;
  }
}

TEST(MacLoosely, TakesTheLastDigitsAndForgetsWhatFollows) {
  EXPECT_EQ(Loosely("123:2:3:4:5:6"), "23:02:03:04:05:06");
  EXPECT_EQ(Loosely("1:2:3:4:5:6zz"), "01:02:03:04:05:06");
  EXPECT_EQ(Loosely("1:2:3:4:5:6:7"), "01:02:03:04:05:06");
}

TEST(LinkAddress, HasUpToSixHexadecimalNumbers) {
  EXPECT_EQ(Link("02:00:00:00:00:01"), "02:00:00:00:00:01");
  EXPECT_EQ(Link("2:0"), "02:00:00:00:00:00");
  EXPECT_EQ(Link("ff"), "ff:00:00:00:00:00");
  EXPECT_EQ(Link("1:2:3:4:5:6:7"), "01:02:03:04:05:06");
  for (const char* word : {"", "xx", "100", "-1", "1:", "1::2", "1:2:3:4:5:100"}) {
    EXPECT_EQ(Link(word), "refused") << word;
  }
}

TEST(LinkAddress, ForgetsWhatFollowsANumber) {
  EXPECT_EQ(Link("1x:2y:3"), "01:02:03:00:00:00");
  EXPECT_EQ(Link("foo"), "0f:00:00:00:00:00");
}

TEST(LinkAddress, MayBeAnIpv4Address) {
  EXPECT_EQ(Link("10.1.2.3"), "0a:01:02:03:00:00");
  EXPECT_EQ(Link("10.1"), "0a:01:00:00:00:00");
  EXPECT_EQ(Link("10.1.2.300"), "refused");
  EXPECT_EQ(Link("1:2.3"), "refused");
}

}  // namespace
}  // namespace tcact::kinds
