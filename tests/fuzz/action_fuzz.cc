// Any bytes as an action of the API: nothing crashes, and what the rules let pass is stored, read
// back and printed as the same action.
#include <cstdlib>

#include "proto/kinds/action_print.h"
#include "proto/kinds/kind.h"
#include "tests/fuzz/targets.h"

namespace tcact::fuzz {
namespace {

std::string Encoded(const kinds::Kind& kind, const v1::Action& action) {
  std::string bytes;
  kind.Encode(action, &bytes);
  return bytes;
}

std::string Printed(const v1::Action& action, bool json) {
  kinds::PrintOptions options;
  options.stats = true;
  options.json = json;
  kinds::Listing listing(options, 0);
  listing.Add(action);
  return listing.Close(1);
}

}  // namespace

int Action(const uint8_t* data, size_t size) {
  v1::Action action;
  if (!action.ParseFromArray(data, static_cast<int>(size))) return 0;
  const kinds::Kind* kind = kinds::KindOfAction(action);
  if (kind == nullptr || kind->Normalize({.in_filter = true}, &action)) return 0;
  action.set_kind(std::string(kind->name()));
  const std::string bytes = Encoded(*kind, action);
  v1::Action again = action;
  again.clear_params();
  if (!kind->Decode(bytes, &again)) std::abort();
  if (kind->Normalize({.in_filter = true}, &again)) std::abort();
  if (Encoded(*kind, again) != bytes) std::abort();
  for (const bool json : {false, true}) {
    if (Printed(action, json) != Printed(again, json)) std::abort();
  }
  return 0;
}

}  // namespace tcact::fuzz
