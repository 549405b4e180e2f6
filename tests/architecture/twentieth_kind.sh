#!/usr/bin/env bash
# Shows that one more kind is one message, one line in the oneof and one file: adds them to a copy of proto/, builds it with the
# plain compiler, and asks the kind for its words, its limits and its print.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r proto "$work/"
cd "$work"

# One message,
cat >> proto/tcact/v1/kinds.proto << 'EOF'
message Probe {
  // 1 to 9.
  uint32 depth = 1;
  Verdict verdict = 2;
}
EOF
# one line in the oneof,
sed -i 's/^    Ife ife = 34;$/&\n    Probe probe = 35;/' proto/tcact/v1/action.proto
# one file.
cat > proto/kinds/act_probe.cc << 'EOF'
#include "proto/kinds/kind.h"
#include "proto/kinds/tail.h"
#include "proto/kinds/verdict.h"

namespace tcact::kinds {
namespace {

class ProbeKind : public KindOf<v1::Probe, v1::Action::kProbeFieldNumber, &v1::Action::probe,
                                &v1::Action::mutable_probe> {
 public:
  absl::string_view name() const override { return "probe"; }
  uint32_t inline_params() const override { return 16; }
  ParseError Parse(Words* words, v1::Action* action) const override {
    if (!words->Matches("depth")) return ParseError::Missing("depth");
    if (ParseError error = words->Advance()) return error;
    uint32_t depth = 0;
    if (!ParseU32(words->Peek(), 10, &depth)) return ParseError::Invalid("depth", words->Peek());
    mutable_params(action)->set_depth(depth);
    words->Skip();
    return ParseVerdictAndIndex(words, name(), v1::Verdict::TYPE_PIPE,
                                mutable_params(action)->mutable_verdict(), action);
  }
  RuleError Normalize(const RuleContext& context, v1::Action* action) const override {
    const uint32_t depth = params(*action).depth();
    if (depth < 1 || depth > 9) return OutOfRange("probe.depth", depth, 1, 9);
    return CheckVerdict("probe.verdict", context, v1::Verdict::TYPE_PIPE,
                        mutable_params(action)->mutable_verdict());
  }
  bool Offloadable(const v1::Action&) const override { return false; }
  void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const override {
    out->Uint("depth", "depth %u", params(action).depth());
    PrintVerdict(" ", params(action).verdict(), "", out);
    out->Line();
    PrintCounts(action, options, out);
  }
  absl::string_view help() const override { return "Usage: ... action probe depth N\n"; }
  std::vector<std::string> examples() const override { return {"depth 3"}; }
};
TCACT_REGISTER_KIND(ProbeKind)

}  // namespace
}  // namespace tcact::kinds
EOF

cat > ask.cc << 'EOF'
#include <cstdio>

#include "proto/kinds/action_list.h"
#include "proto/kinds/action_print.h"
#include "proto/kinds/kind.h"

int main() {
  using namespace tcact::kinds;
  Words words = Words::Split("action probe depth 3 drop index 7 action gact pass index 8");
  std::vector<tcact::v1::Action> actions;
  if (const ParseError error = ParseActions(&words, &actions)) return std::fputs(error.text.c_str(), stderr), 1;
  Listing listing({}, 0);
  for (auto& action : actions) {
    if (KindOfAction(action)->Normalize({}, &action)) return 2;
    listing.Add(action);
  }
  std::fputs(listing.Close(2).c_str(), stdout);
  actions[0].mutable_probe()->set_depth(10);
  const RuleError error = FindKind("probe")->Normalize({}, &actions[0]);
  std::printf("%s: %s\n%zu kinds\n", error.field.c_str(), error.text.c_str(), AllKinds().size());
}
EOF
protoc --proto_path=. --cpp_out=. proto/tcact/v1/kinds.proto proto/tcact/v1/action.proto
printf '%s\n' proto/kinds/*.cc proto/tcact/v1/*.pb.cc ask.cc | xargs -P "$(nproc)" -I{} sh -c \
  'g++ -std=c++20 -O0 -w -I. -c "$1" -o "$1.o"' sh {}
g++ proto/kinds/*.o proto/tcact/v1/*.o ask.cc.o -o ask -lprotobuf -labsl_strings -labsl_str_format_internal \
  -labsl_strings_internal -labsl_raw_logging_internal -labsl_int128 -labsl_throw_delegate
./ask | tee answer
grep -q 'action order 0: probe depth 3 drop' answer
grep -q 'probe.depth: 10; 1 to 9 are allowed' answer
grep -q '^20 kinds$' answer
echo "a twentieth kind: one message, one line, one file"
