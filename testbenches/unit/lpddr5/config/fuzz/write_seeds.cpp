// Writes the seed corpus into the folder given, and the words of the format into <folder>.dict for libFuzzer.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "testbenches/unit/lpddr5/config/dramsys_files.h"

int main(int argc, char** argv) {
  using namespace dvp::testbenches;
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_memory_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  std::set<std::string> words = {"clkMhz", "CONGEN", "states", "rowIncrement", "8B", "16B", "Staggered", "GrpFrFcfsWm"};
  int number = 0;
  for (const std::string& text : memory_config_seeds()) {
    std::ofstream(folder / ("seed" + std::to_string(number++) + ".json")) << text;
    for (std::size_t begin = text.find('"'); begin != std::string::npos;) {
      const std::size_t end = text.find('"', begin + 1);
      words.insert(text.substr(begin + 1, end - begin - 1));
      begin = text.find('"', end + 1);
    }
  }
  std::ofstream dictionary(folder.string() + ".dict");
  for (const std::string& word : words) dictionary << '"' << word << "\"\n";
  return dictionary.good() ? 0 : 1;
}
