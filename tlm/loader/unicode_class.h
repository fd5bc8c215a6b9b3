// The classes of characters that pre-tokenizers tell apart.
#pragma once

#include <cstdint>

namespace dvp::loader {

enum class character_class : std::uint8_t { letter, number, space, other };

// Letters are general category L, numbers N (Unicode 14), spaces the White_Space property.
character_class class_of(std::uint32_t code_point);

}  // namespace dvp::loader
