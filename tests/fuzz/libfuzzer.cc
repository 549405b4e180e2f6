// libFuzzer's entry; TCACT_FUZZ_TARGET is a function of targets.h.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tcact::fuzz::TCACT_FUZZ_TARGET(data, size);
}
