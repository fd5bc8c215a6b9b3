// Writes the seed corpus of executables into the folder given.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "testbenches/unit/loader/elf_writer.h"

int main(int argc, char** argv) {
  using dvp::testbenches::elf_writer;
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_elf_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  elf_writer stripped;
  stripped.put64(elf_writer::shoff, 0);
  bool good = true;
  const auto write = [&](const char* name, const elf_writer::bytes& bytes) {
    std::ofstream out(folder / name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    good = good && out.good();
  };
  write("whole.elf", elf_writer().build());
  write("stripped.elf", stripped.build());
  return good ? 0 : 1;
}
