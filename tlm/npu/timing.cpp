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

}  // namespace

std::uint64_t pass_cycles(const function_cost& cost, std::uint32_t lanes, std::uint64_t rows, std::uint64_t columns) {
  return cost.element_passes * ceil_divide(rows * columns, lanes) +
         cost.serial_passes * ceil_divide(rows, lanes) * columns;
}

std::uint64_t port_cycles(const npu_config& config, const descriptor_view& descriptor) {
  std::uint64_t bytes = 0;
  for (const operand& item : operands_of(descriptor)) bytes += item.bytes();
  return ceil_divide(bytes, config.scratchpad_bytes_per_cycle);
}

std::uint64_t vector_cycles(const npu_config& config, const descriptor_view& descriptor) {
  const auto d = descriptor.as<gen::vector_descriptor>();
  const function_cost& cost = config.vector_costs[static_cast<std::size_t>(d.header.function)];
  return unit_cycles(config, descriptor, cost, config.vector_lanes, d.rows, d.columns);
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
