// What surrounds a kind's own words: the list of actions in `tc actions add ...` and the list of
// keys in `tc actions get ...`.
//
//   ACTIONS := [action] ACTION [action ACTION] ... ACTION := KIND PARAMS [cookie HEX] [hw_stats
//   TYPE] [no_percpu] [skip_sw | skip_hw] ... KEYS := action KIND index INDEX [action KIND index
//   INDEX] ...
//
// Thread safety: free functions without state.
#ifndef TCACT_PROTO_KINDS_ACTION_LIST_H_
#define TCACT_PROTO_KINDS_ACTION_LIST_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/kinds/words.h"
#include "proto/tcact/v1/action.pb.h"

namespace tcact::kinds {

// Bytes of a cookie.
inline constexpr size_t kMaxCookieBytes = 16;

// Reads actions up to the end, to a word that begins another command (add, change, replace, delete,
// get, abbreviated too) or to flowid or classid, and appends them to *actions. As in tc:
//   - a verdict in place of a kind ("action drop index 3") is gact, and so is any word that is no
//     kind;
//   - a cookie goes to the actions after it too, until another is given. Nothing is normalized.
// `starts`, if not null, gets the position of the first word of each action.
ParseError ParseActions(Words* words, std::vector<v1::Action>* actions,
                        std::vector<size_t>* starts = nullptr);

// Reads keys up to the end and appends them to *keys. A verdict in place of a kind is gact. A word
// that is no kind is an error, where tc goes on with gact: a typing error must not delete what was
// not meant. Index 0 passes; it names no action.
ParseError ParseKeys(Words* words, std::vector<v1::ActionKey>* keys);

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_ACTION_LIST_H_
