// Writes the seed corpus into the folder given, and the words of the format into <folder>.dict for libFuzzer.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "testbenches/unit/loader/tiny_model.h"

int main(int argc, char** argv) {
  using namespace dvp::testbenches;
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const byte_string& bytes : seed_files()) {
    std::ofstream(folder / ("seed" + std::to_string(number++) + ".gguf"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::set<std::string> words = {"rope.scaling.type", "rope.dimension_count", "attention.key_length", "vocab_size"};
  for (const char* architecture : {"llada", "dream", "qwen2"}) {
    const gguf_writer model = tiny_model({.architecture = architecture});
    words.insert(architecture);
    for (const auto& entry : model.metadata) {
      words.insert(entry.key);
    }
    for (const auto& tensor : model.tensors) {
      words.insert(tensor.name);
    }
  }
  std::ofstream dictionary(folder.string() + ".dict");
  for (const std::string& word : words) {
    dictionary << '"' << word << "\"\n";
  }
  return dictionary.good() ? 0 : 1;
}
