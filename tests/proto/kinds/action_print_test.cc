#include "proto/kinds/action_print.h"

#include "gtest/gtest.h"

namespace tcact::kinds {
namespace {

v1::Action Drop() {
  v1::Action action;
  action.set_kind("gact");
  action.set_index(1);
  action.set_refcnt(2);
  action.set_bindcnt(1);
  action.mutable_gact()->mutable_verdict()->set_type(v1::Verdict::TYPE_DROP);
  action.mutable_stats();
  return action;
}

std::string Listed(const std::vector<v1::Action>& actions, const PrintOptions& options) {
  Listing listing(options, 0);
  for (const v1::Action& action : actions) listing.Add(action);
  return listing.Close(listing.count());
}

TEST(Listing, HeadOrdersAndTail) {
  EXPECT_EQ(Listed({Drop()}, {}),
            "total acts 1\n\n\taction order 0: gact action drop\n\t random type none pass val 0\n"
            "\t index 1 ref 2 bind 1\n\tnot_in_hw\n");
}

TEST(Listing, ATotalOfAnyLengthFindsItsPlace) {
  Listing text({}, 1);
  EXPECT_EQ(text.Close(1234567), "total acts 1234567\n");
  PrintOptions options;
  options.json = true;
  Listing json(options, 1);
  EXPECT_EQ(json.Close(0), "[{\"total acts\":0},{\"actions\":[]}]\n");
}

TEST(Listing, StatisticsAndTimes) {
  v1::Action action = Drop();
  action.set_installed_ago_ms(3999);
  action.set_last_used_ago_ms(1000);
  action.set_first_used_ago_ms(2500);
  action.mutable_stats()->set_bytes(196);
  action.mutable_stats()->set_packets(2);
  action.mutable_stats()->set_drops(3);
  action.mutable_stats()->set_overlimits(4);
  action.mutable_stats()->set_requeues(5);
  action.mutable_stats()->set_backlog(10240);
  action.mutable_stats()->set_qlen(7);
  PrintOptions options;
  options.stats = true;
  EXPECT_EQ(Listed({action}, options),
            "total acts 1\n\n\taction order 0: gact action drop\n\t random type none pass val 0\n"
            "\t index 1 ref 2 bind 1 installed 3 sec used 1 sec firstused 2 sec\n"
            "\tAction statistics:\n"
            "\tSent 196 bytes 2 pkt (dropped 3, overlimits 4 requeues 5) \n"
            "\tbacklog 10Kb 7p requeues 5\n\tnot_in_hw\n");
  options.json = true;
  EXPECT_NE(Listed({action}, options)
                .find("\"installed\":3,\"last_used\":1,\"first_used\":2,\"stats\":{\"bytes\":196,"
                      "\"packets\":2,\"drops\":3,\"overlimits\":4,\"requeues\":5,"
                      "\"backlog\":10240,\"qlen\":7},\"not_in_hw\":true}"),
            std::string::npos);
}

TEST(Listing, WhatHardwareCountedIsShownApart) {
  v1::Action action = Drop();
  action.mutable_stats()->set_bytes(300);
  action.mutable_stats()->set_packets(3);
  action.mutable_stats()->set_hw_bytes(100);
  action.mutable_stats()->set_hw_packets(1);
  PrintOptions options;
  options.stats = true;
  EXPECT_NE(Listed({action}, options)
                .find("\tSent 300 bytes 3 pkt (dropped 0, overlimits 0 requeues 0) \n"
                      "\tSent software 200 bytes 2 pkt\n\tSent hardware 100 bytes 1 pkt\n"
                      "\tbacklog 0b 0p requeues 0\n"),
            std::string::npos);
}

TEST(Listing, CookieAndFlags) {
  v1::Action action = Drop();
  action.set_cookie("\x0a\xff");
  action.set_no_percpu(true);
  action.set_hw_stats(v1::HW_STATS_IMMEDIATE);
  action.set_used_hw_stats(v1::HW_STATS_DISABLED);
  const std::string tail =
      "\tcookie 0aff\n\tno_percpu\tnot_in_hw\n\thw_stats immediate\n"
      "\tused_hw_stats disabled\n";
  const std::string text = Listed({action}, {});
  EXPECT_EQ(text.substr(text.size() - tail.size()), tail);
  PrintOptions options;
  options.json = true;
  EXPECT_NE(Listed({action}, options)
                .find("\"bind\":1,\"cookie\":\"0aff\",\"no_percpu\":true,\"not_in_hw\":true,"
                      "\"hw_stats\":[\"immediate\"],\"used_hw_stats\":[\"disabled\"]}"),
            std::string::npos);
  action.Clear();
  action = Drop();
  action.set_skip_hw(true);
  EXPECT_NE(Listed({action}, {}).find("bind 1\n\tskip_hw\n"), std::string::npos);
}

TEST(Listing, ATerseActionHasKindIndexAndCookie) {
  v1::Action gact;
  gact.set_kind("gact");
  gact.set_index(1);
  gact.set_cookie("\xaa");
  v1::Action police;
  police.set_kind("police");
  police.set_index(2);
  PrintOptions options;
  options.brief = true;
  EXPECT_EQ(Listed({gact, police}, options),
            "total acts 2\n\n\taction order 0: gact \t index 1\n\tcookie aa\n"
            "\n\taction order 1: \t index 2\n");
  options.json = true;
  EXPECT_EQ(Listed({gact, police}, options),
            "[{\"total acts\":2},{\"actions\":[{\"order\":0,\"kind\":\"gact\",\"index\":1,"
            "\"cookie\":\"aa\"},{\"order\":1,\"kind\":\"police\",\"index\":2}]}]\n");
}

TEST(Listing, AnActionOfAKindThatThisProgramDoesNotKnowIsPrintedTersely) {
  v1::Action action;
  action.set_kind("newkind");
  action.set_index(9);
  EXPECT_EQ(Listed({action}, {}), "total acts 1\n\n\taction order 0: newkind \t index 9\n");
}

TEST(Listing, PrettyIsLaidOutAsTcDoes) {
  PrintOptions options;
  options.json = true;
  options.pretty = true;
  v1::Action action = Drop();
  action.set_used_hw_stats(v1::HW_STATS_DISABLED);
  EXPECT_EQ(Listed({action}, options), R"([ {
        "total acts": 1
    },{
        "actions": [ {
                "order": 0,
                "kind": "gact",
                "control_action": {
                    "type": "drop"
                },
                "prob": {
                    "random_type": "none",
                    "control_action": {
                        "type": "pass"
                    },
                    "val": 0
                },
                "index": 1,
                "ref": 2,
                "bind": 1,
                "not_in_hw": true,
                "used_hw_stats": [ "disabled" ]
            } ]
    } ]
)");
}

TEST(Listing, OfNothing) {
  PrintOptions options;
  EXPECT_EQ(EmptyListing(options), "");
  options.json = true;
  EXPECT_EQ(EmptyListing(options), "[]\n");
  options.pretty = true;
  EXPECT_EQ(EmptyListing(options), "[ ]\n");
}

}  // namespace
}  // namespace tcact::kinds
