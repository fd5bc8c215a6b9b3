// The NPU's clock as arithmetic: nothing ticks. Edge n is at n periods after time zero; the block acts on edges only,
// so every duration it counts is a whole number of cycles. The period is rounded to a picosecond.
#pragma once

#include <cstdint>
#include <systemc>

namespace dvp::npu {

class npu_clock {
 public:
  explicit npu_clock(std::uint64_t hz) : period_(sc_core::sc_time::from_value((1'000'000'000'000 + hz / 2) / hz)) {}

  const sc_core::sc_time& period() const { return period_; }
  sc_core::sc_time cycles(std::uint64_t n) const { return period_ * static_cast<double>(n); }

  // Number of the first edge at or after `time`.
  std::uint64_t edge(const sc_core::sc_time& time) const {
    return (time.value() + period_.value() - 1) / period_.value();
  }
  std::uint64_t now() const { return edge(sc_core::sc_time_stamp()); }
  sc_core::sc_time time_of(std::uint64_t edge_number) const {
    return sc_core::sc_time::from_value(edge_number * period_.value());
  }

 private:
  sc_core::sc_time period_;
};

}  // namespace dvp::npu
