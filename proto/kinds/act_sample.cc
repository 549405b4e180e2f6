// sample: copies one packet in some to a psample group.
#include "absl/strings/str_cat.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Sample;
using v1::Verdict;

class SampleKind : public KindOf<Sample, v1::Action::kSampleFieldNumber, &v1::Action::sample,
                                 &v1::Action::mutable_sample> {
 public:
  absl::string_view name() const override { return "sample"; }
  // Three numbers and a verdict take up to 22 bytes.
  uint32_t inline_params() const override { return 24; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    // As tc: one word would not do.
    if (words->AtEnd()) return ParseError::Missing("sample count");
    Sample* sample = mutable_params(action);
    bool rate = false;
    uint32_t value = 0;
    while (!words->AtEnd()) {
      if (words->Matches("rate")) {
        if (ParseError error = ReadNumber(words, "rate", &value)) return error;
        sample->set_rate(value);
        rate = true;
      } else if (words->Matches("group")) {
        if (ParseError error = ReadNumber(words, "group num", &value)) return error;
        sample->set_group(value);
      } else if (words->Matches("trunc")) {
        if (ParseError error = ReadNumber(words, "truncation size", &value)) return error;
        sample->set_truncate(value);
      } else if (words->Matches("help")) {
        return ParseError::Exit(std::string(help()));
      } else {
        break;
      }
    }
    if (ParseError error = ParseVerdictAndIndex(words, name(), Verdict::TYPE_PIPE,
                                                sample->mutable_verdict(), action)) {
      return error;
    }
    if (action->index() == 0 && !sample->has_group()) return Missing("group");
    if (action->index() == 0 && !rate) return Missing("rate");
    return {};
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Sample* sample = mutable_params(action);
    if (!sample->has_group()) {
      return {"sample.group", "none given; 0 to 4294967295 are allowed",
              "Error: sample rate and group are required."};
    }
    if (sample->rate() == 0) {
      RuleError error = OutOfRange("sample.rate", 0, 1, 0xffffffffU);
      error.kernel_text = "Error: invalid sample rate.";
      return error;
    }
    return CheckVerdict("sample.verdict", context, Verdict::TYPE_PIPE, sample->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return true; }

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    const Sample& sample = params(action);
    out->Uint("rate", "rate 1/%u ", sample.rate());
    out->Uint("group", "group %u", sample.group());
    if (sample.has_truncate()) out->Uint("trunc_size", " trunc_size %u", sample.truncate());
    PrintVerdict(" ", sample.verdict(), "", out);
    out->Line();
    PrintCounts(action, options, out);
  }

  absl::string_view help() const override {
    return "Usage: ... action sample rate RATE group GROUP [trunc SIZE] [VERDICT] [index INDEX]\n"
           "Copies one packet in RATE to a psample group.\n"
           "  RATE     1 to 4294967295\n"
           "  GROUP    0 to 4294967295\n"
           "  SIZE     bytes of each copy; all, unless given\n"
           "  VERDICT  pipe, unless given; see gact\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"rate 1 group 0", "rate 4294967295 group 4294967295 trunc 128 index 3",
            "group 7 rate 100 pass", "rate 9 group 2 jump 3"};
  }

 private:
  // The number after a keyword; past it. `what` names it in errors, which show the help and end tc.
  ParseError ReadNumber(Words* words, absl::string_view what, uint32_t* value) const {
    if (ParseError error = words->Advance()) return error;
    if (!ParseU32(words->Peek(), 10, value)) {
      return ParseError::Exit(absl::StrCat("Illegal ", what, " ", words->Peek(), "\n", help()));
    }
    words->Skip();
    return {};
  }

  ParseError Missing(absl::string_view what) const {
    return ParseError::Exit(absl::StrCat("param \"", what, "\" not set\n", help()));
  }
};

TCACT_REGISTER_KIND(SampleKind)

}  // namespace
}  // namespace tcact::kinds
