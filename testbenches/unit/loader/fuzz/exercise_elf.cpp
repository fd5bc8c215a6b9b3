#include "testbenches/unit/loader/fuzz/exercise_elf.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "tlm/loader/elf.h"
#include "tlm/loader/load_error.h"

namespace dvp::testbenches {

namespace {

void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void check(const loader::elf_file& file, std::span<const std::byte> bytes) {
  const loader::elf_segment* before = nullptr;
  bool entered = false;
  for (const auto& s : file.segments()) {
    promise(s.data.empty() ||
                (s.data.data() >= bytes.data() && s.data.data() + s.data.size() <= bytes.data() + bytes.size()),
            "the data of a segment is in the file");
    promise(s.memory_bytes != 0 && s.data.size() <= s.memory_bytes, "a segment's memory holds its data");
    promise(s.last() >= s.address, "a segment does not wrap");
    promise(before == nullptr || before->last() < s.address, "segments come by address and apart");
    entered = entered || (s.executable && file.entry() >= s.address && file.entry() <= s.last());
    before = &s;
  }
  promise(entered, "the entry is in a segment that may be executed");
  for (const auto& symbol : file.symbols()) {
    promise(!symbol.name.empty() && symbol.name.size() <= 512, "a name has 1 to 512 characters");
  }
}

}  // namespace

bool exercise_elf(std::span<const std::byte> bytes) {
  const std::unique_ptr<std::byte[]> exact(new std::byte[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  try {
    check(loader::elf_file("fuzz.elf", {exact.get(), bytes.size()}), {exact.get(), bytes.size()});
    return true;
  } catch (const loader::load_error& error) {
    promise(std::string_view(error.what()).starts_with("fuzz.elf: "), "an error starts with the file");
    return false;
  }
}

}  // namespace dvp::testbenches
