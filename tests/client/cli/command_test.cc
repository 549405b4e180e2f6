#include "client/cli/command.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "client/cli/usage.h"
#include "tests/client/cli/command_fixture.h"

namespace tcact::cli {
namespace {

using grpc::StatusCode;

using BatchTest = CommandTest;
using OwnCommandsTest = CommandTest;

TEST_F(BatchTest, RunsItsCommandsInOrder) {
  const Result result = Tcact(
      "-batch -", "actions add action pass index 1\n# none\nactions get action gact index 1\n");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "total acts 0\n");
  EXPECT_EQ(server_.store.create.requests.size(), 1u);
}

TEST_F(BatchTest, StopsAtTheFirstFailureAndNamesTheLine) {
  server_.store.create.status = Reason(StatusCode::ALREADY_EXISTS, "ACTION_EXISTS");
  const Result result =
      Tcact("-b -", "\nactions add action pass index 1\nactions add action pass index 2\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err,
            "RTNETLINK answers: File exists\nWe have an error talking to the kernel\n"
            "Command failed -:2\n");
  EXPECT_EQ(server_.store.create.requests.size(), 1u);
}

TEST_F(BatchTest, SendsChangesAheadInOneStream) {
  std::string input;
  for (int i = 1; i <= 2000; ++i)
    absl::StrAppend(&input, "actions add action pass index ", i, "\n");
  input += "actions replace action drop index 5\nactions del action gact index 6\n";
  const Result result = Tcact("-n red -batch -", input);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out + result.err, "");
  ASSERT_EQ(server_.store.create.requests.size(), 2000u);
  for (uint32_t i = 0; i < 2000; ++i) {
    EXPECT_EQ(server_.store.create.requests[i].actions(0).index(), i + 1);
  }
  EXPECT_EQ(server_.store.create.requests[0].netns(), "red");
  EXPECT_EQ(server_.store.replace.requests.size(), 1u);
  EXPECT_EQ(server_.store.remove.requests.size(), 1u);
  EXPECT_LE(server_.store.apply_batches, 5);
}

TEST_F(BatchTest, DoesNothingBehindAFailureThoughItWasSent) {
  server_.store.create.status = Reason(StatusCode::ALREADY_EXISTS, "ACTION_EXISTS");
  server_.store.create.failing = 700;
  std::string input;
  for (int i = 1; i <= 5000; ++i)
    absl::StrAppend(&input, "actions add action pass index ", i, "\n");
  const Result result = Tcact("-batch -", input);
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err,
            "RTNETLINK answers: File exists\nWe have an error talking to the kernel\n"
            "Command failed -:701\n");
  EXPECT_EQ(server_.store.create.requests.size(), 701u);
}

TEST_F(BatchTest, NamesEachFailureInOrderWithForce) {
  server_.store.remove.status = Reason(StatusCode::NOT_FOUND, "ACTION_NOT_FOUND");
  const Result result = Tcact("-force -batch -",
                              "actions del action gact index 1\nactions add action pass\n"
                              "actions bogus\nactions del action gact index 2\n");
  EXPECT_EQ(result.code, 1);
  const std::string refused =
      "Error: TC action with specified index not found.\n"
      "We have an error talking to the kernel\nCommand failed -:";
  EXPECT_EQ(result.err,
            absl::StrCat(refused, "1\nCommand \"bogus\" is unknown, try \"tcact actions help\".\n",
                         "Command failed -:3\n", refused, "4\n"));
  EXPECT_EQ(server_.store.create.requests.size(), 1u);
}

TEST_F(BatchTest, AFailureComesBeforeWhatALaterLineWouldPrint) {
  server_.store.create.status = Reason(StatusCode::ALREADY_EXISTS, "ACTION_EXISTS");
  const Result result =
      Tcact("-batch -", "actions add action pass index 1\nactions get action\nactions bogus\n");
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "RTNETLINK answers: File exists\nWe have an error talking to the kernel\n"
            "Command failed -:1\n");
}

