// The options of tunnels in kind tunnel_key: geneve, vxlan and erspan.
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_TUNNEL_OPTIONS_H_
#define TCACT_PROTO_KINDS_TUNNEL_OPTIONS_H_

#include "proto/kinds/printer.h"
#include "proto/kinds/rule.h"
#include "proto/kinds/words.h"
#include "proto/tcact/v1/kinds.pb.h"

namespace tcact::kinds {

// geneve_opts, vxlan_opts or erspan_opts, which stands under the cursor, and its value, where the
// cursor stays.
ParseError ParseTunnelOptions(Words* words, v1::TunnelKey* key);

// One type of options at most, each in its limits; bits that the kernel does not keep go.
RuleError NormalizeTunnelOptions(v1::TunnelKey* key);

// A line of its own; nothing without options. REQUIRES: normalized.
void PrintTunnelOptions(const v1::TunnelKey& key, Printer* out);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_TUNNEL_OPTIONS_H_
