// How long a descriptor keeps its engine, in NPU cycles: functions of its shape and the configuration, never of data.
// The DMA's time is not here; it comes from the memory.
#pragma once

#include <cstdint>

#include "tlm/npu/descriptor_view.h"
#include "tlm/npu/npu_config.h"

namespace dvp::npu {

// A unit of `lanes` lanes over rows x columns elements:
//     element_passes * ceil(rows * columns / lanes) + serial_passes * ceil(rows / lanes) * columns
// and the latency on top is the caller's.
std::uint64_t pass_cycles(const function_cost& cost, std::uint32_t lanes, std::uint64_t rows, std::uint64_t columns);

// Bytes of all scratchpad operands, each moved once.
std::uint64_t port_bytes(const descriptor_view& descriptor);

// ceil(port_bytes / scratchpad_bytes_per_cycle)
std::uint64_t port_cycles(const npu_config& config, const descriptor_view& descriptor);

// latency + max(pass_cycles, port_cycles), at least 1, with the cost of the vector function; of rebuild and
// update, which the vector unit runs too, with theirs, a rebuild one pass more for each of its rank.
std::uint64_t vector_cycles(const npu_config& config, const descriptor_view& descriptor);

// Elements the vector unit takes, once for each of its passes over them: (element_passes + serial_passes) * elements.
std::uint64_t vector_passes(const npu_config& config, const descriptor_view& descriptor);

// The same as vector_cycles with the cost of the sampling unit.
std::uint64_t sample_cycles(const npu_config& config, const descriptor_view& descriptor);

// sum of the array's job cycles + accumulator_latency_cycles; the accumulator keeps up with the array.
std::uint64_t gemm_cycles(const npu_config& config, std::uint64_t job_cycles);

// tokens * vectors * reduction
std::uint64_t gemm_macs(const gen::gemm_descriptor& d);

}  // namespace dvp::npu
