#include "firmware/dllm/swap_window.h"

#include <algorithm>

#include "firmware/hal/hal.h"

namespace dvp::dllm {

using drivers::window_code;

void swap_window::open(drivers::npu_window& window, kernels::command_stream& stream,
                       std::span<gen::swap_plan_entry> plan) {
  window_ = &window;
  stream_ = &stream;
  addresses_.clear();
  counters_ = {};
  plan_ = plan;
  recorded_ = 0;
  recording_ = true;
  recorded_kinds_ = {};
  unflushed_count_ = 0;
}

window_limits swap_window::limits() const {
  const drivers::window_geometry& g = window_->geometry();
  return {.bytes = page_floor(g.bytes, g.page_bytes), .entries = g.entries, .page_bytes = g.page_bytes};
}

void swap_window::finish(window_code code, std::uint64_t begin_ns) {
  counters_.mapping_ns += hal::now_ns() - begin_ns;
  hal::feed_watchdog();
  if (code != window_code::ok) {
    stream_->fail(code == window_code::timeout ? drivers::npu_code::timeout : drivers::npu_code::window);
  }
}

void swap_window::map(std::uint32_t entry, const page_run& run) {
  if (stream_->status() != drivers::npu_code::ok) {
    return;
  }
  const std::uint64_t begin = hal::now_ns();
  ++counters_.map_calls;
  counters_.pages_mapped += run.bytes / window_->geometry().page_bytes;
  finish(window_->map(entry, run.bus, run.device, run.bytes), begin);
}

void swap_window::unmap(std::uint32_t entry) {
  if (stream_->status() != drivers::npu_code::ok) {
    return;
  }
  const std::uint64_t begin = hal::now_ns();
  ++counters_.unmap_calls;
  finish(window_->unmap(entry), begin);
}

void swap_window::flush(std::uint64_t device, std::uint64_t bytes) {
  if (stream_->status() != drivers::npu_code::ok) {
    return;
  }
  const std::uint64_t begin = hal::now_ns();
  finish(window_->flush(device, bytes), begin);
}

void swap_window::written(const byte_range& memory) {
  const auto before = unflushed();
  if (memory.bytes == 0 || std::find(before.begin(), before.end(), memory) != before.end()) {
    return;
  }
  if (unflushed_count_ == most_unflushed) {
    stream_->fail(drivers::npu_code::window);
    return;
  }
  unflushed_[unflushed_count_++] = memory;
}

void swap_window::add_range(const kernels::address_range& range) {
  if (!addresses_.add(range)) {
    stream_->fail(drivers::npu_code::window);
  }
}

void swap_window::record_pinned(const page_run& run) {
  gen::swap_plan_entry entry;
  entry.bus_address = run.bus;
  entry.device_address = run.device;
  entry.bytes = run.bytes;
  entry.how = gen::residence::pinned;
  record(entry);
}

void swap_window::begin_forward(bool anchored) {
  anchored_ = anchored;
  recording_ = !recorded_kinds_[anchored ? 1 : 0];
}

void swap_window::end_forward() {
  recorded_kinds_[anchored_ ? 1 : 0] = true;
  recording_ = false;
}

void swap_window::record(const gen::swap_plan_entry& entry) {
  if (!recording_) {
    return;
  }
  if (recorded_ < plan_.size()) {
    plan_[recorded_] = entry;
  }
  ++recorded_;
}

}  // namespace dvp::dllm
