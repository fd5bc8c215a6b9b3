// The array seat: what runs the systolic array's work, be it the C++ model, the Verilated RTL or both.
//
// A job is one column tile of a matrix product. The array has R rows (reduction indices per fold) and C columns
// (tokens). The arithmetic is that of numerics::chain_products; the time is that of array_timing.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "tlm/numerics/chain_products.h"

namespace dvp::array {

struct array_job {
  numerics::chain_operands operands;  // columns <= C
  std::uint64_t id = 0;               // running number of the job, for messages and waveforms
};

class array_seat {
 public:
  virtual ~array_seat() = default;
  virtual std::string_view name() const = 0;
  // Runs the job to its end and returns the NPU cycles it took, from the first stationary row loaded into an idle
  // array to the last result. An implementation that finds itself in disagreement throws std::runtime_error with the
  // first difference in its message.
  virtual std::uint64_t run(const array_job& job) = 0;
};

}  // namespace dvp::array
