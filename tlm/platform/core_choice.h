// What the instructions of the RV64 seat cost: a shipped core by name, a file, or the description itself.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tlm/cpu/rv64/cost_model.h"

namespace dvp::platform {

// The description that cpu.rv64.core names: itself when it is an object, else the shipped core or the file of that
// name. usage_error when there is none.
nlohmann::ordered_json described_core(const nlohmann::ordered_json& core);

// A description that fits the schema as prices. usage_error "<file>: cpu.rv64.core.cycles.<key>: ..." for a kind that
// is missing or that nobody knows.
cpu::rv64::cost_model cost_model_from(const nlohmann::ordered_json& core, const std::string& file);

}  // namespace dvp::platform
