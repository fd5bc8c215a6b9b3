// Currents and impedances of a memspec, as energies per command and bit.
#pragma once

#include <string>
#include <vector>

#include "tlm/core/strict_json.h"
#include "tlm/lpddr5/device/device.h"

namespace dvp::lpddr5 {

// Reads "mempowerspec", "memimpedancespec" and "bankwisespec" of a memspec with the formulas of DRAMPower 6.2 for
// LPDDR5 (core: its core_calculation_LPDDR5; I/O: half the bits are ones and a bit changes every other time). SI units.
// Currents are those of one of the `devices` that share the channel. What is missing or all zero is standard_energy(),
// and a note says so. config_error for a key or value that is wrong.
energy_table read_power(const core::json_object& memspec, const device& d, std::uint32_t devices,
                        std::vector<std::string>& notes);

}  // namespace dvp::lpddr5
