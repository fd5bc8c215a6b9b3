// Array seat that runs two others on the same jobs and demands the same bits and the same cycles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/array/array_seat.h"
#include "tlm/array/array_timing.h"

namespace dvp::cosim {

struct lockstep_options {
  std::uint64_t every = 1;                    // compare jobs whose id is a multiple of this; the first seat alone
                                              // runs the others
  std::string dump = "array_difference.txt";  // inputs of the first differing sum
};

class lockstep_array final : public array::array_seat {
 public:
  // shape is that of both seats, which outlive this one. Throws std::invalid_argument if options.every is 0.
  lockstep_array(array::array_seat& first, array::array_seat& second, array::array_shape shape,
                 const lockstep_options& options = {});

  std::string_view name() const override { return "both"; }
  std::uint64_t compared_jobs() const { return compared_; }

  // Returns the first seat's cycles; out holds its results. Throws std::runtime_error at the first difference in out,
  // naming job, chain, vector, column, fold, row, both values and the file with the inputs, or at a difference in
  // cycles, naming both counts.
  std::uint64_t run(const array::array_job& job) override;

 private:
  [[noreturn]] void report(const array::array_job& job, const float* second_out);

  array::array_seat& first_;
  array::array_seat& second_;
  array::array_shape shape_;
  lockstep_options options_;
  std::uint64_t compared_ = 0;
  std::vector<float> second_out_;
  std::vector<float> preset_;
};

}  // namespace dvp::cosim
