#include "testbenches/oracle/product.h"

#include <algorithm>

#include "testbenches/oracle/vector_clones.h"

namespace dvp::oracle {

namespace {

constexpr std::size_t panel_outputs = 16;
constexpr std::size_t row_tile = 4;

using lanes [[gnu::vector_size(panel_outputs * sizeof(double))]] = double;

// Up to four rows of x against one panel.
ORACLE_VECTOR_CLONES
void multiply_panel(const double* x, std::size_t rows, std::size_t inputs, const double* panel, double* y,
                    std::size_t y_stride, std::size_t outputs) {
  const double* row[row_tile];
  for (std::size_t r = 0; r < row_tile; ++r) row[r] = x + std::min(r, rows - 1) * inputs;
  lanes sums[row_tile] = {};
  for (std::size_t k = 0; k < inputs; ++k) {
    lanes w;
    __builtin_memcpy(&w, panel + k * panel_outputs, sizeof w);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < row_tile; ++r) sums[r] = sums[r] + w * row[r][k];
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t o = 0; o < outputs; ++o) y[r * y_stride + o] = sums[r][o];
  }
}

}  // namespace

weight_matrix::weight_matrix(const matrix& m)
    : inputs_(m.columns),
      outputs_(m.rows),
      panels_((m.rows + panel_outputs - 1) / panel_outputs * m.columns * panel_outputs) {
  for (std::size_t o = 0; o < outputs_; ++o) {
    double* column = panels_.data() + o / panel_outputs * inputs_ * panel_outputs + o % panel_outputs;
    for (std::size_t k = 0; k < inputs_; ++k) column[k * panel_outputs] = m.values[o * inputs_ + k];
  }
}

std::vector<double> weight_matrix::multiply(const std::vector<double>& x) const {
  const std::size_t rows = x.size() / inputs_;
  std::vector<double> y(rows * outputs_);
  for (std::size_t o = 0; o < outputs_; o += panel_outputs) {
    const double* panel = panels_.data() + o * inputs_;
    for (std::size_t r = 0; r < rows; r += row_tile) {
      multiply_panel(x.data() + r * inputs_, std::min(row_tile, rows - r), inputs_, panel, y.data() + r * outputs_ + o,
                     outputs_, std::min(panel_outputs, outputs_ - o));
    }
  }
  return y;
}

}  // namespace dvp::oracle
