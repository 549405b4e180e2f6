#include "client/cli/options.h"

#include <map>

#include "gtest/gtest.h"

namespace tcact::cli {
namespace {

using Variables = std::map<std::string, std::string>;

absl::StatusOr<Settings> Parse(const std::vector<std::string>& words,
                               const Variables& variables = {}) {
  return ParseOptions(words, [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

Settings Parsed(const std::vector<std::string>& words, const Variables& variables = {}) {
  absl::StatusOr<Settings> settings = Parse(words, variables);
  EXPECT_TRUE(settings.ok()) << settings.status();
  return settings.value_or(Settings());
}

TEST(Options, AreAbbreviatedAsInTc) {
  const Settings all = Parsed({"-s", "-d", "-r", "-j", "-p", "-br", "-o", "-f", "actions"});
  EXPECT_TRUE(all.print.stats);
  EXPECT_TRUE(all.print.details);
  EXPECT_TRUE(all.print.raw);
  EXPECT_TRUE(all.print.json);
  EXPECT_TRUE(all.print.pretty);
  EXPECT_TRUE(all.print.brief);
  EXPECT_TRUE(all.print.oneline);
  EXPECT_TRUE(all.force);
  EXPECT_TRUE(Parsed({"-statist"}).print.stats);
  EXPECT_TRUE(Parsed({"-stats"}).print.stats);
  EXPECT_TRUE(Parsed({"-V"}).version);
  EXPECT_TRUE(Parsed({"-h"}).help);
}

TEST(Options, AnAbbreviationOfSeveralIsTheFirst) {
  EXPECT_EQ(Parsed({"-b", "file"}).batch, "file");
  EXPECT_EQ(Parsed({"-ba", "file"}).batch, "file");
  EXPECT_FALSE(Parsed({"-br"}).batch.has_value());
  EXPECT_EQ(Parsed({"-n", "red"}).netns, "red");
}

TEST(Options, EndAtTheFirstWordWithoutADash) {
  const Settings settings = Parsed({"-s", "actions", "ls", "-j"});
  EXPECT_EQ(settings.command, (std::vector<std::string>{"actions", "ls", "-j"}));
  EXPECT_FALSE(settings.print.json);
}

TEST(Options, DoNotCombineBehindOneDash) {
  const absl::StatusOr<Settings> settings = Parse({"-sj"});
  EXPECT_EQ(settings.status().message(), "Option \"-sj\" is unknown, try \"tcact -help\".");
}

TEST(Options, TakeTwoDashesAndEqualsSigns) {
  EXPECT_TRUE(Parsed({"--json"}).print.json);
  EXPECT_EQ(Parsed({"--server=h:1"}).server, "h:1");
  EXPECT_EQ(Parsed({"--server", "h:1"}).server, "h:1");
  EXPECT_EQ(Parsed({"-netns=red"}).netns, "red");
  EXPECT_EQ(Parsed({"--deadline=250ms"}).deadline, absl::Milliseconds(250));
}

TEST(Options, OfOursAreSpelledOut) {
  EXPECT_TRUE(Parsed({"-d"}).print.details);
  EXPECT_FALSE(Parse({"-serv", "h:1"}).ok());
  EXPECT_EQ(Parsed({"-server", "h:1"}).server, "h:1");
}

TEST(Options, ComeFromTheEnvironmentUnlessTheyAreGiven) {
  const Variables variables = {{"TCACT_SERVER", "env:1"}, {"TCACT_NETNS", "blue"}};
  EXPECT_EQ(Parsed({}, variables).server, "env:1");
  EXPECT_EQ(Parsed({}, variables).netns, "blue");
  EXPECT_EQ(Parsed({"--server=h:1", "-n", "red"}, variables).server, "h:1");
  EXPECT_EQ(Parsed({"--server=h:1", "-n", "red"}, variables).netns, "red");
  EXPECT_EQ(Parsed({"-n", ""}, variables).netns, "");
  EXPECT_EQ(Parsed({}).server, "127.0.0.1:9341");
}

TEST(Options, BadOnesAreErrors) {
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"-"},
                                             {"--"},
                                             {"-foo"},
                                             {"-b"},
                                             {"-n"},
                                             {"--server"},
                                             {"--json=1"},
                                             {"-color=blue"},
                                             {"-ech"},
                                             {"--deadline=0"},
                                             {"--deadline=-1s"},
                                             {"--deadline=inf"},
                                             {"--deadline=soon"}}) {
    EXPECT_FALSE(Parse(bad).ok()) << bad[0];
  }
}

TEST(Options, OfTcWithoutMeaningHereAreTaken) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"-g"},
                                             {"-t"},
                                             {"-tshort"},
                                             {"-N"},
                                             {"-nm"},
                                             {"-col"},
                                             {"-color=never"},
                                             {"-echo"},
                                             {"-cf", "file"},
                                             {"-conf", "file"}}) {
    EXPECT_TRUE(Parsed(words).command.empty()) << words[0];
  }
  EXPECT_TRUE(Parsed({"-i"}).print.iec);
}

TEST(Options, CIsAFileOfNamesAsInTc) {
  EXPECT_EQ(Parsed({"-c", "file", "actions"}).command, std::vector<std::string>{"actions"});
}

TEST(Options, HelpWithTwoDashesIsOutput) {
  EXPECT_TRUE(Parsed({"--help"}).help_is_output);
  EXPECT_FALSE(Parsed({"-help"}).help_is_output);
  EXPECT_TRUE(Parsed({"-help"}).help);
}

TEST(Options, OfTheHelpAreKnown) {
  for (const HelpLine& line : OptionHelp()) {
    std::string name;
    for (const char c : line.what.substr(0, line.what.find(' '))) {
      if (c != '[' && c != ']') name += c;
    }
    const bool value = line.what.find(' ') != absl::string_view::npos;
    EXPECT_EQ(TakesValue(name), value) << name;
    EXPECT_TRUE(
        Parse(value ? std::vector<std::string>{name, "1s"} : std::vector<std::string>{name}).ok())
        << name;
  }
}

}  // namespace
}  // namespace tcact::cli
