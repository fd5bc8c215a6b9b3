#include "tlm/npu/npu_config.h"

#include <bit>
#include <stdexcept>
#include <string>

namespace dvp::npu {
namespace {

void require(bool rule, const char* field, std::uint64_t value, const char* must) {
  if (!rule) {
    throw std::invalid_argument(std::string("npu: ") + field + " is " + std::to_string(value) + ", it must be " + must);
  }
}

void validate(const window_config& w, std::uint32_t burst_bytes) {
  if (w.bytes == 0) return;
  require(std::has_single_bit(w.page_bytes) && w.page_bytes >= burst_bytes && w.page_bytes >= 4096, "window.page_bytes",
          w.page_bytes, "a power of two, 4096 or more and at least the largest burst");
  require(w.bytes % w.page_bytes == 0 && w.bytes <= std::uint64_t{1} << 40, "window.bytes", w.bytes,
          "whole pages of page_bytes, at most 1 TiB");
  require(w.entries >= 1 && w.entries <= 65535, "window.entries", w.entries, "1 to 65535");
  for (const double ns : {w.map_call_ns, w.map_page_ns, w.unmap_call_ns, w.unmap_page_ns, w.flush_call_ns}) {
    if (!(ns >= 0 && ns <= 1e6)) {
      throw std::invalid_argument("npu: a cost of window is " + std::to_string(ns) + " ns, it must be 0 to 1000000");
    }
  }
  require(w.flush_bytes_per_second >= 1'000'000, "window.flush_bytes_per_second", w.flush_bytes_per_second,
          "1000000 or more");
}

}  // namespace

void validate(const npu_config& c) {
  require(c.clock_hz >= 1'000'000 && c.clock_hz <= 100'000'000'000, "clock_hz", c.clock_hz, "1 MHz to 100 GHz");
  require(c.queues >= 1 && c.queues <= gen::npu::queue::count, "queues", c.queues, "1 or 2");
  require(c.array.rows >= 1 && c.array.rows <= 255, "array.rows", c.array.rows, "1 to 255");
  require(c.array.columns >= 1 && c.array.columns <= 255, "array.columns", c.array.columns, "1 to 255");
  require(c.array.lane_bits == 16, "array.lane_bits", c.array.lane_bits, "16: one element per lane and cycle");
  require(c.array.accumulator_vectors >= 1 && c.array.accumulator_vectors <= 65535, "array.accumulator_vectors",
          c.array.accumulator_vectors, "1 to 65535");
  require(c.scratchpad_banks >= 1 && c.scratchpad_banks <= 64, "scratchpad_banks", c.scratchpad_banks, "1 to 64");
  require(c.scratchpad_bytes >= 64 && c.scratchpad_bytes % (64 * c.scratchpad_banks) == 0, "scratchpad_bytes",
          c.scratchpad_bytes, "a multiple of 64 bytes in every bank");
  // Every cycle the array takes one bf16 element per row of the stream and one per column of the next fold.
  require(c.scratchpad_bytes_per_cycle >= 2 * (c.array.rows + c.array.columns), "scratchpad_bytes_per_cycle",
          c.scratchpad_bytes_per_cycle, "wide enough for the array: 2 bytes for each of its rows and columns");
  require(c.vector_lanes >= 1, "vector_lanes", c.vector_lanes, "1 or more");
  require(c.sampling_lanes >= 1, "sampling_lanes", c.sampling_lanes, "1 or more");
  require(std::has_single_bit(c.dma_max_burst_bytes) && c.dma_max_burst_bytes >= 16, "dma_max_burst_bytes",
          c.dma_max_burst_bytes, "a power of two, 16 or more");
  require(c.dma_max_outstanding >= 1 && c.dma_max_outstanding <= 1024, "dma_max_outstanding", c.dma_max_outstanding,
          "1 to 1024");
  require(c.dma_issue_cycles >= 1, "dma_issue_cycles", c.dma_issue_cycles, "1 or more");
  validate(c.window, c.dma_max_burst_bytes);
  require(c.prefetch_descriptors >= 1 && c.prefetch_descriptors <= 64, "prefetch_descriptors", c.prefetch_descriptors,
          "1 to 64");
  require(c.engine_queue_depth >= 1, "engine_queue_depth", c.engine_queue_depth, "1 or more");
}

}  // namespace dvp::npu