TEST_F(BatchTest, AListOfAddsIsOneChange) {
  EXPECT_EQ(Tcact("-batch -", "actions add action pass index 1 action drop index 2\n").code, 0);
  ASSERT_EQ(server_.store.create.requests.size(), 1u);
  EXPECT_EQ(server_.store.create.requests[0].actions_size(), 2);
}

TEST_F(BatchTest, WhatNoOperationCanDoIsACallOfItsOwn) {
  EXPECT_EQ(Tcact("-batch -",
                  "actions replace action pass index 1 action drop index 2\n"
                  "actions del action gact index 1 action gact index 2\n"
                  "actions add action pass index 1 add action pass index 2\n")
                .code,
            0);
  EXPECT_EQ(server_.store.apply_batches, 0);
  EXPECT_EQ(server_.store.replace.requests.size(), 1u);
  EXPECT_EQ(server_.store.remove.requests.size(), 1u);
  EXPECT_EQ(server_.store.create.requests.size(), 2u);
}

TEST_F(BatchTest, WithoutAServerItEndsAtOnce) {
  const Result result = RunOn("unix:/nonexistent", "-force -batch -",
                              "actions add action pass\nactions add action pass\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err.substr(0, 61),
            "Error: no answer from a server at unix:/nonexistent (failed t")
      << result.err;
  EXPECT_NE(result.err.find("Of the lines 1 to 2 it is unknown which were done"), std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("\nCommand failed -:1\n"), std::string::npos) << result.err;
}

TEST_F(BatchTest, GoesOnWithForceAndStillFails) {
  const Result result =
      Tcact("-force -batch -", "actions bogus\nactions add action pass index 1\nfoo bar\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err,
            "Command \"bogus\" is unknown, try \"tcact actions help\".\nCommand failed -:1\n"
            "Object \"foo\" is unknown, try \"tcact help\".\nCommand failed -:3\n");
  EXPECT_EQ(server_.store.create.requests.size(), 1u);
}

TEST_F(BatchTest, EndsWhereTcWouldExitEvenWithForce) {
  const Result result =
      Tcact("-force -batch -", "actions add action gact pass index\nactions add action pass\n");
  EXPECT_EQ(result.code, 255);
  EXPECT_EQ(result.err,
            "Command line is not complete. Try option \"help\"\n"
            "  -:1: actions add action gact pass index\n"
            "                                          ^\n");
  EXPECT_TRUE(server_.store.create.requests.empty());
}

TEST_F(BatchTest, AFileThatCannotBeReadIsNamed) {
  const Result result = Tcact("-batch /nonexistent");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err,
            "Cannot open file \"/nonexistent\" for reading: No such file or directory\n");
}

TEST_F(BatchTest, ReadsAFileByName) {
  const std::string path = testing::TempDir() + "/batch";
  std::ofstream(path) << "actions bogus\n";
  EXPECT_NE(Tcact("-batch " + path).err.find("Command failed " + path + ":1"), std::string::npos);
}

TEST_F(BatchTest, PrintsADocumentForEachListing) {
  EXPECT_EQ(Tcact("-j -batch -", "actions ls action gact\nactions ls action police\n").out,
            "[]\n[]\n");
}

