// Between the protos and the core: a request's Action becomes a Spec, a Snapshot becomes an Action.
//
// Bad input ends here, with the field's name, its value and the allowed range.
//
// Thread safety: KindTable is immutable; the functions may be called from any thread.
#ifndef TCACT_SERVER_RPC_CONVERT_H_
#define TCACT_SERVER_RPC_CONVERT_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/kinds/kind.h"
#include "proto/tcact/v1/action_store.pb.h"
#include "server/core/act/types.h"
#include "server/rpc/status.h"

namespace tcact::rpc {

// The registered kinds by their numbers, an array access on the way of every operation; and what
// their rules depend on.
class KindTable {
 public:
  // All of kinds::AllKinds(). Aborts on a number that the core has no room for. `devices`, which
  // must outlive the table, are those that actions may name; null: any.
  explicit KindTable(const kinds::Devices* devices = nullptr);

  const kinds::Devices* devices() const { return devices_; }

  // Null if there is none.
  const kinds::Kind* Find(int number) const {
    return number > 0 && number < act::kMaxKind ? by_number_[number] : nullptr;
  }
  const kinds::Kind* Find(absl::string_view name) const;
  // "" if there is none.
  absl::string_view Name(act::Kind kind) const;

  // For act::StoreOptions.
  std::vector<act::KindSpec> Specs() const;
  // Ascending.
  std::vector<std::string> Names() const;

 private:
  std::array<const kinds::Kind*, act::kMaxKind> by_number_{};
  std::vector<const kinds::Kind*> by_name_;
  const kinds::Devices* const devices_;
};

// Where an action or a key stands in its request, for errors.
struct Place {
  // The list ("actions"); "" for a single one or an operation of Apply.
  absl::string_view list;
  int position = kNoPosition;

  // "actions[3].cookie", or "cookie".
  std::string Field(absl::string_view field) const;
};

// Fills *spec from *action, whose params are brought into normal form on the way. `params` gets the
// encoding that spec->params points to: it must stay as it is as long as the spec is used.
// `in_filter`: the action is for a bind. One that names an index and breaks a rule of its kind may
// yet bind what is there, as the kernel does: it passes with spec->bind_only, and if it is not
// there, BrokenRule is the answer.
Problem ReadAction(const KindTable& kinds, const Place& place, bool in_filter, v1::Action* action,
                   std::string* params, act::Spec* spec);

// The first rule of its kind that the action breaks; brings its params into normal form.
// REQUIRES: the kind is known.
Problem BrokenRule(const KindTable& kinds, const Place& place, bool in_filter, v1::Action* action);

// Fills kind and index of *spec. The index must be given.
Problem ReadKey(const KindTable& kinds, const Place& place, const v1::ActionKey& key,
                act::Spec* spec);

// `field` is the kind's path in the request.
Problem ReadKind(const KindTable& kinds, absl::string_view field, absl::string_view name,
                 act::Kind* kind);

// One update of one action. `field` is its path.
Problem ReadDelta(const v1::ActionStats& delta, absl::string_view field, act::StatsDelta* out);

// A value that the enum does not have counts as unspecified, that is as full.
act::SnapshotParts PartsOf(v1::ActionView view);

// Fills an empty *action. `now_ms` is the reply's time.
void WriteAction(const KindTable& kinds, const act::Snapshot& snapshot, v1::ActionView view,
                 int64_t now_ms, v1::Action* action);

// Unix time in milliseconds.
int64_t NowMs();

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_CONVERT_H_
