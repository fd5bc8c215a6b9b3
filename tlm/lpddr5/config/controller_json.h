// Controller policies out of JSON.
#pragma once

#include <string>
#include <vector>

#include "tlm/core/strict_json.h"
#include "tlm/lpddr5/device/device.h"
#include "tlm/lpddr5/engine/controller_config.h"

namespace dvp::lpddr5 {

// Ours: the fields of controller_config by name, and those of tagged_read_config.
void read_controller(const core::json_object& json, controller_config& config);
void read_tagged(const core::json_object& json, tagged_read_config& config);

// DRAMSys's "mcconfig" object with DRAMSys's defaults. A policy this model does not have is a config_error that names
// it; what makes no difference here is told in `notes`. Pairs of banks in `d` follow the refresh policy.
controller_config read_mcconfig(const core::json_object& json, device& d, std::vector<std::string>& notes);

// config_error when fields contradict each other or the device.
void check_controller(const controller_config& config, const device& d, const std::string& file);

}  // namespace dvp::lpddr5
