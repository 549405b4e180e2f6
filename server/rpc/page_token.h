// Page tokens: where a listing goes on, sealed with what it lists, so that a token of another
// listing is refused.
//
// Opaque to clients, readable by every server of this version. Not a secret: a forged one lists
// what its forger might list anyway.
#ifndef TCACT_SERVER_RPC_PAGE_TOKEN_H_
#define TCACT_SERVER_RPC_PAGE_TOKEN_H_

#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"
#include "server/rpc/status.h"

namespace tcact::rpc {

// `scope`: everything but the position that makes a listing what it is. `position`: any bytes.
std::string MakePageToken(std::initializer_list<absl::string_view> scope,
                          absl::string_view position);

// The position of a token that MakePageToken made for the same scope.
Problem ReadPageToken(std::initializer_list<absl::string_view> scope, absl::string_view token,
                      std::string* position);

// The page size to use for a request's page_size.
Problem ReadPageSize(int page_size, int* size);

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_PAGE_TOKEN_H_
