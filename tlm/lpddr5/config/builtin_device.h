// Devices out of gen/spec/dram: one speed, with the density, bank mode and burst length asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/lpddr5/device/device.h"
#include "tlm/lpddr5/engine/rules.h"

namespace dvp::lpddr5 {

struct device_choice {
  std::string speed;                          // one of builtin_devices()
  std::uint32_t density_gbit = 8;             // of a x16 die
  std::optional<bank_mode> mode;              // absent: BG above 3200 Mb/s, else 16B
  std::optional<std::uint32_t> burst_length;  // absent: the shortest of the mode
  std::uint32_t width_bits = 16;              // 16 times a power of two: so many x16 dies side by side
  std::uint32_t ranks = 1;
  bool wck_always_on = true;
};

// Names as users write them: "lpddr5-6400".
std::vector<std::string> builtin_devices();

// std::invalid_argument "<key>: what is wrong; what to do", the key being that of memory.schema.json.
device builtin_device(const device_choice& choice);

std::vector<rule_row> builtin_rules();

// What the standard says of one timing that a memspec may leave out, for its clock and its other timings; for names
// under "values" of the standard only.
cycles standard_timing(std::string_view name, const timing& t);

// Default energies, scaled to width, page and capacity.
energy_table standard_energy(const organisation& shape);

}  // namespace dvp::lpddr5
