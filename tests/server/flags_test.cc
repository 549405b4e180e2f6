#include "server/flags.h"

#include <cstdlib>
#include <string>

#include "absl/flags/reflection.h"
#include "gtest/gtest.h"

namespace tcact::server {
namespace {

class FlagsTest : public testing::Test {
 protected:
  std::optional<Flags> Parse(std::vector<std::string> words) {
    words.insert(words.begin(), "tcactd");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    // Flags are the process's own: each parse leaves them as they were.
    const absl::FlagSaver saver;
    std::optional<Flags> flags =
        ParseFlags(static_cast<int>(argv.size()), argv.data(), &exit_code_);
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return flags;
  }

  // That the words are refused with this text.
  void ExpectRefused(const std::vector<std::string>& words, const std::string& text) {
    EXPECT_FALSE(Parse(words).has_value()) << text;
    EXPECT_EQ(exit_code_, 2);
    EXPECT_EQ(err_.substr(0, 8), "tcactd: ");
    EXPECT_NE(err_.find(text), std::string::npos) << err_;
    EXPECT_EQ(out_, "");
  }

  int exit_code_ = -1;
  std::string out_;
  std::string err_;
};

// A variable of the environment for the life of this.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* const name_;
};

TEST_F(FlagsTest, HaveDefaults) {
  const std::optional<Flags> flags = Parse({});
  ASSERT_TRUE(flags.has_value()) << err_;
  EXPECT_EQ(flags->listen, std::vector<std::string>{"127.0.0.1:9341"});
  EXPECT_EQ(flags->store, "memory");
  EXPECT_EQ(flags->alloc_mode, act::AllocMode::kSlabMerged);
  EXPECT_EQ(flags->cq_threads, 1);
  EXPECT_EQ(flags->drain, absl::Seconds(10));
  EXPECT_TRUE(flags->introspection);
  EXPECT_FALSE(flags->log_json);
}

TEST_F(FlagsTest, TakeDashesOrUnderscoresAndValuesInTheSameWordOrTheNext) {
  const std::optional<Flags> flags =
      Parse({"--cq-threads=4", "--drain_seconds", "0", "--action-alloc=per-object",
             "--listen=unix:/tmp/a,127.0.0.1:1", "--introspection=false", "--log-format=json"});
  ASSERT_TRUE(flags.has_value()) << err_;
  EXPECT_EQ(flags->cq_threads, 4);
  EXPECT_EQ(flags->drain, absl::ZeroDuration());
  EXPECT_EQ(flags->alloc_mode, act::AllocMode::kPerObject);
  EXPECT_EQ(flags->listen, (std::vector<std::string>{"unix:/tmp/a", "127.0.0.1:1"}));
  EXPECT_FALSE(flags->introspection);
  EXPECT_TRUE(flags->log_json);
}

TEST_F(FlagsTest, AreVariablesTooAndTheCommandLineWins) {
  const Variable threads("TCACT_CQ_THREADS", "3");
  EXPECT_EQ(Parse({})->cq_threads, 3);
  EXPECT_EQ(Parse({"--cq-threads=5"})->cq_threads, 5);
}

TEST_F(FlagsTest, AVariableWithABadValueIsNamed) {
  const Variable threads("TCACT_CQ_THREADS", "many");
  ExpectRefused({}, "TCACT_CQ_THREADS=many: not a whole number.");
}

TEST_F(FlagsTest, OfTheWrongFormAreRefusedWithTheRightOne) {
  ExpectRefused({"--cq-threads=x"}, "--cq-threads=x: not a whole number.");
  ExpectRefused({"--drain-seconds=5s"}, "--drain-seconds=5s: not a whole number.");
  ExpectRefused({"--drain-seconds", ""}, "--drain-seconds=: not a whole number.");
  ExpectRefused({"--introspection=maybe"}, "--introspection=maybe: not true or false.");
  ExpectRefused({"--cq-threads=99999999999"}, "not a whole number.");
}

TEST_F(FlagsTest, HaveLimitsOnBothSides) {
  const struct {
    const char* name;
    int min;
    int max;
  } cases[] = {
      {"--cq-threads", 1, 64}, {"--drain-seconds", 0, 3600}, {"--max-namespaces", 1, 1000000}};
  for (const auto& c : cases) {
    const std::string flag = std::string(c.name) + "=";
    EXPECT_TRUE(Parse({flag + std::to_string(c.min)}).has_value()) << err_;
    EXPECT_TRUE(Parse({flag + std::to_string(c.max)}).has_value()) << err_;
    const std::string range = std::to_string(c.min) + " to " + std::to_string(c.max);
    ExpectRefused({flag + std::to_string(c.min - 1)}, range);
    ExpectRefused({flag + std::to_string(c.max + 1)}, range);
  }
}

TEST_F(FlagsTest, OfWordsNameTheWordsThatAreAllowed) {
  ExpectRefused({"--action-alloc=slub"},
                "--action-alloc=slub: one of per-object, slab, slab-merged");
  ExpectRefused({"--store=disk"}, "--store=disk: memory or rocksdb:DIR is allowed");
  ExpectRefused({"--durability=maybe"}, "--durability=maybe: one of ");
  ExpectRefused({"--stats-durability=maybe"}, "--stats-durability=maybe: one of ");
  ExpectRefused({"--log-format=xml"}, "--log-format=xml: one of text, json");
  ExpectRefused({"--log-level=loud"}, "--log-level=loud: one of debug, info, warn, error, off");
}

TEST_F(FlagsTest, ListenNeedsLoopbackUnlessToldOtherwise) {
  ExpectRefused({"--listen=0.0.0.0:9341"}, "--listen: ");
  EXPECT_TRUE(Parse({"--listen=0.0.0.0:9341", "--insecure-listen"}).has_value()) << err_;
  ExpectRefused({"--listen="}, "--listen: at least one address is needed");
  ExpectRefused({"--listen=nonsense"}, "--listen: ");
}

TEST_F(FlagsTest, UnknownOnesAreRefused) {
  ExpectRefused({"--bogus"}, "--bogus: no such flag; see --help");
  ExpectRefused({"bogus"}, "\"bogus\" is not a flag; see --help");
  ExpectRefused({"--cq-threads"}, "--cq-threads: needs a value; see --help");
  // One of absl's own.
  ExpectRefused({"--flagfile=x"}, "--flagfile: no such flag");
}

TEST_F(FlagsTest, HelpNamesEachFlagAndItsVariable) {
  EXPECT_FALSE(Parse({"--help"}).has_value());
  EXPECT_EQ(exit_code_, 0);
  for (const char* word :
       {"--listen=", "--introspection=true", "TCACT_DRAIN_SECONDS", "--version"}) {
    EXPECT_NE(out_.find(word), std::string::npos) << word;
  }
  EXPECT_FALSE(Parse({"--version"}).has_value());
  EXPECT_EQ(exit_code_, 0);
  EXPECT_EQ(out_, "tcactd 0.1.0\n");
}

}  // namespace
}  // namespace tcact::server
