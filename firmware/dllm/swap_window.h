// The NPU's address window as the swap policies use it: what was done is counted and timed, what was decided recorded,
// and a command that fails ends the stream.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dvp_gen/request.h"
#include "firmware/dllm/swap_pages.h"
#include "firmware/drivers/npu_window.h"
#include "firmware/kernels/address_space.h"
#include "firmware/kernels/command_stream.h"

namespace dvp::dllm {

struct swap_counters {
  std::uint32_t map_calls = 0;
  std::uint32_t unmap_calls = 0;
  std::uint64_t pages_mapped = 0;
  std::uint64_t bytes_staged = 0;
  std::uint64_t mapping_ns = 0;
};

class swap_window {
 public:
  // Both outlive the run; `plan` may be empty. Counters and record start anew.
  void open(drivers::npu_window& window, kernels::command_stream& stream, std::span<gen::swap_plan_entry> plan);

  window_limits limits() const;
  kernels::command_stream& stream() { return *stream_; }
  kernels::address_space& addresses() { return addresses_; }
  const swap_counters& counters() const { return counters_; }

  void map(std::uint32_t entry, const page_run& run);
  void unmap(std::uint32_t entry);
  // What the CPU wrote to pages that are mapped becomes visible.
  void flush(std::uint64_t device, std::uint64_t bytes);
  // The CPU changed these bytes: whoever maps them flushes them before the next forward, then forgets them.
  void written(const byte_range& memory);
  std::span<const byte_range> unflushed() const { return std::span(unflushed_).first(unflushed_count_); }
  void forget_written() { unflushed_count_ = 0; }
  void count_staged(std::uint64_t bytes) { counters_.bytes_staged += bytes; }

  // Makes [bus, bus + bytes), found at `device`, reachable for the stream.
  void add_range(const kernels::address_range& range);

  // The plan: entries are kept while it is recorded, and counted whether there is room or not. It is from open() to the
  // end of the first forward, and again during the first of the other kind.
  bool recording() const { return recording_; }
  void begin_forward(bool anchored);
  void end_forward();
  void record(const gen::swap_plan_entry& entry);
  void record_pinned(const page_run& run);
  std::uint32_t recorded() const { return recorded_; }

 private:
  // Cache, Gram matrices, bases, lists, and two parts of the order.
  static constexpr std::uint32_t most_unflushed = 8;

  void finish(drivers::window_code code, std::uint64_t begin_ns);

  drivers::npu_window* window_ = nullptr;
  kernels::command_stream* stream_ = nullptr;
  kernels::address_space addresses_;
  swap_counters counters_;
  std::span<gen::swap_plan_entry> plan_;
  std::uint32_t recorded_ = 0;
  bool recording_ = false;
  bool anchored_ = false;                 // the forward
  std::array<bool, 2> recorded_kinds_{};  // whole ones, anchored ones
  std::array<byte_range, most_unflushed> unflushed_{};
  std::uint32_t unflushed_count_ = 0;
};

}  // namespace dvp::dllm
