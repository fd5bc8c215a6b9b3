#include "testbenches/unit/lpddr5/config/fuzz/exercise.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tlm/lpddr5/config/memory_config.h"

namespace dvp::testbenches {
namespace {

void promise(bool kept, const char* what) {
  if (!kept) {
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
  }
}

}  // namespace

outcome exercise_memory_config(std::string_view text) {
  try {
    const auto config = lpddr5::parse_memory_config(text, "fuzz.json", "/nonexistent");
    lpddr5::compile(config.rules, config.dev.times);
    const lpddr5::address_mapping mapping(config.mapping, config.dev.shape, config.channels);
    for (std::uint64_t a = 1; a < mapping.bytes(); a = a * 3 + 1) {
      promise(mapping.encode(mapping.decode(a)) == a, "an address comes back from its place");
    }
    promise(lpddr5::peak_bytes_per_second(config.dev) > 0, "a memory has a bandwidth");
    const auto again = lpddr5::read_memory_config(nlohmann::ordered_json{{"device", "lpddr5-6400"}}, "again.json", "");
    promise(again.channels == 1, "reading leaves nothing behind");
    return outcome::read;
  } catch (const core::config_error& error) {
    const std::string_view said = error.what();
    promise(said.starts_with("fuzz.json: "), "an error starts with the file");
    promise(said.find('\n') == std::string_view::npos, "an error is one line");
    promise(said.size() < 4096, "an error is short");
    return outcome::refused;
  }
}

}  // namespace dvp::testbenches
