// tcactd's flags. Each is also a variable TCACT_<NAME IN CAPITALS>; what is on the command line
// wins.
//
// Wrong names, wrong values and values out of range are refused here, so that what ParseFlags
// returns can be used as it is.
#ifndef TCACT_SERVER_FLAGS_H_
#define TCACT_SERVER_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/core/act/types.h"
#include "server/durable/record_store.h"

namespace tcact::server {

struct Flags {
  std::vector<std::string> listen;
  // "memory", or "rocksdb:DIR" with DIR apart.
  std::string store;
  std::string store_directory;
  durable::Level durability = durable::Level::kSync;
  bool stats_acked = false;
  absl::Duration stats_interval;
  act::AllocMode alloc_mode = act::AllocMode::kSlabMerged;
  bool log_json = false;
  std::string log_level;
  int cq_threads = 1;
  uint32_t max_namespaces = 0;
  // Actions may name devices of the host only.
  bool host_devices = false;
  absl::Duration drain;
  bool introspection = true;
};

// Reads the command line and the environment. Without a value the program is to end with
// *exit_code: 0 after --help or --version, 2 after an error, which was printed to standard error.
std::optional<Flags> ParseFlags(int argc, char** argv, int* exit_code);

// "0.1.0".
std::string Version();

}  // namespace tcact::server

#endif  // TCACT_SERVER_FLAGS_H_