TEST_F(BatchTest, ABrokenLineEndsIt) {
  const Result result = Tcact("-force -batch -", "actions add \"action\nactions bogus\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "Unterminated quoted string\n");
}

TEST_F(OwnCommandsTest, BindPrintsWhatBecameOfEachAction) {
  v1::Action action = Gact(5);
  action.set_refcnt(2);
  action.set_bindcnt(1);
  *server_.store.bind.response.add_actions() = action;
  EXPECT_EQ(Tcact("bind action gact goto chain 3 index 5").out, "gact index 5 ref 2 bind 1\n");
  EXPECT_EQ(server_.store.bind.requests[0].actions(0).gact().verdict().type(),
            v1::Verdict::TYPE_GOTO_CHAIN);
  EXPECT_EQ(Tcact("-j bind action pass").out,
            "[{\"kind\":\"gact\",\"index\":5,\"ref\":2,\"bind\":1}]\n");
}

TEST_F(OwnCommandsTest, UnbindTellsWhatWasDestroyed) {
  v1::Action action = Gact(5);
  action.set_refcnt(0);
  *server_.store.unbind.response.add_actions() = action;
  EXPECT_EQ(Tcact("unbind action gact index 5").out, "gact index 5 ref 0 bind 0 destroyed\n");
  EXPECT_EQ(server_.store.unbind.requests[0].keys(0).index(), 5u);
  server_.store.unbind.status = Reason(StatusCode::NOT_FOUND, "ACTION_NOT_FOUND");
  const Result result = Tcact("unbind action gact index 5");
  EXPECT_EQ(result.code, 255);
  EXPECT_EQ(result.err, "Error: TC action with specified index not found.\n");
}

TEST_F(OwnCommandsTest, BindAndUnbindNeedAList) {
  for (const char* line : {"bind", "unbind", "bind action", "bind action pass get",
                           "unbind action gact", "stats", "stats add", "stats reset"}) {
    EXPECT_EQ(Tcact(line).code, 255) << line;
  }
}

TEST_F(OwnCommandsTest, StatsAddSendsColumnsForEachKindAndSide) {
  server_.store.update_stats.response.set_applied(1);
  const Result result = Tcact(
      "stats add action gact index 5 bytes 1500 packets 1 drops 2 action gact index 6 overlimits 3 "
      "requeues 4 qlen -5 backlog 6 action gact index 5 bytes 9 hw action police index 5 packets "
      "7");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  const auto& requests = server_.store.update_stats.requests;
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].ShortDebugString(),
            "kind: \"gact\" indexes: 5 indexes: 6 packets: 1 packets: 0 bytes: 1500 bytes: 0 "
            "drops: 2 drops: 0 overlimits: 0 overlimits: 3 requeues: 0 requeues: 4 "
            "qlen_delta: 0 qlen_delta: -5 backlog_delta: 0 backlog_delta: 6");
  EXPECT_TRUE(requests[1].hardware());
  EXPECT_EQ(requests[2].kind(), "police");
}

TEST_F(OwnCommandsTest, StatsAddNamesTheActionsThatAreAbsent) {
  server_.store.update_stats.response.set_applied(1);
  server_.store.update_stats.response.add_missing(1);
  Result result = Tcact("stats add action gact index 5 bytes 1 action gact index 6 bytes 1");
  EXPECT_EQ(result.code, 255);
  EXPECT_EQ(result.err, "Error: no action gact index 6\n");
  result = Tcact("-j stats add action gact index 5 bytes 1 action gact index 6 bytes 1");
  EXPECT_EQ(result.out, "[{\"missing\":[{\"kind\":\"gact\",\"index\":6}],\"applied\":1}]\n");
}

TEST_F(OwnCommandsTest, StatsResetSendsKeys) {
  EXPECT_EQ(Tcact("stats reset action gact index 5").code, 0);
  EXPECT_EQ(server_.store.reset_stats.requests[0].keys(0).index(), 5u);
}

TEST_F(OwnCommandsTest, LockstatHasTheColumnsOfTheKernels) {
  v1::LockStat* lock = server_.admin.lock_stats.response.add_locks();
  lock->set_name("pcpu_alloc_mutex");
  lock->set_acquired(10960000);
  lock->set_contended(2);
  lock->set_wait_total_ns(80000000000);
  lock->set_wait_max_ns(1500);
  lock->set_wait_min_ns(12);
  EXPECT_EQ(Tcact("lockstat").out,
            "Name                               acquired    contended    avg wait  total wait"
            "    max wait    min wait\n"
            "pcpu_alloc_mutex                   10960000            2     40.00 s      1.33 m"
            "     1.50 us       12 ns\n");
  EXPECT_EQ(Tcact("-j lockstat").out,
            "[{\"name\":\"pcpu_alloc_mutex\",\"acquired\":10960000,\"contended\":2,"
            "\"wait_avg_ns\":40000000000,\"wait_total_ns\":80000000000,\"wait_max_ns\":1500,"
            "\"wait_min_ns\":12}]\n");
  EXPECT_EQ(Tcact("lockstat reset").code, 0);
  EXPECT_EQ(server_.admin.reset_locks.requests.size(), 1u);
}

