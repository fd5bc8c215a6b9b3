// A clock that does not come.
#pragma once

#include <limits>

#include "tlm/lpddr5/device/command.h"

namespace dvp::lpddr5 {

constexpr cycles never = std::numeric_limits<cycles>::max() / 4;

}  // namespace dvp::lpddr5
