#include "proto/kinds/ethertype.h"

#include "gtest/gtest.h"

namespace tcact::kinds {
namespace {

// -1 if it is refused.
int Parsed(absl::string_view word) {
  uint16_t ethertype = 0;
  return ParseEthertype(word, &ethertype) ? ethertype : -1;
}

TEST(Ethertype, HasNamesInAnyCase) {
  EXPECT_EQ(Parsed("ip"), 0x0800);
  EXPECT_EQ(Parsed("ipv4"), 0x0800);
  EXPECT_EQ(Parsed("IPv6"), 0x86dd);
  EXPECT_EQ(Parsed("802.1q"), 0x8100);
  EXPECT_EQ(Parsed("802.1AD"), 0x88a8);
  EXPECT_EQ(Parsed("mpls_uc"), 0x8847);
  EXPECT_EQ(Parsed("MPLS_MC"), 0x8848);
  EXPECT_EQ(Parsed("lldp"), 0x88cc);
  EXPECT_EQ(Parsed("all"), 3);
}

TEST(Ethertype, MayBeANumberInAnyBase) {
  EXPECT_EQ(Parsed("0"), 0);
  EXPECT_EQ(Parsed("2048"), 0x0800);
  EXPECT_EQ(Parsed("0x1234"), 0x1234);
  EXPECT_EQ(Parsed("010"), 8);
  EXPECT_EQ(Parsed("65535"), 0xffff);
}

TEST(Ethertype, IsNothingElse) {
  for (const char* word : {"", "foo", "i", "ip ", "65536", "-1", "0x", "[2048]", "ABCD"}) {
    EXPECT_EQ(Parsed(word), -1) << word;
  }
}

TEST(Ethertype, IsPrintedByNameIfItHasOne) {
  EXPECT_EQ(FormatEthertype(0x0800), "ip");
  EXPECT_EQ(FormatEthertype(0x86dd), "ipv6");
  EXPECT_EQ(FormatEthertype(0x8100), "802.1Q");
  EXPECT_EQ(FormatEthertype(0x88a8), "802.1ad");
  EXPECT_EQ(FormatEthertype(0x88cc), "LLDP");
  EXPECT_EQ(FormatEthertype(0x1234), "[4660]");
  EXPECT_EQ(FormatEthertype(0), "[0]");
}

TEST(Ethertype, ReadsEveryNameThatItPrints) {
  for (int number = 0; number <= 0xffff; ++number) {
    const std::string name = FormatEthertype(static_cast<uint16_t>(number));
    if (name[0] == '[') continue;
    EXPECT_EQ(Parsed(name), number) << name;
  }
}

}  // namespace
}  // namespace tcact::kinds
