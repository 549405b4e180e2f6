// What is fuzzed: each function takes any bytes, and aborts where a promise is broken.
#ifndef TCACT_TESTS_FUZZ_TARGETS_H_
#define TCACT_TESTS_FUZZ_TARGETS_H_

#include <cstddef>
#include <cstdint>

namespace tcact::fuzz {

// The grammar of every kind and of lists (grammar_fuzz.cc).
int Grammar(const uint8_t* data, size_t size);
// Actions of the API to store and print (action_fuzz.cc).
int Action(const uint8_t* data, size_t size);

}  // namespace tcact::fuzz

#endif  // TCACT_TESTS_FUZZ_TARGETS_H_
