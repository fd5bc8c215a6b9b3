#include "tlm/array/model_array.h"

#include <stdexcept>
#include <string>

namespace dvp::array {

model_array::model_array(array_shape shape) : shape_(shape) {
  if (shape.rows == 0 || shape.columns == 0)
    throw std::invalid_argument("model_array: the array needs rows and columns");
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
  return job_cycles(shape_, operands.vectors, operands.reduction, operands.group);
}

}  // namespace dvp::array
