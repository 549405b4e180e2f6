#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

using v1::Mirred;
using v1::Verdict;

const Kind& Mirred_() { return *FindKind("mirred"); }

ParseError Parse(absl::string_view text, v1::Action* action) {
  Words words = Words::Split(text);
  return Mirred_().Parse(&words, action);
}

v1::Action Parsed(absl::string_view text) {
  v1::Action action;
  const ParseError error = Parse(text, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  return action;
}

// The first word that is not the kind's own, "" if all are.
std::string LeftOver(absl::string_view text) {
  Words words = Words::Split(text);
  v1::Action action;
  const ParseError error = Mirred_().Parse(&words, &action);
  EXPECT_FALSE(error) << text << ": " << error.text;
  return std::string(words.Peek());
}

RuleError Normalized(v1::Action* action, bool in_filter = false) {
  return Mirred_().Normalize({in_filter}, action);
}

std::string Printed(const v1::Action& action, bool json = false) {
  PrintOptions options;
  options.json = json;
  std::string text;
  Printer out(options, &text);
  out.OpenObject();
  Mirred_().PrintHead(&out);
  Mirred_().Print(action, options, &out);
  out.CloseObject();
  return text;
}

TEST(MirredParse, DirectionOperationAndDevice) {
  const v1::Action action = Parsed("ingress redirect dev dummy0 index 7");
  EXPECT_EQ(action.mirred().direction(), Mirred::DIRECTION_INGRESS);
  EXPECT_EQ(action.mirred().operation(), Mirred::OPERATION_REDIRECT);
  EXPECT_EQ(action.mirred().device(), "dummy0");
  EXPECT_EQ(action.index(), 7u);
}

TEST(MirredParse, TheIndexMayStandBeforeTheTargetOrLast) {
  EXPECT_EQ(Parsed("egress mirror index 5 dev lo").index(), 5u);
  EXPECT_EQ(Parsed("egress index 5 mirror dev lo").index(), 5u);
  EXPECT_EQ(Parsed("egress mirror dev lo pipe index 5").index(), 5u);
  // Before the target the last one counts; after it a second one is too much.
  EXPECT_EQ(Parsed("egress index 5 mirror index 6 dev lo").index(), 6u);
  v1::Action action;
  const ParseError error = Parse("egress mirror index 5 dev lo index 6", &action);
  EXPECT_EQ(error.then, ParseError::Then::kReturn);
  EXPECT_EQ(error.text, "mirred: Illegal double index\n");
}

TEST(MirredParse, ShortFormsInTheOrderOfTc) {
  const v1::Action action = Parsed("e m d lo");
  EXPECT_EQ(action.mirred().direction(), Mirred::DIRECTION_EGRESS);
  EXPECT_EQ(action.mirred().operation(), Mirred::OPERATION_MIRROR);
  EXPECT_EQ(action.mirred().device(), "lo");
  // "i" is ingress until that was said, then index.
  EXPECT_EQ(Parsed("i r i 5 dev lo").index(), 5u);
}

TEST(MirredParse, BlockidIsNotAbbreviated) {
  EXPECT_EQ(Parsed("egress mirror blockid 0x10").mirred().block_id(), 16u);
  EXPECT_EQ(LeftOver("egress mirror block 16"), "block");
}

TEST(MirredParse, ABlockHasANumberFrom1To4294967295) {
  EXPECT_EQ(Parsed("egress redirect blockid 4294967295").mirred().block_id(), 4294967295u);
  EXPECT_EQ(Parsed("egress redirect blockid 1").mirred().block_id(), 1u);
  for (const char* bad : {"0", "4294967296", "-1", "foo"}) {
    v1::Action action;
    const ParseError error = Parse(std::string("egress mirror blockid ") + bad, &action);
    EXPECT_EQ(error.then, ParseError::Then::kReturn) << bad;
    EXPECT_EQ(error.text, "invalid block ID\n") << bad;
  }
}

TEST(MirredParse, ABlockAndADeviceExcludeEachOther) {
  v1::Action action;
  EXPECT_EQ(Parse("egress mirror blockid 1 dev lo", &action).then, ParseError::Then::kReturn);
  // In this order tc has stopped reading before the block.
  EXPECT_EQ(LeftOver("egress mirror dev lo blockid 1"), "blockid");
}

TEST(MirredParse, OnlyMirrorTakesAVerdict) {
  EXPECT_EQ(Parsed("egress mirror dev lo drop").mirred().verdict().type(), Verdict::TYPE_DROP);
  EXPECT_EQ(Parsed("egress mirror dev lo goto chain 3").mirred().verdict().value(), 3u);
  EXPECT_EQ(LeftOver("egress redirect dev lo drop"), "drop");
}

TEST(MirredParse, SaysOnlyOneOfTwo) {
  for (const char* text : {"egress ingress mirror dev lo", "ingress mirror egress dev lo",
                           "egress mirror redirect dev lo", "egress redirect mirror dev lo"}) {
    v1::Action action;
    EXPECT_EQ(Parse(text, &action).then, ParseError::Then::kReturn) << text;
  }
}

TEST(MirredParse, AWordSaidTwiceIsPassedOverOrEndsTheWords) {
  EXPECT_EQ(LeftOver("egress egress mirror dev lo"), "");
  EXPECT_EQ(LeftOver("egress mirror egress dev lo"), "egress");
  EXPECT_EQ(LeftOver("egress mirror mirror dev lo"), "mirror");
}

TEST(MirredParse, UnknownWordsBeforeTheOperationArePassedOver) {
  EXPECT_EQ(Parsed("egress foo mirror dev lo").mirred().device(), "lo");
  v1::Action action;
  EXPECT_EQ(Parse("egress foo dev lo index 200", &action).then, ParseError::Then::kExit);
}

TEST(MirredParse, TheNextActionMayFollow) {
  EXPECT_EQ(LeftOver("egress redirect dev lo action pipe"), "action");
  EXPECT_EQ(LeftOver("index 5 action pipe"), "action");
}

TEST(MirredParse, BeginsWithADirectionOrAnIndex) {
  v1::Action action;
  const ParseError error = Parse("mirror dev lo", &action);
  EXPECT_EQ(error.then, ParseError::Then::kReturn);
  EXPECT_EQ(error.text, "mirred option not supported mirror\n");
  EXPECT_EQ(Parse("help", &action).text, Mirred_().help());
}

TEST(MirredParse, MissingValuesEndTc) {
  for (const char* text : {"", "egress", "egress mirror", "egress mirror dev", "index",
                           "egress mirror index 5", "egress mirror blockid"}) {
    v1::Action action;
    EXPECT_EQ(Parse(text, &action).then, ParseError::Then::kExit) << text;
  }
}

TEST(MirredParse, BadIndexesReturn) {
  for (const char* text :
       {"index 4294967296", "egress index -1 mirror dev lo", "egress mirror dev lo index foo"}) {
    v1::Action action;
    EXPECT_EQ(Parse(text, &action).then, ParseError::Then::kReturn) << text;
  }
}

TEST(MirredNormalize, FillsInTheDefaults) {
  v1::Action action;
  action.mutable_mirred()->set_operation(Mirred::OPERATION_MIRROR);
  action.mutable_mirred()->set_device("lo");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(action.mirred().direction(), Mirred::DIRECTION_EGRESS);
  EXPECT_EQ(action.mirred().verdict().type(), Verdict::TYPE_PIPE);
  action = Parsed("egress redirect dev lo");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(action.mirred().verdict().type(), Verdict::TYPE_STOLEN);
}

TEST(MirredNormalize, AnOperationIsRequired) {
  v1::Action action = Parsed("index 200");
  const RuleError error = Normalized(&action);
  EXPECT_EQ(error.field, "mirred.operation");
  EXPECT_EQ(error.text, "0; 1 to 2 are allowed");
  EXPECT_EQ(error.kernel_text, "Error: act_mirred: Unknown mirred option.");
}

TEST(MirredNormalize, OneTargetIsRequired) {
  v1::Action action = Parsed("egress mirror pipe");
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: act_mirred: Must specify device or block.");
  action.mutable_mirred()->set_device("lo");
  action.mutable_mirred()->set_block_id(21);
  EXPECT_EQ(Normalized(&action).kernel_text,
            "Error: act_mirred: Cannot specify Block ID and dev simultaneously.");
}

TEST(MirredNormalize, ADevicesNameHas1To15Bytes) {
  v1::Action action = Parsed("egress mirror dev fifteen-bytes-x");
  EXPECT_FALSE(Normalized(&action));
  action = Parsed("egress mirror dev sixteen-bytes-xx");
  EXPECT_EQ(Normalized(&action).field, "mirred.device");
}

TEST(MirredNormalize, UnknownEnumValuesAreRefused) {
  v1::Action action = Parsed("egress mirror dev lo");
  action.mutable_mirred()->set_direction(static_cast<Mirred::Direction>(3));
  EXPECT_EQ(Normalized(&action).field, "mirred.direction");
  action = Parsed("egress mirror dev lo");
  action.mutable_mirred()->set_operation(static_cast<Mirred::Operation>(3));
  EXPECT_EQ(Normalized(&action).field, "mirred.operation");
}

TEST(MirredNormalize, GotoChainIsForFilters) {
  v1::Action action = Parsed("egress mirror dev lo goto chain 5");
  EXPECT_EQ(Normalized(&action).kernel_text, "Error: can't goto NULL proto/chain.");
  EXPECT_FALSE(Normalized(&action, true));
}

TEST(MirredPrint, TextAndJson) {
  v1::Action action = Parsed("ingress mirror dev lo index 3");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(Printed(action), "mirred (Ingress Mirror to device lo) pipe\n\tindex 3 ref 0 bind 0\n");
  EXPECT_EQ(Printed(action, true),
            R"({"kind":"mirred","mirred_action":"mirror","direction":"ingress","to_dev":"lo",)"
            R"("control_action":{"type":"pipe"},"index":3,"ref":0,"bind":0})");
  action = Parsed("egress redirect blockid 21");
  EXPECT_FALSE(Normalized(&action));
  EXPECT_EQ(Printed(action),
            "mirred (Egress Redirect to blockid 21) stolen\n\tindex 0 ref 0 bind 0\n");
}

TEST(MirredOffload, HardwareTakesAll) {
  EXPECT_TRUE(Mirred_().Offloadable(Parsed("egress redirect dev lo")));
  EXPECT_TRUE(Mirred_().Offloadable(Parsed("ingress mirror blockid 3")));
}

}  // namespace
}  // namespace tcact::kinds
