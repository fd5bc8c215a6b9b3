#include "tlm/clint/clint.h"

#include <algorithm>
#include <limits>
#include <string>

#include "dvp_gen/clint_bank.h"

namespace dvp::clint {

namespace reg = gen::clint;

namespace {

constexpr std::uint64_t low_half = 0xffff'ffff;

std::uint32_t checked(std::uint32_t harts, const char* name) {
  if (harts < 1 || harts > clint::most_harts) {
    SC_REPORT_FATAL("/dvp/clint", (std::string(name) + ": " + std::to_string(harts) +
                                   " harts, the registers serve 1 to " + std::to_string(clint::most_harts))
                                      .c_str());
  }
  return harts;
}

std::uint64_t ticks_per_ns() {
  static const std::uint64_t ticks = sc_core::sc_time(1, sc_core::SC_NS).value();
  return ticks;
}

std::uint64_t now_ns() {
  return sc_core::sc_time_stamp().value() / ticks_per_ns();
}

std::uint64_t with_low(std::uint64_t value, std::uint32_t low) {
  return (value & ~low_half) | low;
}
std::uint64_t with_high(std::uint64_t value, std::uint32_t high) {
  return (value & low_half) | std::uint64_t{high} << 32;
}

}  // namespace

clint::clint(const sc_core::sc_module_name& name, std::uint32_t harts)
    : register_target(name, reg::bank), timer("timer", checked(harts, this->name())), software("software", harts) {
  attach_registers();
  SC_HAS_PROCESS(clint);
  SC_METHOD(drive_lines);
  sensitive << changed_ << due_;
}

void clint::attach_registers() {
  registers_.on_read(reg::mtime_lo::offset, [this] { return static_cast<std::uint32_t>(mtime()); });
  registers_.on_read(reg::mtime_hi::offset, [this] { return static_cast<std::uint32_t>(mtime() >> 32); });
  registers_.on_write(reg::mtime_lo::offset, [this](std::uint32_t value) { set_mtime(with_low(mtime(), value)); });
  registers_.on_write(reg::mtime_hi::offset, [this](std::uint32_t value) { set_mtime(with_high(mtime(), value)); });
  const auto change = [this](std::uint32_t) { changed_.notify(sc_core::SC_ZERO_TIME); };
  for (std::uint32_t hart = 0; hart < most_harts; ++hart) {
    registers_.on_write(reg::mtimecmp::lo::at(hart), change);
    registers_.on_write(reg::mtimecmp::hi::at(hart), change);
    registers_.on_write(reg::msip::state::at(hart), change);
  }
}

std::uint64_t clint::mtime() const {
  return now_ns() + offset_;
}

void clint::set_mtime(std::uint64_t value) {
  offset_ = value - now_ns();
  changed_.notify(sc_core::SC_ZERO_TIME);
}

std::uint64_t clint::mtimecmp(std::uint32_t hart) const {
  return std::uint64_t{registers_.get(reg::mtimecmp::hi::at(hart))} << 32 | registers_.get(reg::mtimecmp::lo::at(hart));
}

sc_core::sc_time clint::next_rise(std::uint32_t hart) const {
  const std::uint64_t time = mtime();
  const std::uint64_t compare = mtimecmp(hart);
  if (time >= compare) return timer[hart].read() ? sc_core::sc_max_time() : sc_core::sc_time_stamp();
  const std::uint64_t whole_ns = now_ns();
  const std::uint64_t most_ns = std::numeric_limits<std::uint64_t>::max() / ticks_per_ns();
  if (compare - time > most_ns - whole_ns) return sc_core::sc_max_time();
  return sc_core::sc_time::from_value((whole_ns + (compare - time)) * ticks_per_ns());
}

void clint::drive_lines() {
  constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t time = mtime();
  // Nanoseconds until some line changes: the next timer, or mtime wrapping to 0.
  std::uint64_t next = time == 0 ? never : 0 - time;
  for (std::uint32_t hart = 0; hart < timer.size(); ++hart) {
    const std::uint64_t compare = mtimecmp(hart);
    timer[hart].write(time >= compare);
    if (time < compare) next = std::min(next, compare - time);
    software[hart].write(reg::msip::state::pending.get(registers_.get(reg::msip::state::at(hart))) != 0);
  }
  due_.cancel();  // a time that no longer counts would only wake the model for nothing
  const std::uint64_t whole_ns = now_ns();
  if (next <= never / ticks_per_ns() - whole_ns) {
    const std::uint64_t due = (whole_ns + next) * ticks_per_ns();
    due_.notify(sc_core::sc_time::from_value(due) - sc_core::sc_time_stamp());
  }
}

}  // namespace dvp::clint
