// DRAMSys/DRAMUtils "memspec" with the LPDDR5 keys.
#pragma once

#include <string>
#include <vector>

#include "tlm/core/strict_json.h"
#include "tlm/lpddr5/device/device.h"

namespace dvp::lpddr5 {

// Reads the object under the key "memspec". Timings are clocks of CK, tCK seconds; the older "clkMhz" is taken too.
// Keys this model needs beyond DRAMUtils' (AAD, WCKPST, XP, CSPD, SR, XSR) may stand beside them and otherwise come
// from the standard, with a note. config_error for another memory type, a missing or unknown key, or a device that
// makes no sense (device_check.h).
device read_memspec(const core::json_object& memspec, std::vector<std::string>& notes);

}  // namespace dvp::lpddr5
