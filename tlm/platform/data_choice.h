// Whether a run has data.
#pragma once

#include <cstdint>

namespace dvp::platform {

// real: weights and arithmetic. shape: neither, the same time and energy for the same decisions; see shape/README.md.
enum class data_choice : std::uint8_t { real, shape };

constexpr const char* name_of(data_choice choice) {
  return choice == data_choice::real ? "real" : "shape";
}

}  // namespace dvp::platform
