// Runs the simulation to its end and says how the CPU's part of it went.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tlm/core/symbols.h"
#include "tlm/platform/platform.h"

namespace dvp::platform {

enum class simulation_end : std::uint8_t {
  stopped,       // somebody called sc_stop
  time_limit,    // limit_us has passed
  interrupted,   // by a signal, see interruption.h
  nothing_left,  // no event will ever come
};

// Elaborates, runs until one of these ends it, and lets every model end (end_of_simulation).
simulation_end simulate(std::optional<std::uint64_t> limit_us);

// One sentence on why the CPU ended or stands still: its fault, the finisher, the time limit, or that every hart sleeps
// for ever, with the place in the program where that is known. limit_us is what simulate was given. Empty after a pass
// of the finisher, or when something else stopped the simulation.
std::string cpu_trouble(platform& chip, simulation_end how, const core::symbol_table& symbols,
                        std::optional<std::uint64_t> limit_us = std::nullopt);

// "; hart 0: store access fault at pc main+0x12 (0x80001234), value 0x18000000" for the first hart that handles a trap;
// empty when none does.
std::string trap_in_hand(platform& chip, const core::symbol_table& symbols);

}  // namespace dvp::platform
