// Matrix products in double precision.
#pragma once

#include <cstddef>
#include <vector>

#include "testbenches/oracle/gguf_file.h"

namespace dvp::oracle {

// A weight matrix [outputs][inputs], transposed and cut into panels of sixteen outputs, so that the inner loop runs
// across outputs and every sum keeps its ascending order.
class weight_matrix {
 public:
  weight_matrix() = default;
  explicit weight_matrix(const matrix& m);

  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }

  // [rows][outputs] = x [rows][inputs] times the transposed weights.
  std::vector<double> multiply(const std::vector<double>& x) const;

 private:
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  std::vector<double> panels_;  // [ceil(outputs / 16)][inputs][16], missing outputs 0
};

}  // namespace dvp::oracle
