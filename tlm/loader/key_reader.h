// Metadata keys with ranges: what the readers of model and decode keys share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tlm/loader/gguf.h"

namespace dvp::loader {

// The value of an integer key in [least, 2^31 - 1]. An absent key gives fallback; with none it is a load_error.
std::uint32_t count_key(const gguf_file& file, std::string_view key, std::optional<std::uint32_t> fallback = {},
                        std::uint32_t least = 1);

// The value of a float key that is finite and in [least, most]; absent as above.
float float_key(const gguf_file& file, std::string_view key, std::optional<float> fallback, float least, float most);

// The error for a key that has to be there.
load_error missing_key(const gguf_file& file, std::string_view key);

}  // namespace dvp::loader
