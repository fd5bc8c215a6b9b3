// Size and speed of one NPU. Everything the time of a descriptor depends on, besides its shape, is here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dvp_gen/arrays.h"
#include "dvp_gen/descriptor.h"
#include "dvp_gen/npu_regs.h"

namespace dvp::npu {

// What a function costs in a unit of `lanes` lanes, in cycles. An element pass takes lanes elements per cycle. A serial
// pass ends in a sum in ascending index, whose order is part of the arithmetic: a lane then works on a row of its own
// and takes one element per cycle, so fewer rows than lanes leave lanes idle.
struct function_cost {
  std::uint32_t latency_cycles = 0;  // pipeline depth, paid once per descriptor
  std::uint32_t element_passes = 0;
  std::uint32_t serial_passes = 0;
};

inline constexpr std::size_t vector_functions = static_cast<std::size_t>(gen::vector_function::row_abs_sum) + 1;

// Opcodes of their own that the vector unit runs, behind its functions: rebuild, update.
inline constexpr std::size_t rebuild_cost = vector_functions;
inline constexpr std::size_t update_cost = vector_functions + 1;

// Indexed by gen::vector_function, then the two above.
using vector_cost_table = std::array<function_cost, vector_functions + 2>;

inline constexpr vector_cost_table default_vector_costs = {{
    {4, 1, 0},   // dequantise
    {24, 1, 1},  // rms_norm: sum of squares; scale
    {4, 1, 0},   // add_row
    {4, 1, 0},   // add
    {8, 1, 0},   // rope_interleaved
    {8, 1, 0},   // rope_halves
    {32, 2, 1},  // softmax: maximum; exponentials and their sum; scale
    {16, 1, 0},  // silu_multiply
    {2, 1, 0},   // to_bf16
    {8, 1, 0},   // transpose_to_bf16
    {24, 2, 0},  // encode: maximum; quotients
    {16, 1, 1},  // difference: difference; sums of squares
    {8, 1, 0},   // column_max
    {4, 1, 0},   // scale_columns
    {8, 1, 0},   // gather_transpose
    {8, 1, 0},   // transpose_codes
    {8, 0, 1},   // row_abs_sum
    {24, 2, 0},  // rebuild: residual; rotation; and one pass per coefficient
    {24, 3, 0},  // update: sums; two activations
}};

// The address window; see the block's registers for what it does. A command takes its call and its share of pages or
// bytes, rounded up to an edge of the NPU clock.
struct window_config {
  std::uint64_t bytes = 0;  // 0: none
  std::uint32_t entries = 64;
  std::uint32_t page_bytes = 4096;
  double map_call_ns = 10'000;
  double map_page_ns = 1552;
  double unmap_call_ns = 5'000;
  double unmap_page_ns = 517;
  double flush_call_ns = 2'000;
  std::uint64_t flush_bytes_per_second = 20'000'000'000;
};

struct npu_config {
  std::uint64_t clock_hz = 1'000'000'000;
  std::uint32_t queues = gen::npu::queue::count;

  gen::array_config array = *gen::find_array("ref_16x16");
  std::uint32_t accumulator_latency_cycles = 4;  // scale, add and write back after the array's last result

  std::uint32_t scratchpad_bytes = 1U << 20;
  std::uint32_t scratchpad_banks = 16;            // equal, contiguous parts
  std::uint32_t scratchpad_bytes_per_cycle = 64;  // width of each engine's way to the scratchpad

  std::uint32_t vector_lanes = 16;
  vector_cost_table vector_costs = default_vector_costs;
  std::uint32_t sampling_lanes = 16;
  function_cost sampling_cost = {40, 0, 1};

  std::uint32_t dma_max_burst_bytes = 256;  // a power of two; bursts end at its multiples in DRAM
  std::uint32_t dma_max_outstanding = 16;   // bursts in flight, per DMA engine
  std::uint32_t dma_issue_cycles = 1;       // from burst to burst, at least
  // With 0 every burst is an access. Else DMA engines hand over rows in blocks of about so many bytes, one access each
  // (core/row_block.h), with the bursts, issue cycles and bursts in flight of the rows: fewer steps to simulate, for a
  // memory that knows what blocks cost. Others who share the memory then come between blocks and not between bursts.
  std::uint32_t dma_block_bytes = 0;
  // What the memory moves in the time it takes to answer. Bursts in flight that hold twice as much never bound a
  // block's rate, so it may have more of them; otherwise it has a quarter of dma_max_outstanding at most.
  std::uint64_t dma_latency_bytes = 0;
  // How far a DMA engine runs ahead of simulated time before it waits. Smaller is fairer among those who share the
  // memory and slower to simulate; bytes never depend on it.
  std::uint32_t dma_quantum_cycles = 128;

  // Accesses go by nb_transport, each when it is due and with the memory's back-pressure, instead of by b_transport
  // with the quantum above. For memories that reorder or queue; see memory_link.h.
  bool memory_non_blocking = false;

  window_config window;

  // Nothing is computed and only bytes that carry decisions move: the same descriptors take the same time, for models
  // whose weights are not there. See decisions.h.
  bool shape_only = false;

  std::uint32_t dispatch_cycles = 2;       // per descriptor and queue
  std::uint32_t prefetch_descriptors = 8;  // most descriptors one read of the ring brings
  std::uint32_t engine_queue_depth = 8;    // descriptors that wait at an engine
};

// Throws std::invalid_argument that names the field, its value and what it must be.
void validate(const npu_config& config);

}  // namespace dvp::npu
