#include "client/cli/actions.h"

#include "absl/strings/str_cat.h"
#include "tests/client/cli/command_fixture.h"

namespace tcact::cli {
namespace {

using grpc::StatusCode;

constexpr char kTalk[] = "We have an error talking to the kernel\n";

class ActionsTest : public CommandTest {
 protected:
  // "action gact pass index 1 action gact pass index 2 ..."
  static std::string Actions(int count) {
    std::string text;
    for (int i = 1; i <= count; ++i) absl::StrAppend(&text, " action gact pass index ", i);
    return text;
  }
  static std::string Keys(int count) {
    std::string text;
    for (int i = 1; i <= count; ++i) absl::StrAppend(&text, " action gact index ", i);
    return text;
  }
};

TEST_F(ActionsTest, AddSendsTheNormalizedActionsInOneRequest) {
  const Result result =
      Tcact("-n red actions add action drop index 3 action gact pass random determ pipe 0");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out + result.err, "");
  ASSERT_EQ(server_.store.create.requests.size(), 1u);
  const v1::CreateActionsRequest& request = server_.store.create.requests[0];
  EXPECT_EQ(request.netns(), "red");
  ASSERT_EQ(request.actions_size(), 2);
  EXPECT_EQ(request.actions(0).index(), 3u);
  EXPECT_EQ(request.actions(0).gact().verdict().type(), v1::Verdict::TYPE_DROP);
  EXPECT_EQ(request.actions(1).gact().random().val(), 1u);
}

TEST_F(ActionsTest, CommandsAndObjectsAreAbbreviated) {
  for (const char* line : {"actions add action pass", "action add action pass", "act a action pass",
                           "a add gact pass"}) {
    EXPECT_EQ(Tcact(line).code, 0) << line;
  }
  EXPECT_EQ(server_.store.create.requests.size(), 4u);
  for (const char* line : {"actions change action pass", "actions replace action pass",
                           "actions r action pass", "actions c action pass"}) {
    EXPECT_EQ(Tcact(line).code, 0) << line;
  }
  EXPECT_EQ(server_.store.replace.requests.size(), 4u);
  EXPECT_TRUE(server_.store.replace.requests[0].best_effort());
  for (const char* line : {"actions del action gact index 1", "actions delete action gact index 1",
                           "actions d action gact index 1"}) {
    EXPECT_EQ(Tcact(line).code, 0) << line;
  }
  EXPECT_EQ(server_.store.remove.requests.size(), 3u);
  for (const char* line : {"actions ls action gact", "actions list action gact",
                           "actions show action gact", "actions lst action gact"}) {
    EXPECT_EQ(Tcact(line).code, 0) << line;
  }
  EXPECT_EQ(server_.store.dump.requests.size(), 4u);
}

TEST_F(ActionsTest, AnAddTakes32ActionsAndNoMore) {
  EXPECT_EQ(Tcact("actions add" + Actions(32)).code, 0);
  EXPECT_EQ(server_.store.create.requests[0].actions_size(), 32);
  const Result result = Tcact("actions add" + Actions(33));
  EXPECT_EQ(result.code, 255);
  EXPECT_EQ(result.err, absl::StrCat("Error: Only 32 actions supported per filter.\n", kTalk));
  EXPECT_EQ(server_.store.create.requests.size(), 1u);
}

TEST_F(ActionsTest, GetAndDeleteSeeTheFirst32) {
  EXPECT_EQ(Tcact("actions get" + Keys(33)).code, 0);
  EXPECT_EQ(server_.store.batch_get.requests[0].keys_size(), 32);
  EXPECT_EQ(Tcact("actions del" + Keys(33)).code, 0);
  EXPECT_EQ(server_.store.remove.requests[0].keys_size(), 32);
  EXPECT_TRUE(server_.store.remove.requests[0].best_effort());
}

TEST_F(ActionsTest, ADeleteNamesEachActionOnce) {
  EXPECT_EQ(Tcact("actions del action gact index 7 action police index 7 action gact index 7").code,
            0);
  EXPECT_EQ(server_.store.remove.requests[0].keys_size(), 2);
}

TEST_F(ActionsTest, TheServersReasonsBecomeTheKernelsTexts) {
  const struct {
    StatusCode code;
    const char* reason;
    const char* text;
  } cases[] = {
      {StatusCode::ALREADY_EXISTS, "ACTION_EXISTS", "RTNETLINK answers: File exists\n"},
      {StatusCode::ABORTED, "DUPLICATE_INDEX",
       "RTNETLINK answers: Resource temporarily unavailable\n"},
      {StatusCode::RESOURCE_EXHAUSTED, "NO_FREE_INDEX",
       "RTNETLINK answers: No space left on device\n"},
      {StatusCode::INVALID_ARGUMENT, "NOT_OFFLOADABLE", "RTNETLINK answers: Invalid argument\n"},
      {StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED", "Error: the server's own text\n"},
  };
  for (const auto& c : cases) {
    server_.store.create.status = Reason(c.code, c.reason);
    const Result result = Tcact("actions add action gact pass index 1");
    EXPECT_EQ(result.code, 255) << c.reason;
    EXPECT_EQ(result.err, absl::StrCat(c.text, kTalk));
  }
}

TEST_F(ActionsTest, AMissingDeviceIsNoErrorOfTheKernel) {
  server_.store.create.status = client::WithReason(
      StatusCode::FAILED_PRECONDITION, "actions[1].mirred.device: Cannot find device \"nosuch\"",
      "DEVICE_NOT_FOUND", {{"field", "actions[1].mirred.device"}});
  const Result result = Tcact("actions add action pass action mirred egress mirror dev nosuch");
  EXPECT_EQ(result.code, 255);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "Cannot find device \"nosuch\"\n");
}

TEST_F(ActionsTest, AFailedDeleteOrGetSaysSoOnce) {
  server_.store.remove.status = Reason(StatusCode::NOT_FOUND, "ACTION_NOT_FOUND");
  EXPECT_EQ(Tcact("actions del action gact index 1").err,
            absl::StrCat("Error: TC action with specified index not found.\n", kTalk));
  server_.store.remove.status = Reason(StatusCode::FAILED_PRECONDITION, "ACTION_BOUND");
  const Result result = Tcact("actions del action gact index 1");
  EXPECT_EQ(result.code, 255);
  EXPECT_EQ(result.err, absl::StrCat("Error: Failed to delete TC action.\n", kTalk));
  EXPECT_EQ(Tcact("actions get action gact index 0").err,
            absl::StrCat("Error: Invalid TC action index value.\n", kTalk));
  EXPECT_TRUE(server_.store.batch_get.requests.empty());
}

TEST_F(ActionsTest, RulesAreCheckedBeforeAnythingIsSent) {
  const Result result = Tcact("actions add action gact pass index 1 action gact goto chain 7");
  EXPECT_EQ(result.code, 255);
  // Of two, the one that is meant is shown.
  EXPECT_EQ(result.err,
            absl::StrCat("Error: can't goto NULL proto/chain.\n", kTalk,
                         "  actions add action gact pass index 1 action gact goto chain 7\n",
                         "                                              ^\n"));
  EXPECT_TRUE(server_.store.create.requests.empty());
}

TEST_F(ActionsTest, TheActionThatTheServerRefusesIsShown) {
  server_.store.create.status = client::WithReason(StatusCode::ALREADY_EXISTS, "in use",
                                                   "ACTION_EXISTS", {{"position", "1"}});
  EXPECT_EQ(Tcact("actions add action pass index 1 action drop index 2").err,
            absl::StrCat("RTNETLINK answers: File exists\n", kTalk,
                         "  actions add action pass index 1 action drop index 2\n",
                         "                                         ^\n"));
  EXPECT_EQ(Tcact("actions add action pass index 1").err,
            absl::StrCat("RTNETLINK answers: File exists\n", kTalk));
}

TEST_F(ActionsTest, AReplaceKeepsWhatItReplacedBeforeARuleWasBroken) {
  server_.store.get.response = Gact(3);
  const Result result =
      Tcact("actions replace action drop index 3 action pass action gact goto chain 5 index 20");
  EXPECT_EQ(result.code, 255);
  ASSERT_EQ(server_.store.replace.requests.size(), 1u);
  // Not the one whose index is to be chosen, which is new.
  ASSERT_EQ(server_.store.replace.requests[0].actions_size(), 1);
  EXPECT_EQ(server_.store.replace.requests[0].actions(0).index(), 3u);
}

TEST_F(ActionsTest, AReplaceOfOneNewIndexTwiceIsWholeOrNotAtAll) {
  server_.store.get.status = Reason(StatusCode::NOT_FOUND, "ACTION_NOT_FOUND");
  Tcact("actions replace action pass index 7 action drop index 7");
  EXPECT_FALSE(server_.store.replace.requests.at(0).best_effort());
  server_.store.get.status = grpc::Status::OK;
  Tcact("actions replace action pass index 7 action drop index 7");
  EXPECT_TRUE(server_.store.replace.requests.at(1).best_effort());
}

TEST_F(ActionsTest, WordsThatTcRefusesNeedNoServer) {
  const struct {
    const char* line;
    const char* err;
  } cases[] = {
      {"actions add",
       "Illegal \"action\"\n"
       "  actions add\n"
       "              ^\n"},
      {"actions add action",
       "bad action empty 1\nparse_action: bad value (0:(null))!\nIllegal \"action\"\n"
       "  actions add action\n"
       "                     ^\n"},
      {"actions add action gact drop index foo",
       "Illegal \"index\"\nbad action parsing\nparse_action: bad value (4:gact)!\n"
       "Illegal \"action\"\n"
       "  actions add action gact drop index foo\n"
       "                                     ^\n"},
      {"actions add action gact",
       "Command line is not complete. Try option \"help\"\n"
       "  actions add action gact\n"
       "                          ^\n"},
      {"actions del action gact",
       "Error: no index specified action: gact\n"
       "  actions del action gact\n"
       "                          ^\n"},
      {"actions ls action gact since foo",
       "Error: argument \"foo\" is wrong: dump time \"since\" is invalid\n"
       "  actions ls action gact since foo\n"
       "                               ^\n"},
      {"actions bogus", "Command \"bogus\" is unknown, try \"tcact actions help\".\n"},
      {"filter ls", "Object \"filter\" is unknown, try \"tcact help\".\n"},
  };
  for (const auto& c : cases) {
    const Result result = RunOn("unix:/nonexistent", c.line);
    EXPECT_EQ(result.code, 255) << c.line;
    EXPECT_EQ(result.err, c.err) << c.line;
    EXPECT_EQ(result.out, "") << c.line;
  }
}

TEST_F(ActionsTest, GetPrintsATotalOf0AndOrdersFrom1) {
  *server_.store.batch_get.response.add_actions() = Gact(4);
  EXPECT_EQ(Tcact("actions get action gact index 4").out,
            "total acts 0\n\n\taction order 1: gact action pass\n"
            "\t random type none pass val 0\n\t index 4 ref 1 bind 0\n\tnot_in_hw\n");
  EXPECT_EQ(server_.store.batch_get.requests[0].view(), v1::ACTION_VIEW_BASIC);
  EXPECT_EQ(Tcact("actions get").out, "total acts 0\n");
  EXPECT_EQ(Tcact("-j actions get action").out, "[{\"total acts\":0},{\"actions\":[]}]\n");
  Tcact("-s actions get action gact index 4");
  EXPECT_EQ(server_.store.batch_get.requests[1].view(), v1::ACTION_VIEW_FULL);
}

TEST_F(ActionsTest, ListCountsAndOrdersFrom0) {
  *server_.store.dump.response.add_actions() = Gact(4);
  *server_.store.dump.response.add_actions() = Gact(9, v1::Verdict::TYPE_DROP);
  const Result result = Tcact("actions ls action gact");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "total acts 2\n\n\taction order 0: gact action pass\n"
            "\t random type none pass val 0\n\t index 4 ref 1 bind 0\n\tnot_in_hw\n"
            "\n\taction order 1: gact action drop\n"
            "\t random type none pass val 0\n\t index 9 ref 1 bind 0\n\tnot_in_hw\n");
  EXPECT_TRUE(server_.store.dump.requests[0].poll_hw_stats());
}

