// The designs under test. Which Verilated code stands behind them is settled at link time: as simulated everywhere
// (designs.cpp.in), with coverage counters, or a netlist with mutants (mutant_designs.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "testbenches/regress/converter_design.h"
#include "tlm/cosim/verilated_array.h"

namespace dvp::regress {

// "array/<configuration>" of every one that is built, then "converter" if that is.
std::vector<std::string> design_names();

// Reset and idle, undefined state filled from the seed. Throw std::invalid_argument if it is not built.
std::unique_ptr<cosim::verilated_array> make_array(std::string_view config, std::uint32_t seed);
std::unique_ptr<converter_design> make_converter(std::uint32_t seed);

// For what a variant of the designs needs to be told (the mutant to switch on, where coverage goes).
void set_variant(const std::string& text);

}  // namespace dvp::regress
