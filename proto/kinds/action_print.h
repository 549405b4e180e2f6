// What surrounds a kind's own print: listings of actions as `tc actions ls` and `get` print them.
//
// Thread safety: not thread-safe, as Printer.
#ifndef TCACT_PROTO_KINDS_ACTION_PRINT_H_
#define TCACT_PROTO_KINDS_ACTION_PRINT_H_

#include <cstdint>
#include <string>

#include "proto/kinds/kind.h"
#include "proto/kinds/printer.h"
#include "proto/tcact/v1/action.pb.h"

namespace tcact::kinds {

// One action of a listing: its order, head, params, statistics (with -s), cookie and flags. An
// action without params, as in a terse view, is printed as with -br: kind and index, statistics,
// cookie.
void PrintAction(const v1::Action& action, uint64_t order, const PrintOptions& options,
                 Printer* out);

// A listing whose length need not be known at its start: actions are added, then it is closed.
class Listing {
 public:
  // `first_order`: 0 for ls, 1 for get.
  Listing(const PrintOptions& options, uint64_t first_order);
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  void Add(const v1::Action& action);
  uint64_t count() const { return count_; }

  // The whole text, whose head says "total acts `total`". Call once.
  std::string Close(uint64_t total);

 private:
  const PrintOptions options_;
  uint64_t next_order_;
  uint64_t count_ = 0;
  std::string text_;
  Printer printer_;
  // Where in text_ the total belongs: one digit stands for it.
  size_t total_at_ = 0;
};

// What a listing of nothing prints: nothing, or in JSON an empty array.
std::string EmptyListing(const PrintOptions& options);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_ACTION_PRINT_H_
