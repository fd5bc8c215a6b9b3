// Clock edges of CK as values of sc_time, whatever the kernel's time resolution.
//
// Edge n is at n tCK, rounded to the nearest multiple of the resolution. The resolution must be finer than tCK.
#pragma once

#include <cmath>
#include <cstdint>
#include <systemc>

#include "tlm/lpddr5/device/command.h"

namespace dvp::lpddr5 {

class ck_clock {
 public:
  using value = std::uint64_t;  // of sc_time

  // Elaboration time or later: the resolution is final once a time was made.
  explicit ck_clock(std::uint64_t tCK_fs)
      : tCK_fs_(tCK_fs),
        unit_fs_(static_cast<std::uint64_t>(std::llround(sc_core::sc_get_time_resolution().to_seconds() * 1e15))) {}

  value at(cycles n) const {
    const auto fs = static_cast<wide>(static_cast<std::uint64_t>(n)) * tCK_fs_ + unit_fs_ / 2;
    return fits(fs) ? static_cast<std::uint64_t>(fs) / unit_fs_ : static_cast<value>(fs / unit_fs_);
  }
  sc_core::sc_time time(cycles n) const { return sc_core::sc_time::from_value(at(n)); }

  // The last edge at or before a time, and the first at or after it.
  cycles down(value t) const {
    const auto fs = static_cast<wide>(t) * unit_fs_;
    auto n = static_cast<cycles>(fits(fs) ? static_cast<std::uint64_t>(fs) / tCK_fs_
                                          : static_cast<std::uint64_t>(fs / tCK_fs_));
    if (at(n + 1) <= t) ++n;  // rounded down to here
    return at(n) <= t ? n : n - 1;
  }
  cycles up(value t) const {
    const cycles n = down(t);
    return at(n) == t ? n : n + 1;
  }

 private:
  __extension__ using wide = unsigned __int128;
  static bool fits(wide fs) { return fs >> 64 == 0; }  // 64-bit division is several times faster

  std::uint64_t tCK_fs_;
  std::uint64_t unit_fs_;
};

}  // namespace dvp::lpddr5
