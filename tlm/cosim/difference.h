// The first place where two results of one job differ, and a report about it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tlm/array/array_seat.h"
#include "tlm/array/array_timing.h"

namespace dvp::cosim {

struct difference {
  std::uint32_t chain = 0;
  std::uint32_t vector = 0;
  std::uint32_t column = 0;
  float first = 0;   // value of the first seat
  float second = 0;  // value of the second
  // Reduction index within the chain after which the running sums part; none if the chain alone does not show it.
  std::optional<std::uint32_t> element;
};

// Compares out [chains][vectors][columns] bit for bit, in that order.
std::optional<difference> first_difference(const numerics::chain_operands& operands, const float* first,
                                           const float* second);

// Runs operands on one seat into operands.out.
using runner = std::function<void(const numerics::chain_operands& operands)>;

// Finds difference::element by running ever shorter beginnings of the chain, this vector alone, on both seats.
std::optional<std::uint32_t> find_element(const numerics::chain_operands& operands, const difference& found,
                                          const runner& first, const runner& second);

// "job 3, chain 0, vector 5, column 2, fold 1, row 4: model 3fc00000 (1.5), rtl 3fc00001 (1.50000012)".
std::string describe(const array::array_job& job, const difference& found, array::array_shape shape,
                     std::string_view first_name, std::string_view second_name);

// Writes the inputs of the differing sum, one reduction index per line: index, fold, row, stationary value, streamed
// element. Throws std::runtime_error if the file cannot be written.
void dump_inputs(const std::string& path, const array::array_job& job, const difference& found,
                 array::array_shape shape, const std::string& headline);

}  // namespace dvp::cosim
