// From records to the action store: all of them at start, some of them when changes could not be
// recorded.
#ifndef TCACT_SERVER_DURABLE_LOAD_H_
#define TCACT_SERVER_DURABLE_LOAD_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/act/store.h"
#include "server/durable/record_store.h"

namespace tcact::durable {

// Whether a kind understands these parameters.
using ParamsCheck = std::function<bool(act::Kind kind, absl::string_view params)>;

struct Loaded {
  uint64_t namespaces = 0;
  uint64_t actions = 0;
  uint64_t counters = 0;  // actions with counters
  // Counters without their action, left by a crash between two saves; harmless.
  uint64_t stray_counters = 0;
};

// Fills `actions` (which may be null: then it only reads and checks) with everything in `store`,
// and raises its generations above all that may have been given out. An error names the record that
// is damaged, or that does not fit (a kind that this tcactd does not know, too many namespaces);
// the action store is then partly filled and of no use. REQUIRES: OpenFormat; nothing else uses
// `actions`.
absl::Status Load(RecordStore* store, act::Store* actions, const ParamsCheck& valid,
                  Loaded* loaded);

// Notes that generations beyond those given out so far may be used, with much room, so that no
// generation is used twice whatever happens to this process. To be called after Load, and again
// from time to time: does nothing while there is room. *bound is what is recorded; 0 before the
// first call.
void ReserveGenerations(uint64_t* bound, Batch* batch);

// Makes the actions that `lost` touches what the records say, which lack those changes. Counters of
// actions that live on stay, save what a lost reset or update changed. What cannot be read is left
// as it is. REQUIRES: nobody changes actions meanwhile.
void Undo(absl::Span<const Batch* const> lost, RecordStore* store, act::Store* actions);

}  // namespace tcact::durable

#endif  // TCACT_SERVER_DURABLE_LOAD_H_
