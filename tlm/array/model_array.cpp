#include "tlm/array/model_array.h"

#include <stdexcept>
#include <string>

namespace dvp::array {

model_array::model_array(array_shape shape) : shape_(shape) {
  const bool size = shape.rows != 0 && shape.columns != 0;
  const bool stages = shape.adder_stages >= 1 && shape.adder_stages <= 3;
  if (!size || !stages || (shape.lane_bits != 8 && shape.lane_bits != 16) || (shape.banks != 1 && shape.banks != 2))
    throw std::invalid_argument(
        "model_array: the array needs rows and columns, lanes of 8 or 16 bits, 1 to 3 adder stages, 1 or 2 banks");
}

std::uint64_t model_array::run(const array_job& job) {
  const numerics::chain_operands& operands = job.operands;
  const bool shape_fits = operands.columns >= 1 && operands.columns <= shape_.columns && operands.vectors >= 1;
  const bool chains_fit = operands.group >= 1 && operands.reduction >= 1 && operands.reduction % operands.group == 0;
  if (!shape_fits || !chains_fit) {
    throw std::invalid_argument("model_array: job " + std::to_string(job.id) + " does not fit the array: columns " +
                                std::to_string(operands.columns) + " of " + std::to_string(shape_.columns) +
                                ", vectors " + std::to_string(operands.vectors) + ", reduction " +
                                std::to_string(operands.reduction) + ", group " + std::to_string(operands.group));
  }
  numerics::chain_products(operands);
  return job_cycles(shape_, fold_beats(shape_, operands), operands.reduction, operands.group);
}

}  // namespace dvp::array
