#include "tlm/npu/timing.h"

#include <algorithm>

#include "tlm/npu/operands.h"

namespace dvp::npu {
namespace {

std::uint64_t ceil_divide(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

std::uint64_t unit_cycles(const npu_config& config, const descriptor_view& descriptor, const function_cost& cost,
                          std::uint32_t lanes, std::uint64_t rows, std::uint64_t columns) {
  const std::uint64_t work = std::max(pass_cycles(cost, lanes, rows, columns), port_cycles(config, descriptor));
  return std::max<std::uint64_t>(1, cost.latency_cycles + work);
}

// What a descriptor of the vector unit costs, and over how many elements.
struct vector_work {
  function_cost cost;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

vector_work vector_work_of(const npu_config& config, const descriptor_view& descriptor) {
  switch (descriptor.op()) {
    case gen::opcode::rebuild: {
      const auto d = descriptor.as<gen::rebuild_descriptor>();
      function_cost cost = config.vector_costs[rebuild_cost];
      cost.element_passes += rank_of(d);
      return {cost, d.rows, d.columns};
    }
    case gen::opcode::update: {
      const auto d = descriptor.as<gen::update_descriptor>();
      return {config.vector_costs[update_cost], d.rows, d.columns};
    }
    default: {
      const auto d = descriptor.as<gen::vector_descriptor>();
      return {config.vector_costs[d.header.function], d.rows, d.columns};
    }
  }
}

}  // namespace

std::uint64_t pass_cycles(const function_cost& cost, std::uint32_t lanes, std::uint64_t rows, std::uint64_t columns) {
  return cost.element_passes * ceil_divide(rows * columns, lanes) +
         cost.serial_passes * ceil_divide(rows, lanes) * columns;
}

std::uint64_t port_bytes(const descriptor_view& descriptor) {
  std::uint64_t bytes = 0;
  for (const operand& item : operands_of(descriptor)) bytes += item.moved_bytes();
  return bytes;
}

std::uint64_t port_cycles(const npu_config& config, const descriptor_view& descriptor) {
  return ceil_divide(port_bytes(descriptor), config.scratchpad_bytes_per_cycle);
}

std::uint64_t vector_cycles(const npu_config& config, const descriptor_view& descriptor) {
  const vector_work work = vector_work_of(config, descriptor);
  return unit_cycles(config, descriptor, work.cost, config.vector_lanes, work.rows, work.columns);
}

std::uint64_t vector_passes(const npu_config& config, const descriptor_view& descriptor) {
  const vector_work work = vector_work_of(config, descriptor);
  return std::uint64_t{work.cost.element_passes + work.cost.serial_passes} * work.rows * work.columns;
}

std::uint64_t sample_cycles(const npu_config& config, const descriptor_view& descriptor) {
  const auto d = descriptor.as<gen::sample_descriptor>();
  return unit_cycles(config, descriptor, config.sampling_cost, config.sampling_lanes, d.rows, d.columns);
}

std::uint64_t gemm_cycles(const npu_config& config, std::uint64_t job_cycles) {
  return job_cycles + config.accumulator_latency_cycles;
}

std::uint64_t gemm_macs(const gen::gemm_descriptor& d) {
  return std::uint64_t{d.tokens} * d.vectors * d.reduction;
}

}  // namespace dvp::npu
