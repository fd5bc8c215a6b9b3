#include "tlm/npu/address_window.h"

#include <cmath>

namespace dvp::npu {

namespace status_bits = gen::npu::window_status;
using gen::npu::window_operation;
using gen::npu::window_result;

address_window::address_window(const sc_core::sc_module_name& name, const window_config& config, const npu_clock& clock,
                               reset_line& reset, core::timeline& timeline, std::function<void()> done)
    : sc_module(name),
      config_(config),
      clock_(clock),
      reset_(reset),
      timeline_(timeline),
      done_(std::move(done)),
      map_(config),
      track_(config.bytes == 0 ? 0 : timeline.track("npu", "window")) {
  SC_HAS_PROCESS(address_window);
  SC_THREAD(process);
}

void address_window::command(const window_command& wanted) {
  if (busy_) {
    refused_ = true;
    return;
  }
  refused_ = false;
  result_ = map_.check(wanted);
  if (result_ != window_result::ok) {
    done_();
    return;
  }
  current_ = wanted;
  current_pages_ = wanted.pages;
  if (wanted.operation == window_operation::unmap) {
    current_pages_ = map_.pages(wanted.entry);
    map_.unmap(wanted.entry);
    draw_mapped_bytes();
  }
  busy_ = true;
  accepted_.notify();
}

std::uint32_t address_window::status() const {
  return status_bits::busy.set(0, busy_ ? 1 : 0) | status_bits::refused.set(0, refused_ ? 1 : 0) |
         status_bits::result.set(0, static_cast<std::uint32_t>(result_));
}

void address_window::clear() {
  const bool any = map_.pages() != 0;
  map_.clear();
  if (any) draw_mapped_bytes();
  busy_ = false;
  refused_ = false;
  result_ = window_result::ok;
}

void address_window::process() {
  for (;;) {
    try {
      carry_out();
    } catch (const restarted&) {
    }
  }
}

void address_window::carry_out() {
  while (!busy_) reset_.wait(accepted_);
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  const sc_core::sc_time begin = clock_.time_of(clock_.edge(now));
  const sc_core::sc_time end = clock_.time_of(clock_.edge(begin + duration()));
  if (end > now) reset_.wait(end - now);
  switch (current_.operation) {
    case window_operation::map:
      map_.map(current_);
      draw_mapped_bytes();
      ++map_calls_;
      pages_mapped_ += current_pages_;
      break;
    case window_operation::unmap:
      ++unmap_calls_;
      break;
    default:
      ++flush_calls_;
      break;
  }
  busy_time_ += end - begin;
  draw(begin);
  busy_ = false;
  done_();
}

sc_core::sc_time address_window::duration() const {
  const auto pages = static_cast<double>(current_pages_);
  double ns = 0;
  switch (current_.operation) {
    case window_operation::map:
      ns = config_.map_call_ns + pages * config_.map_page_ns;
      break;
    case window_operation::unmap:
      ns = config_.unmap_call_ns + pages * config_.unmap_page_ns;
      break;
    default:
      ns = config_.flush_call_ns +
           pages * config_.page_bytes * 1e9 / static_cast<double>(config_.flush_bytes_per_second);
      break;
  }
  return sc_core::sc_time::from_value(static_cast<std::uint64_t>(std::llround(ns * 1000)));
}

void address_window::draw(const sc_core::sc_time& begin) {
  const std::uint64_t device = current_.page * config_.page_bytes;
  const sc_core::sc_time end = sc_core::sc_time_stamp();
  const std::string name = gen::npu::name_of(current_.operation);
  switch (current_.operation) {
    case window_operation::map:
      timeline_.slice(track_, name, begin, end,
                      {{"entry", std::uint64_t{current_.entry}},
                       {"bus", current_.bus},
                       {"device", device},
                       {"pages", current_pages_}});
      break;
    case window_operation::unmap:
      timeline_.slice(track_, name, begin, end, {{"entry", std::uint64_t{current_.entry}}, {"pages", current_pages_}});
      break;
    default:
      timeline_.slice(track_, name, begin, end, {{"device", device}, {"pages", current_pages_}});
      break;
  }
}

void address_window::draw_mapped_bytes() {
  timeline_.counter(track_, "mapped bytes", sc_core::sc_time_stamp(),
                    static_cast<double>(map_.pages() * config_.page_bytes));
}

void address_window::update_figures(core::statistics& figures, const std::string& base) const {
  figures.set(base + "map_calls", map_calls_);
  figures.set(base + "unmap_calls", unmap_calls_);
  figures.set(base + "flush_calls", flush_calls_);
  figures.set(base + "pages_mapped", pages_mapped_);
  figures.set(base + "faults", faults_);
  figures.set(base + "busy_ps", busy_time_.value());
}

}  // namespace dvp::npu
