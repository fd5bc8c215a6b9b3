// What rows cost a DMA engine in bursts, and how many of them it hands over at once. Pure arithmetic.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "tlm/core/row_block.h"
#include "tlm/npu/dma_segments.h"
#include "tlm/npu/npu_config.h"

namespace dvp::npu {

struct burst_cost {
  std::uint32_t bursts = 0;
  std::uint64_t cycles = 0;  // from the first to what may be issued next

  burst_cost& operator+=(const burst_cost& more) {
    bursts += more.bursts;
    cycles += more.cycles;
    return *this;
  }
};

inline burst_cost cost_of_burst(const npu_config& config, std::uint64_t bytes) {
  const std::uint64_t width = config.scratchpad_bytes_per_cycle;
  return {1, std::max<std::uint64_t>(config.dma_issue_cycles, (bytes + width - 1) / width)};
}

// A contiguous piece of so many bytes; `position` as burst_bytes() takes it.
inline burst_cost cost_of_piece(const npu_config& config, std::uint64_t position, std::uint64_t bytes) {
  burst_cost cost;
  while (bytes != 0) {
    const std::uint64_t n = burst_bytes(position, bytes, config.dma_max_burst_bytes);
    cost += cost_of_burst(config, n);
    position += n;
    bytes -= n;
  }
  return cost;
}

// Rows of equal length in DRAM, in bytes that move. list: which of them, empty for all `rows`.
struct row_run {
  std::uint64_t dram = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stride = 0;  // stored bytes
  std::uint64_t stored_per_byte = 1;
  std::uint32_t rows = 0;
  bool dense = false;  // with a list: rows that are neighbours lie end to end on both sides
  std::span<const std::uint32_t> list = {};

  std::uint64_t address(std::uint32_t row) const {
    return dram + stride * (list.empty() ? std::uint64_t{row} : std::uint64_t{list[row]});
  }
  // Behind the rows that are one piece with `first`: of those that a list names, neighbours where rows are dense.
  std::uint32_t piece_end(std::uint32_t first, std::uint32_t end) const {
    std::uint32_t next = first + 1;
    while (dense && next < end && list[next] == std::uint64_t{list[next - 1]} + 1) ++next;
    return next;
  }
};

// Rows handed over at once: about dma_block_bytes of DRAM, and where the bursts in flight bound the rate no more than a
// quarter of them.
inline std::uint32_t rows_per_block(const npu_config& config, const row_run& run) {
  const std::uint64_t row = run.bytes * run.stored_per_byte;
  const std::uint64_t bursts = (run.bytes + config.dma_max_burst_bytes - 1) / config.dma_max_burst_bytes;
  const bool bound = config.dma_max_outstanding * row / bursts < 2 * config.dma_latency_bytes;
  const std::uint64_t by_bytes = config.dma_block_bytes / row;
  const std::uint64_t by_bursts = bound ? config.dma_max_outstanding / 4 / bursts : by_bytes;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, std::min(by_bytes, by_bursts)));
}

// Of the bursts in flight those that count for a portion with so many: two blocks are under way at a time.
inline std::uint32_t slots_of(const npu_config& config, std::uint32_t bursts) {
  return std::min(bursts, std::max(1U, config.dma_max_outstanding / 2));
}

// The longest contiguous piece handed over at once, in bytes that move: a burst, or a power of two of them.
inline std::uint64_t longest_piece(const npu_config& config, std::uint64_t stored_per_byte) {
  const std::uint64_t burst = config.dma_max_burst_bytes;
  if (config.dma_block_bytes == 0) return burst;
  return std::bit_floor(rows_per_block(config, {.bytes = burst, .stored_per_byte = stored_per_byte})) * burst;
}

// A contiguous piece of so many bytes that move as a block of two rows, if it is longer than a burst.
inline core::row_block piece_as_block(const npu_config& config, std::uint64_t bytes, std::uint64_t stored_per_byte) {
  if (bytes <= config.dma_max_burst_bytes || bytes % 2 != 0) return {};
  return {2, bytes / 2 * stored_per_byte};
}

// Rows [first, end), piece by piece.
inline burst_cost cost_of_rows(const npu_config& config, const row_run& run, std::uint32_t first, std::uint32_t end) {
  burst_cost cost;
  const burst_cost one_burst = cost_of_burst(config, run.bytes);
  const std::uint64_t largest = config.dma_max_burst_bytes;
  for (std::uint32_t row = first; row < end;) {
    const std::uint32_t next = run.piece_end(row, end);
    const std::uint64_t bytes = (next - row) * run.bytes;
    const std::uint64_t position = run.list.empty() ? run.address(row) / run.stored_per_byte : 0;
    const bool fits = next == row + 1 && (position & (largest - 1)) + bytes <= largest;
    cost += fits ? one_burst : cost_of_piece(config, position, bytes);
    row = next;
  }
  return cost;
}

}  // namespace dvp::npu
