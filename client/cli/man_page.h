// The man page of tcact, made from the tables that the help texts are made from.
//
// Thread safety: free functions without state.
#ifndef TCACT_CLIENT_CLI_MAN_PAGE_H_
#define TCACT_CLIENT_CLI_MAN_PAGE_H_

#include <string>

namespace tcact::cli {

// In man(7) macros: docs/man/tcact.1 is this text.
std::string ManPage();

}  // namespace tcact::cli

#endif  // TCACT_CLIENT_CLI_MAN_PAGE_H_
