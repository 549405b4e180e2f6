// The rules of actions: what they may depend on, and what breaking one looks like.
#ifndef TCACT_PROTO_KINDS_RULE_H_
#define TCACT_PROTO_KINDS_RULE_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tcact::kinds {

// The network devices that an action may name. Thread-safe.
class Devices {
 public:
  virtual ~Devices() = default;
  virtual bool Has(absl::string_view name) const = 0;
};

// What a rule may depend on beside the action itself.
struct RuleContext {
  // Inside a filter, that is in a bind: goto chain is allowed.
  bool in_filter = false;
  // Null: any device may be named. Not owned.
  const Devices* devices = nullptr;
};

// An error of Kind::Normalize: the field's path ("police.burst"), and a text to follow it that
// names value and range. `kernel_text` is what tc prints for the kernel's own refusal on stderr
// ("Error: ..." or "RTNETLINK answers: ...", no line end); empty where tc itself would have refused
// the words.
struct [[nodiscard]] RuleError {
  std::string field;
  std::string text;
  std::string kernel_text;
  // The field names a device that RuleContext::devices has not; the text is what tc says then.
  bool no_device = false;
  // False: no error.
  explicit operator bool() const { return !text.empty(); }
};

// `value` is outside `low` to `high`.
template <typename Value, typename Low, typename High>
RuleError OutOfRange(absl::string_view field, Value value, Low low, High high) {
  return {std::string(field), absl::StrCat(value, "; ", low, " to ", high, " are allowed"), {}};
}

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_RULE_H_
