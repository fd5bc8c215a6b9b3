#include "tlm/platform/program_image.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "tlm/loader/load_error.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

core::symbol_table table_of(const loader::elf_file& file) {
  std::vector<core::symbol> symbols;
  symbols.reserve(file.symbols().size());
  for (const auto& s : file.symbols()) symbols.push_back({s.address, s.bytes, s.name, s.function});
  return core::symbol_table(std::move(symbols));
}

bool holds(const program_memory& memory, const loader::elf_segment& segment) {
  return segment.address >= memory.base && segment.address - memory.base < memory.bytes.size() &&
         segment.memory_bytes <= memory.bytes.size() - (segment.address - memory.base);
}

std::string range(std::uint64_t first, std::uint64_t bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "0x%llx to 0x%llx", static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(first + (bytes - 1)));
  return text;
}

}  // namespace

program_image::program_image(const std::string& path)
    : file_(loader::elf_file::open(path)), symbols_(table_of(file_)) {}

void program_image::load(std::span<const program_memory> memories) const {
  std::vector<const program_memory*> places;
  for (const auto& segment : file_.segments()) {
    const auto place =
        std::find_if(memories.begin(), memories.end(), [&](const program_memory& m) { return holds(m, segment); });
    if (place == memories.end()) {
      std::string there;
      for (const auto& m : memories) {
        there += (there.empty() ? "" : ", ") + std::string(m.name) + ' ' + range(m.base, m.bytes.size());
      }
      throw loader::load_error(path(), "",
                               "segment " + range(segment.address, segment.memory_bytes) + " is outside of memory",
                               "link it into " + there);
    }
    places.push_back(&*place);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& segment = file_.segments()[i];
    std::byte* to = places[i]->bytes.data() + (segment.address - places[i]->base);
    std::copy(segment.data.begin(), segment.data.end(), to);
    std::fill_n(to + segment.data.size(), segment.memory_bytes - segment.data.size(), std::byte{0});
  }
}

std::string built_image() {
  const std::string path = DVP_FIRMWARE_IMAGE;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    const std::string tree = std::filesystem::path(path).parent_path().parent_path().string();
    throw usage_error(path + ": no such image; build it with cmake --build " + tree +
                      " --target firmware_rv64, or name one with --firmware");
  }
  return path;
}

}  // namespace dvp::platform
