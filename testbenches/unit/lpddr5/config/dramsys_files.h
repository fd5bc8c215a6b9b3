// Configurations as text: a DRAMSys-style set of files for LPDDR5-6400, and our own form.
#pragma once

#include <string>
#include <vector>

namespace dvp::testbenches {

std::string memspec_text();         // {"memspec": {...}}, x16, 8 Gb, BG mode, with currents and impedances
std::string addressmapping_text();  // row - bank - column - bank group
std::string mcconfig_text();
std::string simconfig_text();
// {"simulation": ...} that names memspec/m.json, addressmapping/a.json, mcconfig/c.json, simconfig/s.json.
std::string simulation_text();

// Our own form with every key that goes together.
std::string every_key_text();

// Good configurations of every form, each in one text without other files.
std::vector<std::string> memory_config_seeds();

// `text` with the first `from` replaced; ends the test program when there is none.
std::string with(const std::string& text, const std::string& from, const std::string& to);

}  // namespace dvp::testbenches