TEST_F(ActionsTest, ListAsksForWhatItPrints) {
  Tcact("actions ls action gact since 0x10");
  Tcact("-s actions ls action police");
  Tcact("-br actions ls action gact");
  Tcact("-br -s actions ls action gact");
  const auto& requests = server_.store.dump.requests;
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_EQ(requests[0].view(), v1::ACTION_VIEW_BASIC);
  EXPECT_EQ(requests[0].used_within_ms(), 16u);
  EXPECT_EQ(requests[1].view(), v1::ACTION_VIEW_FULL);
  EXPECT_EQ(requests[1].kind(), "police");
  EXPECT_EQ(requests[2].view(), v1::ACTION_VIEW_TERSE);
  EXPECT_EQ(requests[3].view(), v1::ACTION_VIEW_TERSE_STATS);
}

TEST_F(ActionsTest, AnEmptyListingPrintsNothingAndInJsonAnEmptyArray) {
  EXPECT_EQ(Tcact("actions ls action gact").out, "");
  EXPECT_EQ(Tcact("-j actions ls action gact").out, "[]\n");
  EXPECT_EQ(Tcact("-j actions ls action nosuch").out, "[]\n");
  EXPECT_EQ(Tcact("actions ls action nosuch").code, 0);
}

TEST_F(ActionsTest, AListingThatBreaksOffPrintsNothingOnStandardOutput) {
  *server_.store.dump.response.add_actions() = Gact(4);
  server_.store.dump.status = Reason(StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED");
  const Result result = Tcact("actions ls action gact");
  EXPECT_EQ(result.code, 255);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "Error: the server's own text\nDump terminated\n");
}

