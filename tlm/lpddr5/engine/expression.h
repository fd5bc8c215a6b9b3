// Arithmetic over a device's timing: "WL + BL_n_max + WTR_L", "max(1, RL - WL)".
//
//   sum     = product { (+ | -) product }
//   product = factor { (* | /) factor }            / drops the remainder
//   factor  = integer | name | - factor | ( sum ) | max(sum, sum) | min(sum, sum)
//
// Names are those of timing_fields().
#pragma once

#include <string_view>

#include "tlm/lpddr5/device/device.h"

namespace dvp::lpddr5 {

// std::invalid_argument, one sentence with the expression and the position in it (first character: 1): a character or
// name that does not belong, a missing operand or parenthesis, a division by zero, a value beyond 2^40, nesting deeper
// than 64.
cycles evaluate(std::string_view expression, const timing& t);

}  // namespace dvp::lpddr5
