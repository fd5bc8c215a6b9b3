// Whether a run has data.
#pragma once

#include <cstdint>
#include <string>

#include "tlm/platform/files.h"

namespace dvp::platform {

// real: weights and arithmetic. shape: neither, the same time and energy for the same decisions; see shape/README.md.
enum class data_choice : std::uint8_t { real, shape };

constexpr const char* name_of(data_choice choice) {
  return choice == data_choice::real ? "real" : "shape";
}

// What --data says; usage_error for anything else.
inline data_choice parse_data(const std::string& name) {
  for (const auto choice : {data_choice::real, data_choice::shape}) {
    if (name == name_of(choice)) return choice;
  }
  throw usage_error("--data " + name + ": takes real or shape");
}

}  // namespace dvp::platform
