#include "client/cli/man_page.h"

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "client/cli/usage.h"
#include "gtest/gtest.h"
#include "proto/kinds/kind.h"

namespace tcact::cli {
namespace {

TEST(ManPage, HasEveryKindWithItsHelpAndEveryOption) {
  const std::string page = ManPage();
  for (const kinds::Kind* kind : kinds::AllKinds()) {
    EXPECT_NE(page.find(absl::StrCat(".SS ", kind->name(), "\n")), std::string::npos)
        << kind->name();
  }
  EXPECT_NE(page.find("\n.B \\-b[atch] FILE\n"), std::string::npos);
  EXPECT_NE(page.find("\n.B lockstat [reset]\n"), std::string::npos);
}

TEST(ManPage, IsTheCommittedOne) {
  std::ifstream file("docs/man/tcact.1");
  std::stringstream committed;
  committed << file.rdbuf();
  EXPECT_TRUE(committed.str() == ManPage())
      << "docs/man/tcact.1 is old; make it anew with\n"
         "  bazel run //client:tcact -- --print-man > docs/man/tcact.1";
}

TEST(Usage, NamesEveryCommandAndFitsATerminal) {
  const std::string usage = Usage();
  for (const char* word : {"actions add", "bind", "unbind", "stats add", "slabinfo", "lockstat",
                           "netns", "health", "-b[atch]", "--server", "--deadline", "Exit code"}) {
    EXPECT_NE(usage.find(word), std::string::npos) << word;
  }
  size_t column = 0;
  for (const char c : usage) {
    column = c == '\n' ? 0 : column + 1;
    EXPECT_LE(column, 100u);
  }
}

}  // namespace
}  // namespace tcact::cli
