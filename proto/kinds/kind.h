// What one action kind declares: its grammar, its rules, how it prints. ONE FILE A KIND
// (act_<name>.cc), each ending in TCACT_REGISTER_KIND(...). Nothing lists the kinds by hand: the
// registry is filled by those lines, and a test compares it with the oneof Action.params.
//
// The same object serves the server (Normalize, Encode, Decode) and the client (Parse, Print,
// help), so that tc's words, the API's limits and the printed form cannot drift apart.
//
// A kind derives from KindOf<...> below and writes what is its own. What all kinds have in common,
// the cookie, the flags and the statistics, is in action_list.h and action_print.h; helpers are in
// words.h (numbers, hexadecimal), units.h (rates, sizes), verdict.h and printer.h.
//
// Thread safety: kinds are stateless; every method may be called from any thread.
#ifndef TCACT_PROTO_KINDS_KIND_H_
#define TCACT_PROTO_KINDS_KIND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/kinds/printer.h"
#include "proto/kinds/rule.h"
#include "proto/kinds/words.h"
#include "proto/tcact/v1/action.pb.h"

namespace tcact::kinds {

class Kind {
 public:
  virtual ~Kind() = default;

  // "gact": the name in tc's words and of the field in Action.params.
  virtual absl::string_view name() const = 0;
  // The field's number in Action.params.
  virtual int field_number() const = 0;
  // Bytes of Encode's result that nearly all actions fit in, 8 to 1024;
  // act::KindSpec::inline_params.
  virtual uint32_t inline_params() const = 0;

  // Reads this kind's words (the cursor stands behind its name) into the params and the index of
  // *action, up to the first word that is not its own, which the caller reads on. After an error
  // *action and the cursor are undefined. The params are there afterwards, even if no word set one.
  // What Normalize would refuse may pass here.
  virtual ParseError Parse(Words* words, v1::Action* action) const = 0;

  // Checks the kernel's limits and fills in the kernel's defaults, so that equal actions have equal
  // encodings; twice is as good as once. Only the params of *action are looked at and changed. It
  // is on the way of every create: it builds no text unless it fails. REQUIRES: action has this
  // kind's params.
  virtual RuleError Normalize(const RuleContext& context, v1::Action* action) const = 0;

  // Whether hardware could take the (normalized) action over, were there some.
  virtual bool Offloadable(const v1::Action& action) const = 0;

  // Serializes the params message (deterministically) into *bytes, which it replaces, and back.
  // Decode returns false on bytes that are none of ours.
  virtual void Encode(const v1::Action& action, std::string* bytes) const = 0;
  virtual bool Decode(absl::string_view bytes, v1::Action* action) const = 0;

  // What stands before the params, and alone in a terse listing: the kind.
  virtual void PrintHead(Printer* out) const { out->String("kind", "%s ", name()); }

  // Prints params, index, counts, with -s times (PrintTimes), and the line's end, in the order of
  // `tc actions`; up to, not including, the common tail (statistics, cookie, flags). REQUIRES:
  // action has this kind's params.
  virtual void Print(const v1::Action& action, const PrintOptions& options, Printer* out) const = 0;

  // The text of `tc actions ... <kind> help`, line ends included.
  virtual absl::string_view help() const = 0;

  // Valid words after the kind's name; they feed the round-trip test and the fuzz corpus. At least
  // one for every keyword.
  virtual std::vector<std::string> examples() const = 0;
};

// " installed 5 sec used 2 sec firstused 3 sec": part of Print with -s.
void PrintTimes(const v1::Action& action, Printer* out);

// Null if there is no such kind.
const Kind* FindKind(absl::string_view name);
const Kind* FindKind(int field_number);
// The kind of action.params; null if it has none.
const Kind* KindOfAction(const v1::Action& action);
// All kinds, ascending by name.
std::vector<const Kind*> AllKinds();

// The part of a kind that follows from its params message `Params`, the oneof's field that `Get`
// and `Mutable` are the accessors of, and whose number is `kNumber`.
template <typename Params, int kNumber, const Params& (v1::Action::*Get)() const,
          Params* (v1::Action::*Mutable)()>
class KindOf : public Kind {
 public:
  int field_number() const final { return kNumber; }

  void Encode(const v1::Action& action, std::string* bytes) const final {
    params(action).SerializeToString(bytes);
  }
  bool Decode(absl::string_view bytes, v1::Action* action) const final {
    return mutable_params(action)->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }

 protected:
  static const Params& params(const v1::Action& action) { return (action.*Get)(); }
  static Params* mutable_params(v1::Action* action) { return (action->*Mutable)(); }
};

namespace internal {
// Aborts on a name or number that is taken.
bool Register(const Kind* kind);
}  // namespace internal

}  // namespace tcact::kinds

#define TCACT_REGISTER_KIND(Class)                     \
  namespace {                                          \
  [[maybe_unused]] const bool registered_##Class =     \
      ::tcact::kinds::internal::Register(new Class()); \
  }

#endif  // TCACT_PROTO_KINDS_KIND_H_