TEST_F(OwnCommandsTest, SlabinfoPrintsCachesAndPerCpuMemory) {
  v1::SlabCache* cache = server_.admin.slab_info.response.add_caches();
  cache->set_name("act_gact");
  cache->set_objects_in_use(2);
  server_.admin.slab_info.response.mutable_percpu()->set_units(2);
  const std::string text = Tcact("slabinfo").out;
  EXPECT_NE(text.find("\nact_gact                      2 "), std::string::npos) << text;
  EXPECT_NE(text.find("\npercpu: units 2,"), std::string::npos) << text;
  const std::string json = Tcact("-j slabinfo").out;
  EXPECT_EQ(json.substr(0, 52), "[{\"caches\":[{\"name\":\"act_gact\",\"objects_in_use\":2,\"o");
  EXPECT_NE(json.find("\"percpu\":{\"units\":2,"), std::string::npos) << json;
}

TEST_F(OwnCommandsTest, NetnsListsDeletesAndSetsQuotas) {
  v1::Namespace* netns = server_.admin.namespaces.response.add_namespaces();
  netns->set_actions(2);
  netns = server_.admin.namespaces.response.add_namespaces();
  netns->set_name("red");
  netns->set_max_actions(9);
  EXPECT_EQ(Tcact("netns").out, "(default) actions 2\nred actions 0 quota 9\n");
  EXPECT_EQ(Tcact("-j netns ls").out,
            "[{\"name\":\"\",\"actions\":2},{\"name\":\"red\",\"actions\":0,\"quota\":9}]\n");
  server_.admin.delete_namespace.response.set_actions(7);
  EXPECT_EQ(Tcact("netns del red").out, "7 actions destroyed\n");
  EXPECT_EQ(server_.admin.delete_namespace.requests[0].netns(), "red");
  EXPECT_EQ(Tcact("netns quota red 5").code, 0);
  EXPECT_EQ(server_.admin.quota.requests[0].max_actions(), 5u);
  for (const char* line : {"netns del", "netns quota red", "netns quota red x", "netns foo",
                           "netns ls more", "slabinfo more", "health more"}) {
    EXPECT_EQ(Tcact(line).code, 255) << line;
  }
}

TEST_F(OwnCommandsTest, HealthDescribesAServerThatServes) {
  server_.admin.server_info.response.set_version("9.9");
  server_.admin.server_info.response.add_kinds("gact");
  const Result result = Tcact("health");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.substr(0, 20), "SERVING\ntcactd 9.9, ");
  EXPECT_NE(Tcact("-j health").out.find("[{\"health\":\"SERVING\",\"version\":\"9.9\""),
            std::string::npos);
}

TEST_F(OwnCommandsTest, HealthOfAServerThatDoesNotServeIs1) {
  server_.server()->GetHealthCheckService()->SetServingStatus(false);
  const Result result = Tcact("health");
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("does not serve"), std::string::npos) << result.err;
}

TEST_F(OwnCommandsTest, HelpGoesWhereTcSendsIt) {
  for (const char* line : {"", "help", "-h", "-help"}) {
    const Result result = RunOn("unix:/nonexistent", line);
    EXPECT_EQ(result.code, 0) << line;
    EXPECT_EQ(result.err, Usage()) << line;
    EXPECT_EQ(result.out, "") << line;
  }
  EXPECT_EQ(RunOn("unix:/nonexistent", "--help").out, Usage());
}

TEST_F(OwnCommandsTest, VersionNeedsNoServer) {
  EXPECT_EQ(RunOn("unix:/nonexistent", "-V").out, "tcact utility, version 0.1.0\n");
}

}  // namespace
}  // namespace tcact::cli
