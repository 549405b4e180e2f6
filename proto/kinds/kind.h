// What one action kind declares: its grammar, its rules, how it prints. ONE FILE A KIND (act_<name>.cc), each
// ending in TCACT_REGISTER_KIND(...). Nothing lists the kinds by hand: the registry is filled by those lines, and a
// test compares it with the oneof Action.params.
//
// The same object serves the server (Normalize, Encode, Decode) and the client (Parse, Print, help), so that tc's
// words, the API's limits and the printed form cannot drift apart.
//
// Thread safety: kinds are stateless; every method may be called from any thread.
#ifndef TCACT_PROTO_KINDS_KIND_H_
#define TCACT_PROTO_KINDS_KIND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/kinds/printer.h"
#include "proto/kinds/words.h"
#include "proto/tcact/v1/action.pb.h"

namespace tcact::kinds {

// What a rule may depend on beside the action itself.
struct RuleContext {
  // Inside a filter, that is in a bind: goto chain is allowed.
  bool in_filter = false;
};

// An error of Normalize: the field's path ("police.burst"), and a text that names value and range. `kernel_text` is
// what tc prints for the kernel's own refusal on stderr ("Error: ..." or "RTNETLINK answers: ..."); empty where tc
// itself would have refused the words.
struct RuleError {
  std::string field;
  std::string text;
  std::string kernel_text;
  // False: no error.
  explicit operator bool() const { return !text.empty(); }
};

class Kind {
 public:
  virtual ~Kind() = default;

  // "gact": the name in tc's words and of the field in Action.params.
  virtual absl::string_view name() const = 0;
  // The field's number in Action.params.
  virtual int field_number() const = 0;
  // Bytes of Encode's result that nearly all actions fit in; act::KindSpec::inline_params.
  virtual uint32_t inline_params() const = 0;

  // Reads this kind's words (those after its name) into the params of *action, up to the first word that is not
  // its own, which the caller reads on. tc's exit behaviour is in the returned ParseError.
  virtual ParseError Parse(Words* words, v1::Action* action) const = 0;

  // Checks the kernel's limits and fills in the kernel's defaults, so that equal actions have equal encodings. Only
  // the params of *action are looked at and changed. REQUIRES: action has this kind's params.
  virtual RuleError Normalize(const RuleContext& context, v1::Action* action) const = 0;

  // Whether hardware could take the (normalized) action over, were there some.
  virtual bool Offloadable(const v1::Action& action) const = 0;

  // Serializes the params message (deterministically), and back. Decode returns false on bytes that are none of ours.
  virtual void Encode(const v1::Action& action, std::string* bytes) const = 0;
  virtual bool Decode(absl::string_view bytes, v1::Action* action) const = 0;

  // Prints params, index, counts (and what else the kind prints in `tc actions`) up to, not including, the common
  // tail (statistics, cookie, flags). One function for text and JSON.
  virtual void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const = 0;

  // The text of `tc actions ... <kind> help`.
  virtual absl::string_view help() const = 0;

  // Valid words after the kind's name; they feed the round-trip test and the fuzz corpus. At least one for every
  // keyword.
  virtual std::vector<std::string> examples() const = 0;
};

// Null if there is no such kind.
const Kind* FindKind(absl::string_view name);
const Kind* FindKind(int field_number);
// The kind of action.params; null if it has none.
const Kind* KindOf(const v1::Action& action);
// All kinds, ascending by name.
std::vector<const Kind*> AllKinds();

namespace internal {
// Aborts on a name or number that is taken.
bool Register(const Kind* kind);
}  // namespace internal

}  // namespace tcact::kinds

#define TCACT_REGISTER_KIND(Class)                       \
  namespace {                                            \
  [[maybe_unused]] const bool registered_##Class =       \
      ::tcact::kinds::internal::Register(new Class());   \
  }

#endif  // TCACT_PROTO_KINDS_KIND_H_
