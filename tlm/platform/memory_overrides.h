// --set on the description of a memory.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dvp::platform {

// What follows "path=" of an assignment: JSON where it parses as JSON, else a string.
nlohmann::ordered_json assigned_value(const std::string& assignment);

// Sets `path` of the document of a memory, our own or a DRAMSys simulation (with or without "simulation." before the
// path). Keys that are missing are made: such a document names only what differs from the defaults, and reading it
// refuses keys that nobody knows. `said`: where the user said so, for messages: "--set path=value"; usage_error.
void override_memory(nlohmann::ordered_json& document, const std::string& path, const nlohmann::ordered_json& value,
                     const std::string& said);

}  // namespace dvp::platform
