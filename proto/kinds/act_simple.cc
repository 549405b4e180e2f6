// simple: logs a text.
#include "absl/strings/str_cat.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

using v1::Simple;
using v1::Verdict;

// The kernel's 32, the end of the string included.
constexpr size_t kMaxText = 31;

class SimpleKind : public KindOf<Simple, v1::Action::kSimpleFieldNumber, &v1::Action::simple,
                                 &v1::Action::mutable_simple> {
 public:
  absl::string_view name() const override { return "simple"; }
  // Two bytes, the text, and up to 9 of a verdict.
  uint32_t inline_params() const override { return 48; }

  ParseError Parse(Words* words, v1::Action* action) const override {
    if (words->AtEnd()) return ParseError::Incomplete();
    Simple* simple = mutable_params(action);
    // The kind may be said again, and short forms of both words mean it.
    while (words->Matches("simple") || words->Matches("sdata")) {
      const bool kind = words->Matches("simple");
      if (ParseError error = words->Advance()) return error;
      if (kind) continue;
      simple->set_text(std::string(words->Peek()));
      words->Skip();
    }
    if (words->Matches("help")) return ParseError::Exit(std::string(help()));
    if (ParseError error = ParseVerdictOr(words, Numbers::kRefused, Verdict::TYPE_PIPE,
                                          simple->mutable_verdict())) {
      return error;
    }
    if (!simple->has_text() && !words->Matches("index"))
      return ParseError::Return(std::string(help()));
    if (ParseError error = ParseIndex(words, name(), action)) return error;
    if (simple->text().size() > kMaxText) {
      return ParseError::Return(absl::StrCat("simple: Illegal string len ", simple->text().size(),
                                             " <", simple->text(), ">\n"));
    }
    return {};
  }

  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    Simple* simple = mutable_params(action);
    const std::string& text = simple->text();
    if (!simple->has_text()) {
      return {"simple.text", absl::StrCat("none given; 0 to ", kMaxText, " bytes are allowed"),
              "RTNETLINK answers: Invalid argument"};
    }
    if (text.size() > kMaxText) {
      return {
          "simple.text", absl::StrCat(text.size(), " bytes; 0 to ", kMaxText, " are allowed"), {}};
    }
    if (text.find('\0') != std::string::npos) return {"simple.text", "a zero byte inside", {}};
    return CheckVerdict("simple.verdict", context, Verdict::TYPE_PIPE, simple->mutable_verdict());
  }

  bool Offloadable(const v1::Action& /*action*/) const override { return false; }

  // tc prints no kind here, neither in text nor in JSON.
  void PrintHead(Printer* /*out*/) const override {}

  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    out->String("simple", "Simple <%s>", params(action).text());
    out->Line();
    PrintCounts(action, options, out);
  }

  absl::string_view help() const override {
    return "Usage: ... action simple sdata TEXT [VERDICT] [index INDEX]\n"
           "Logs a text for each packet.\n"
           "  TEXT     0 to 31 bytes\n"
           "  VERDICT  pipe, unless given; see gact\n"
           "  INDEX    0 (the lowest free one) to 4294967295\n";
  }

  std::vector<std::string> examples() const override {
    return {"sdata hello", "sdata 0123456789012345678901234567890 drop", "sdata x jump 1 index 5"};
  }
};

TCACT_REGISTER_KIND(SimpleKind)

}  // namespace
}  // namespace tcact::kinds
