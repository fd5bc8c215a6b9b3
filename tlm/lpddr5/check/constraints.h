// The pairwise constraints of an LPDDR5 channel, derived from a device's timing for the checker alone.
//
// Written from the published definitions, not from the engine's rule files: an error must be made twice, in two forms,
// to go unseen.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "tlm/lpddr5/device/device.h"

namespace dvp::lpddr5 {

// Which earlier commands count: those to the same bank, to its bank group, or to its rank. A command to all banks of a
// rank is one to each.
enum class reach : std::uint8_t { bank, bank_group, rank };

struct constraint {
  std::string_view name;
  reach scope;
  std::vector<command> earlier, later;
  cycles distance;
  // Of precision-tagged reads: clocks more for each column slot after the first, and whether late data pushes it out.
  cycles per_slot = 0;
  bool with_data = false;
};

// Every pairwise distance. tFAW, data bus, WCK and states are the checker's own.
std::vector<constraint> constraints_of(const device& d);

// Whether a command concerns all banks of its rank.
constexpr bool to_all_banks(command c) {
  return c == command::pre_all || c == command::ref_all || c == command::pd_enter || c == command::pd_exit ||
         c == command::sr_enter || c == command::sr_exit;
}

// Whether a command counts for tFAW.
constexpr bool opens_a_row(command c) {
  return c == command::act1 || c == command::ref_bank;
}

}  // namespace dvp::lpddr5
