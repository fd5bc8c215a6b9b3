// The parts of the DRAM's energy: what was counted times the prices of the device.
#pragma once

#include <string>

#include "tlm/platform/explain/terms.h"

namespace dvp::platform {

// activate, refresh, background, core, down or convert of an LPDDR5 memory; core or down of one of model fixed. Down to
// commands, bursts and clocks where the scope has counters and the memory can be read again; else a leaf.
derivation dram_part(const scope& s, const std::string& name);

}  // namespace dvp::platform
