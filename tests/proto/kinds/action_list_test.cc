#include "proto/kinds/action_list.h"

#include "gtest/gtest.h"

namespace tcact::kinds {
namespace {

std::vector<v1::Action> Parsed(absl::string_view text) {
  Words words = Words::Split(text);
  std::vector<v1::Action> actions;
  const ParseError error = ParseActions(&words, &actions);
  EXPECT_FALSE(error) << text << ": " << error.text;
  return actions;
}

ParseError Failed(absl::string_view text) {
  Words words = Words::Split(text);
  std::vector<v1::Action> actions;
  ParseError error = ParseActions(&words, &actions);
  EXPECT_TRUE(error) << text;
  return error;
}

std::vector<v1::ActionKey> Keys(absl::string_view text) {
  Words words = Words::Split(text);
  std::vector<v1::ActionKey> keys;
  const ParseError error = ParseKeys(&words, &keys);
  EXPECT_FALSE(error) << text << ": " << error.text;
  return keys;
}

ParseError FailedKeys(absl::string_view text) {
  Words words = Words::Split(text);
  std::vector<v1::ActionKey> keys;
  ParseError error = ParseKeys(&words, &keys);
  EXPECT_TRUE(error) << text;
  return error;
}

TEST(Actions, OfSeveralKindsInOneList) {
  const auto actions =
      Parsed("action gact pass index 1 action police rate 1mbit burst 10k index 2 gact drop");
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_TRUE(actions[0].has_gact());
  EXPECT_EQ(actions[0].kind(), "gact");
  EXPECT_TRUE(actions[1].has_police());
  EXPECT_EQ(actions[1].index(), 2u);
  EXPECT_TRUE(actions[2].has_gact());
}

TEST(Actions, AVerdictInPlaceOfAKindIsGact) {
  for (const char* text : {"action pass index 8", "action pas index 8"}) {
    const auto actions = Parsed(text);
    ASSERT_EQ(actions.size(), 1u) << text;
    EXPECT_EQ(actions[0].gact().verdict().type(), v1::Verdict::TYPE_PASS) << text;
    EXPECT_EQ(actions[0].index(), 8u) << text;
  }
}

TEST(Actions, OfAnUnknownKindAreRefusedAsByTheKernel) {
  for (const char* text : {"action ga pass index 8", "action nosuch pass", "action index 8"}) {
    Words words = Words::Split(text);
    std::vector<v1::Action> actions;
    const ParseError error = ParseActions(&words, &actions);
    EXPECT_TRUE(error) << text;
  }
}

TEST(Actions, AWordThatPoliceLeavesBeginsAnotherAction) {
  const auto actions = Parsed("action police rate 1mbit burst 10k trap");
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(actions[1].gact().verdict().type(), v1::Verdict::TYPE_TRAP);
}

TEST(Actions, CookieAndFlagsComeInTcsOrder) {
  const auto actions =
      Parsed("action gact pass index 1 cookie 0aFF hw_stats delayed no_percpu skip_hw skip_sw");
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].cookie(), "\x0a\xff");
  EXPECT_EQ(actions[0].hw_stats(), v1::HW_STATS_DELAYED);
  EXPECT_TRUE(actions[0].no_percpu());
  EXPECT_TRUE(actions[0].skip_hw());
  EXPECT_TRUE(actions[0].skip_sw());
  EXPECT_EQ(Failed("action gact pass skip_hw hw_stats immediate").then, ParseError::Then::kExit);
}

TEST(Actions, FlagsAreOfOneActionACookieOfAllThatFollow) {
  const auto actions = Parsed("action pass cookie aa no_percpu action drop action ok cookie bb");
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_EQ(actions[1].cookie(), "\xaa");
  EXPECT_FALSE(actions[1].no_percpu());
  EXPECT_EQ(actions[2].cookie(), "\xbb");
}

