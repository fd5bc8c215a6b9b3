// Simulated time as whole picoseconds, for figures and files.
#pragma once

#include <cstdint>
#include <systemc>

namespace dvp::core {

// Rounded to the nearest picosecond; exact at the kernel's default resolution of 1 ps.
std::uint64_t picoseconds(const sc_core::sc_time& time);

}  // namespace dvp::core
