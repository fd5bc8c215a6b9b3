// Writes the seed corpus into the folder given, and the words of the format into <folder>.dict for libFuzzer.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "testbenches/unit/loader/tiny_model.h"
#include "testbenches/unit/loader/tiny_sidecar.h"

int main(int argc, char** argv) {
  using namespace dvp::testbenches;
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  int number = 0;
  std::vector<byte_string> seeds = seed_files();
  seeds.push_back(tiny_sidecar().build());
  for (const byte_string& bytes : seeds) {
    std::ofstream(folder / ("seed" + std::to_string(number++) + ".gguf"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::set<std::string> words = {"rope.scaling.type", "rope.dimension_count", "attention.key_length", "vocab_size"};
  const auto add_names = [&](const gguf_writer& file) {
    for (const auto& entry : file.metadata) {
      words.insert(entry.key);
    }
    for (const auto& tensor : file.tensors) {
      words.insert(tensor.name);
    }
  };
  for (const char* architecture : {"llada", "dream", "qwen2"}) {
    words.insert(architecture);
    add_names(tiny_model({.architecture = architecture}));
  }
  words.insert("dvp-compression");
  add_names(tiny_sidecar());
  std::ofstream dictionary(folder.string() + ".dict");
  for (const std::string& word : words) {
    dictionary << '"' << word << "\"\n";
  }
  return dictionary.good() ? 0 : 1;
}