TEST(Actions, CookiesHaveAtMost16Bytes) {
  EXPECT_EQ(Parsed("action pass cookie aabbccddeeff112233445566778800a1")[0].cookie().size(), 16u);
  EXPECT_EQ(Failed("action pass cookie aabbccddeeff112233445566778800a1ff").text,
            "Error: argument \"aabbccddeeff112233445566778800a1ff\" is wrong: 34 Max allowed size "
            "32\n");
  for (const char* text : {"action pass cookie abc", "action pass cookie zz", "action pass cookie",
                           "action pass hw_stats", "action pass hw_stats any"}) {
    EXPECT_EQ(Failed(text).then, ParseError::Then::kExit) << text;
  }
}

TEST(Actions, EndAtTheNextCommand) {
  Words words = Words::Split("action gact pass add action gact drop");
  std::vector<v1::Action> actions;
  EXPECT_FALSE(ParseActions(&words, &actions));
  EXPECT_EQ(actions.size(), 1u);
  EXPECT_EQ(words.Peek(), "add");
}

TEST(Actions, TellWhereTheyBegin) {
  Words words = Words::Split("add action gact pass index 1 action drop");
  words.Skip();
  std::vector<v1::Action> actions;
  std::vector<size_t> starts;
  EXPECT_FALSE(ParseActions(&words, &actions, &starts));
  EXPECT_EQ(starts, (std::vector<size_t>{2, 7}));
}

TEST(Actions, AnErrorMarksTheWordThatIsWrong) {
  const struct {
    const char* text;
    size_t wrong;
  } cases[] = {{"action gact drop index foo", 4},
               {"action gact pass random netrand drop 10001 index 200", 6},
               {"action drop action gact blah", 4},
               {"action gact pass cookie zz", 4},
               {"action", 1}};
  for (const auto& c : cases) {
    Words words = Words::Split(c.text);
    std::vector<v1::Action> actions;
    EXPECT_TRUE(ParseActions(&words, &actions)) << c.text;
    EXPECT_EQ(words.wrong(), c.wrong) << c.text;
  }
}

TEST(Actions, AnErrorNamesTheWordsLeftFromTheKindOn) {
  EXPECT_EQ(Failed("action gact drop index foo").text,
            "Illegal \"index\"\nbad action parsing\nparse_action: bad value (4:gact)!\n");
  EXPECT_EQ(Failed("action gact pass random netrand drop 10001 index 200").text,
            "Illegal probability val  0x2711\nbad action parsing\n"
            "parse_action: bad value (8:gact)!\n");
  EXPECT_EQ(Failed("action").text, "bad action empty 1\nparse_action: bad value (0:(null))!\n");
  EXPECT_EQ(Failed("").text, "");
  EXPECT_EQ(Failed("help").text, "");
}

TEST(Actions, AnUnknownKindIsReadAsGactAndFails) {
  const ParseError error = Failed("action foo index 1");
  EXPECT_EQ(error.then, ParseError::Then::kExit);
  EXPECT_EQ(error.text.substr(0, 20), "Bad action type foo\n");
}

TEST(Keys, OfSeveralKinds) {
  const auto keys = Keys("action gact index 1 action police index 4294967295 action drop ind 3");
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_EQ(keys[0].kind(), "gact");
  EXPECT_EQ(keys[1].kind(), "police");
  EXPECT_EQ(keys[1].index(), 4294967295u);
  EXPECT_EQ(keys[2].kind(), "gact");
  EXPECT_TRUE(Keys("").empty());
  EXPECT_TRUE(Keys("action").empty());
}

TEST(Keys, NeedAnIndex) {
  EXPECT_EQ(FailedKeys("action gact").text, "Error: no index specified action: gact\n");
  EXPECT_EQ(FailedKeys("action police 5").text, "Error: no index specified action: police\n");
  EXPECT_EQ(FailedKeys("action gact index").then, ParseError::Then::kExit);
  EXPECT_EQ(FailedKeys("action gact index 4294967296").text, "Illegal \"index\"\n");
}

TEST(Keys, AnUnknownKindDeletesNoGact) {
  EXPECT_EQ(FailedKeys("action gatc index 1").text, "Error: non existent action: gatc\n");
}

}  // namespace
}  // namespace tcact::kinds
