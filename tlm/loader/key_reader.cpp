#include "tlm/loader/key_reader.h"

#include <cstdio>
#include <limits>

namespace dvp::loader {
namespace {

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

load_error missing_key(const gguf_file& file, std::string_view key) {
  return file.key_error(key, "is missing", "convert the model again with a converter that writes it");
}

std::uint32_t count_key(const gguf_file& file, std::string_view key, std::optional<std::uint32_t> fallback,
                        std::uint32_t least) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  const auto value = file.unsigned_of(key);
  if (!value && !fallback) {
    throw missing_key(file, key);
  }
  if (value && (*value < least || *value > most)) {
    throw file.key_error(key,
                         "is " + grouped(*value) + ", " + grouped(least) + " to " + grouped(most) + " is expected");
  }
  return value ? static_cast<std::uint32_t>(*value) : *fallback;
}

float float_key(const gguf_file& file, std::string_view key, std::optional<float> fallback, float least, float most) {
  const auto value = file.float_of(key);
  if (!value && !fallback) {
    throw missing_key(file, key);
  }
  if (value && !(*value >= static_cast<double>(least) && *value <= static_cast<double>(most))) {  // NaN fails too
    throw file.key_error(key, "is " + short_number(*value) + ", " + short_number(static_cast<double>(least)) + " to " +
                                  short_number(static_cast<double>(most)) + " is expected");
  }
  return value ? static_cast<float>(*value) : *fallback;
}

}  // namespace dvp::loader
