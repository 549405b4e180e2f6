#include "server/core/act/types.h"

namespace tcact::act {

absl::string_view AllocModeName(AllocMode mode) {
  switch (mode) {
    case AllocMode::kPerObject:
      return "per-object";
    case AllocMode::kSlab:
      return "slab";
    case AllocMode::kSlabMerged:
      return "slab-merged";
  }
  return "unknown";
}

}  // namespace tcact::act
