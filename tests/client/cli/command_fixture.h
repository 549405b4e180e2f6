// Runs tcact in this process against a fake server.
#ifndef TCACT_TESTS_CLIENT_CLI_COMMAND_FIXTURE_H_
#define TCACT_TESTS_CLIENT_CLI_COMMAND_FIXTURE_H_

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "client/cli/command.h"
#include "gtest/gtest.h"
#include "tests/client/cli/fake_tcactd.h"

namespace tcact::cli {

class CommandTest : public testing::Test {
 protected:
  struct Result {
    int code = 0;
    std::string out;
    std::string err;
  };

  // `line`: the words behind "tcact", parted by blanks. `input`: what stands on standard input.
  Result Tcact(const std::string& line, const std::string& input = "") {
    return RunOn(server_.address(), line, input);
  }

  static Result RunOn(const std::string& address, const std::string& line,
                      const std::string& input = "") {
    std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    words.insert(words.begin(), "--server=" + address);
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const int code = cli::Run(
        words, [](const char*) { return std::nullopt; }, &in, &out, &err);
    return {code, out.str(), err.str()};
  }

  static v1::Action Gact(uint32_t index, v1::Verdict::Type type = v1::Verdict::TYPE_PASS) {
    v1::Action action;
    action.set_kind("gact");
    action.set_index(index);
    action.set_refcnt(1);
    action.mutable_gact()->mutable_verdict()->set_type(type);
    return action;
  }

  static grpc::Status Reason(grpc::StatusCode code, const std::string& reason) {
    return client::WithReason(code, "the server's own text", reason);
  }

  FakeTcactd server_;
};

}  // namespace tcact::cli

#endif  // TCACT_TESTS_CLIENT_CLI_COMMAND_FIXTURE_H_
