#include "proto/kinds/addresses.h"

#include "gtest/gtest.h"

namespace tcact::kinds {
namespace {

std::string Mac(absl::string_view word) {
  std::string bytes;
  return ParseMac(word, &bytes) ? FormatMac(bytes) : "refused";
}

std::string Ip(absl::string_view word, IpFamily family = IpFamily::kAny) {
  std::string bytes;
  return ParseIp(word, family, &bytes) ? FormatIp(bytes) : "refused";
}

std::string Prefix(absl::string_view word, IpFamily family = IpFamily::kAny) {
  std::string bytes;
  uint32_t bits = 0;
  if (!ParseIpPrefix(word, family, &bytes, &bits)) return "refused";
  return FormatIp(bytes) + "/" + std::to_string(bits);
}

TEST(Mac, HasSixHexadecimalBytes) {
  EXPECT_EQ(Mac("1:2:3:a:B:ff"), "01:02:03:0a:0b:ff");
  for (const char* bad : {"", "1:2:3:4:5", "1:2:3:4:5:6:7", "1:2:3:4:5:100", "1:2:3:4:5:", "g"}) {
    EXPECT_EQ(Mac(bad), "refused") << bad;
  }
}

TEST(Ip, ReadsBothFamilies) {
  EXPECT_EQ(Ip("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(Ip("fe80::1"), "fe80::1");
  EXPECT_EQ(Ip("::ffff:1.2.3.4"), "::ffff:1.2.3.4");
}

TEST(Ip, MayEndEarlyAndBeHexadecimal) {
  EXPECT_EQ(Ip("10"), "10.0.0.0");
  EXPECT_EQ(Ip("10.1"), "10.1.0.0");
  EXPECT_EQ(Ip("0xa.010.0.1"), "10.8.0.1");
}

TEST(Ip, IsOfTheFamilyThatIsAskedFor) {
  EXPECT_EQ(Ip("10.0.0.1", IpFamily::kIpv6), "refused");
  EXPECT_EQ(Ip("::1", IpFamily::kIpv4), "refused");
}

TEST(Ip, RefusesWhatIsNoAddress) {
  for (const char* bad : {"", "10.0.0.256", "1.2.3.4.5", "1.2.3.", "a.b", "::g", "1::2::3"}) {
    EXPECT_EQ(Ip(bad), "refused") << bad;
  }
}

TEST(Ip, WhereItIsRequiredAnotherWordEndsTcWith1) {
  std::string bytes;
  EXPECT_FALSE(RequireIp("10.0.0.1", IpFamily::kAny, &bytes));
  EXPECT_EQ(bytes, std::string("\x0a\x00\x00\x01", 4));
  const ParseError error = RequireIp("foo", IpFamily::kAny, &bytes);
  EXPECT_EQ(error.then, ParseError::Then::kExit);
  EXPECT_EQ(error.code, 1);
  EXPECT_EQ(error.text, "Error: any valid address is expected rather than \"foo\".\n");
  EXPECT_EQ(RequireIp("fe80::1", IpFamily::kIpv4, &bytes).text,
            "Error: inet address is expected rather than \"fe80::1\".\n");
  EXPECT_EQ(RequireIp("10.0.0.1", IpFamily::kIpv6, &bytes).text,
            "Error: inet6 address is expected rather than \"10.0.0.1\".\n");
}

TEST(Ip, TheWordsForAllAddressesAreNone) {
  std::string bytes;
  for (const char* word : {"any", "all", "default"}) {
    EXPECT_EQ(RequireIp(word, IpFamily::kAny, &bytes).then, ParseError::Then::kReturn) << word;
  }
}

TEST(IpPrefix, TakesBitsOrANetmask) {
  EXPECT_EQ(Prefix("10.0.0.0/8"), "10.0.0.0/8");
  EXPECT_EQ(Prefix("10.0.0.0/255.255.0.0"), "10.0.0.0/16");
  EXPECT_EQ(Prefix("fe80::/64"), "fe80::/64");
  EXPECT_EQ(Prefix("10.0.0.1"), "10.0.0.1/32");
  EXPECT_EQ(Prefix("::1"), "::1/128");
}

TEST(IpPrefix, KnowsTheNetworkOfAll) {
  EXPECT_EQ(Prefix("any"), "0.0.0.0/0");
  EXPECT_EQ(Prefix("default", IpFamily::kIpv6), "::/0");
}

TEST(IpPrefix, RefusesMasksWithGapsAndTooManyBits) {
  for (const char* bad : {"10.0.0.0/33", "10.0.0.0/255.0.255.0", "::/129", "10.0.0.0/", "/8"}) {
    EXPECT_EQ(Prefix(bad), "refused") << bad;
  }
}

TEST(CheckBytes, AllowsNoneOrTheWholeAddress) {
  EXPECT_FALSE(CheckBytes("nat.old_address", "", kIpv4Bytes, "an IPv4 address"));
  EXPECT_FALSE(CheckBytes("nat.old_address", "abcd", kIpv4Bytes, "an IPv4 address"));
  const RuleError error = CheckBytes("nat.old_address", "abc", kIpv4Bytes, "an IPv4 address");
  EXPECT_EQ(error.field, "nat.old_address");
  EXPECT_EQ(error.text, "3 bytes; an IPv4 address has 4");
}

TEST(Device, HasANameOfTheKernelsForm) {
  EXPECT_TRUE(IsDeviceName("eth0.100"));
  EXPECT_TRUE(IsDeviceName("fifteen-bytes-x"));
  for (const char* bad : {"", ".", "..", "sixteen-bytes-xx", "a/b", "a b", "a:b", "a\n"}) {
    EXPECT_FALSE(IsDeviceName(bad)) << bad;
  }
}

class Only : public Devices {
 public:
  bool Has(absl::string_view name) const override { return name == "lo"; }
};

TEST(Device, MustExistWhereDevicesAreKnown) {
  const Only devices;
  RuleContext context;
  EXPECT_FALSE(CheckDevice("mirred.device", context, "eth7"));
  context.devices = &devices;
  EXPECT_FALSE(CheckDevice("mirred.device", context, "lo"));
  const RuleError error = CheckDevice("mirred.device", context, "eth7");
  EXPECT_TRUE(error.no_device);
  EXPECT_EQ(error.text, "Cannot find device \"eth7\"");
  EXPECT_EQ(error.kernel_text, error.text);
  EXPECT_FALSE(CheckDevice("mirred.device", context, "a/b").no_device);
}

}  // namespace
}  // namespace tcact::kinds
