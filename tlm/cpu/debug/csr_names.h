// Names of control and status registers. Source: RISC-V Privileged Architecture 1.12, tables 2.2 to 2.6.
#pragma once

#include <cstdint>
#include <string>

namespace dvp::cpu::debug {

inline constexpr std::uint32_t csr_numbers = 4096;

// "mstatus", "pmpaddr7"; "csr123" for a number without a name in the standard.
std::string csr_name(std::uint32_t number);

}  // namespace dvp::cpu::debug
