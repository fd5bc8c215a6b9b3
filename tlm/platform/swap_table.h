// The firmware's swap plan as a table for people: which buffer is where in the NPU's address window, for which
// operator.
#pragma once

#include <span>
#include <string>

#include "dvp_gen/request.h"
#include "tlm/npu/npu_config.h"
#include "tlm/platform/dram_layout.h"
#include "tlm/platform/loaded_model.h"

namespace dvp::platform {

// entries: as the firmware left them, with room for dropped_entries more that had none. Buffers are named by what lies
// at their bus addresses.
std::string swap_table(std::span<const gen::swap_plan_entry> entries, std::size_t dropped_entries,
                       const dram_layout& layout, const loaded_model& model, const npu::window_config& window,
                       const char* policy);

}  // namespace dvp::platform
