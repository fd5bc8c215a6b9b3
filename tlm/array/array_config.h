// The shape of a generated array configuration.
#pragma once

#include "dvp_gen/arrays.h"
#include "tlm/array/array_timing.h"

namespace dvp::array {

constexpr array_shape shape_of(const gen::array_config& config) {
  return {.rows = config.rows,
          .columns = config.columns,
          .lane_bits = config.lane_bits,
          .packing = config.packing,
          .adder_stages = config.adder_stages,
          .banks = config.double_buffered ? 2U : 1U,
          .output_buffer = config.output_buffer};
}

}  // namespace dvp::array
