// The systolic array as plain C++: bits from numerics::chain_products, cycles from array_timing.h.
#pragma once

#include "tlm/array/array_seat.h"
#include "tlm/array/array_timing.h"

namespace dvp::array {

class model_array final : public array_seat {
 public:
  // Throws std::invalid_argument for a shape that no array has.
  explicit model_array(array_shape shape);

  std::string_view name() const override { return "model"; }

  // Allocates nothing. A job the array cannot take (more columns than it has, a zero dimension, a group that does not
  // divide the reduction) is a fault of the caller and throws std::invalid_argument with the job's id.
  std::uint64_t run(const array_job& job) override;

 private:
  array_shape shape_;
};

}  // namespace dvp::array