TEST_F(ActionsTest, FlushWarnsOfABoundActionAndFailsIfNothingWent) {
  EXPECT_EQ(Tcact("actions flush action gact").code, 0);
  EXPECT_TRUE(server_.store.flush.requests[0].best_effort());
  server_.store.flush.response.set_stopped_at(5);
  Result result = Tcact("actions flush action gact");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "Warning: Unable to flush all TC actions.\n");
  server_.store.flush.status = Reason(StatusCode::FAILED_PRECONDITION, "ACTION_BOUND");
  result = Tcact("actions flush action gact");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "RTNETLINK answers: Operation not permitted\nWe have an error flushing\n");
  result = Tcact("actions flush action nosuch");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "Error: Cannot flush unknown TC action.\nWe have an error flushing\n");
}

TEST_F(ActionsTest, CommandsMayFollowEachOtherInOneLineUntilOneFails) {
  EXPECT_EQ(Tcact("actions add action pass index 1 replace action drop index 2 "
                  "del action gact index 3")
                .code,
            0);
  EXPECT_EQ(server_.store.create.requests.size(), 1u);
  EXPECT_EQ(server_.store.replace.requests.size(), 1u);
  EXPECT_EQ(server_.store.remove.requests.size(), 1u);
  server_.store.create.status = Reason(StatusCode::ALREADY_EXISTS, "ACTION_EXISTS");
  EXPECT_EQ(Tcact("actions add action pass index 1 replace action drop index 2").code, 255);
  EXPECT_EQ(server_.store.replace.requests.size(), 1u);
}

TEST_F(ActionsTest, AnAbsentServerIsNamed) {
  for (const char* line :
       {"actions add action pass", "actions get action gact index 1", "actions ls action gact",
        "actions flush action gact", "health", "bind action pass", "slabinfo"}) {
    const Result result = RunOn("unix:/nonexistent/socket", line);
    EXPECT_EQ(result.code, 1) << line;
    EXPECT_NE(result.err.find("unix:/nonexistent/socket"), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "") << line;
  }
}

TEST_F(ActionsTest, ABadAddressIsAnError) {
  const Result result = RunOn("nowhere", "actions ls action gact");
  EXPECT_EQ(result.code, 255);
  EXPECT_EQ(result.err, "Error: address \"nowhere\": no port; expected host:port or unix:/path\n");
}

}  // namespace
}  // namespace tcact::cli
