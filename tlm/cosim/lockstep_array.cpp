#include "tlm/cosim/lockstep_array.h"

#include <stdexcept>

#include "tlm/cosim/difference.h"

namespace dvp::cosim {

lockstep_array::lockstep_array(array::array_seat& first, array::array_seat& second, array::array_shape shape,
                               const lockstep_options& options)
    : first_(first), second_(second), shape_(shape), options_(options) {
  if (options_.every == 0) throw std::invalid_argument("lockstep array: compare one job in 1 or more, not in 0");
}

std::uint64_t lockstep_array::run(const array::array_job& job) {
  if (job.id % options_.every != 0) return first_.run(job);
  const numerics::chain_operands& operands = job.operands;
  second_out_.resize(std::size_t{operands.chains()} * operands.vectors * operands.columns);
  // The preset may lie in out; a report needs it as it was.
  array::array_job kept_job = job;
  if (operands.preset != nullptr) {
    preset_.assign(operands.preset, operands.preset + std::size_t{operands.vectors} * operands.columns);
    kept_job.operands.preset = preset_.data();
  }
  array::array_job second_job = kept_job;
  second_job.operands.out = second_out_.data();
  const std::uint64_t second_cycles = second_.run(second_job);
  const std::uint64_t cycles = first_.run(job);
  ++compared_;
  if (first_difference(operands, operands.out, second_out_.data())) report(kept_job, second_out_.data());
  if (cycles != second_cycles) {
    throw std::runtime_error("array seats differ: job " + std::to_string(job.id) + " took " + std::to_string(cycles) +
                             " cycles on " + std::string(first_.name()) + ", " + std::to_string(second_cycles) +
                             " on " + std::string(second_.name()));
  }
  return cycles;
}

void lockstep_array::report(const array::array_job& job, const float* second_out) {
  difference found = *first_difference(job.operands, job.operands.out, second_out);
  const auto runner_of = [&job](array::array_seat& seat) {
    return [&job, &seat](const numerics::chain_operands& operands) { seat.run({operands, job.id}); };
  };
  found.element = find_element(job.operands, found, runner_of(first_), runner_of(second_));
  const std::string text = describe(job, found, shape_, first_.name(), second_.name());
  dump_inputs(options_.dump, job, found, shape_, text);
  throw std::runtime_error(text + "; inputs in " + options_.dump);
}

}  // namespace dvp::cosim
