// Writes a corpus to begin with: the examples of every kind.
//   seeds FOLDER   (FOLDER/grammar/* and FOLDER/action/*)
#include "tests/fuzz/seeds.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: seeds FOLDER\n", stderr);
    return 2;
  }
  for (const tcact::fuzz::Seed& seed : tcact::fuzz::Seeds()) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / seed.target;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / seed.name, std::ios::binary) << seed.bytes;
  }
  return 0;
}
