#include "tlm/cpu/rv64/cost_model.h"

namespace dvp::cpu::rv64 {

namespace {

constexpr const char* names[work_kinds] = {"alu",        "multiply", "divide",    "load",           "store",
                                           "branch",     "jump",     "float_add", "float_multiply", "float_divide",
                                           "float_move", "atomic",   "csr",       "fence"};

}  // namespace

const char* name_of(work kind) {
  return names[static_cast<std::size_t>(kind)];
}

std::uint32_t cost_model::units(work kind) const {
  const std::uint32_t stall = kind == work::load || kind == work::atomic ? load_stall
                              : kind == work::store                      ? store_stall
                                                                         : 0;
  return price[static_cast<std::size_t>(kind)] + stall;
}

std::string cost_model::fault() const {
  const auto outside = [](const std::string& key, std::uint32_t value, std::uint32_t least) {
    return value >= least && value <= most_units
               ? std::string()
               : key + " is " + std::to_string(value) + " units, it must be " + std::to_string(least) + " to " +
                     std::to_string(most_units) + " (256 are one cycle)";
  };
  for (std::size_t i = 0; i < work_kinds; ++i) {
    if (std::string bad = outside(names[i], price[i], 1); !bad.empty()) return bad;
  }
  if (std::string bad = outside("load_stall", load_stall, 0); !bad.empty()) return bad;
  if (std::string bad = outside("store_stall", store_stall, 0); !bad.empty()) return bad;
  if (std::string bad = outside("trap_entry", trap_entry, 1); !bad.empty()) return bad;
  return outside("wake", wake, 1);
}

}  // namespace dvp::cpu::rv64
