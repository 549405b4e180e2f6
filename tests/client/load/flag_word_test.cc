#include "client/load/flag_word.h"

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

ABSL_FLAG(int, test_number, 1, "");
ABSL_FLAG(double, test_rate, 1, "");
ABSL_FLAG(bool, test_switch, false, "");
ABSL_FLAG(absl::Duration, test_time, absl::ZeroDuration(), "");
ABSL_FLAG(std::string, test_hidden, "", "of another command");

namespace tcact::load {
namespace {

class FlagWordTest : public testing::Test {
 protected:
  static absl::Status Set(absl::string_view word) {
    return SetFlag(word, {"test_number", "test_rate", "test_switch", "test_time"});
  }
  static std::string Refusal(absl::string_view word) { return std::string(Set(word).message()); }

  absl::FlagSaver saver_;
};

TEST_F(FlagWordTest, SetsItsFlag) {
  EXPECT_TRUE(Set("--test-number=7").ok());
  EXPECT_TRUE(Set("--test_rate=0.5").ok());
  EXPECT_TRUE(Set("--test-switch").ok());
  EXPECT_TRUE(Set("--test-time=250ms").ok());
  EXPECT_EQ(absl::GetFlag(FLAGS_test_number), 7);
  EXPECT_EQ(absl::GetFlag(FLAGS_test_rate), 0.5);
  EXPECT_TRUE(absl::GetFlag(FLAGS_test_switch));
  EXPECT_EQ(absl::GetFlag(FLAGS_test_time), absl::Milliseconds(250));
  EXPECT_TRUE(Set("--test-switch=false").ok());
  EXPECT_FALSE(absl::GetFlag(FLAGS_test_switch));
}

TEST_F(FlagWordTest, RefusesAValueOfTheWrongFormAndNamesTheRightOne) {
  EXPECT_EQ(Refusal("--test-time=5"),
            "--test-time=5 is not a time with its unit, such as 500ms or 10s");
  EXPECT_EQ(Refusal("--test-number=x"), "--test-number=x is not a whole number up to 2147483647");
  EXPECT_EQ(Refusal("--test-number=2147483648"),
            "--test-number=2147483648 is not a whole number up to 2147483647");
  EXPECT_EQ(Refusal("--test-rate=fast"), "--test-rate=fast is not a number");
  EXPECT_EQ(Refusal("--test-switch=2"), "--test-switch=2 is not true or false");
  EXPECT_EQ(absl::GetFlag(FLAGS_test_number), 1);
}

TEST_F(FlagWordTest, RefusesWhatIsNoFlagOfTheCommand) {
  EXPECT_EQ(Refusal("test"), "\"test\" is no flag");
  EXPECT_EQ(Refusal("-test-number=1"), "\"-test-number=1\" is no flag");
  EXPECT_EQ(Refusal("--test-hidden=x"), "\"--test-hidden=x\" is no flag of this command");
  EXPECT_EQ(Refusal("--bogus=x"), "\"--bogus=x\" is no flag of this command");
  EXPECT_EQ(Refusal("--test-number"), "\"--test-number\" needs a value: --test-number=…");
}

}  // namespace
}  // namespace tcact::load
