// Parts of a configuration that may be written inline or in a file of their own, and the last check of the whole.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tlm/core/strict_json.h"
#include "tlm/lpddr5/config/memory_config.h"

namespace dvp::lpddr5 {

struct config_part {
  nlohmann::ordered_json document;  // {section: {...}}
  std::string file;                 // where it came from, for messages
  std::string path;                 // of the section in that file
};

// The value of `section`: an object, or the name of a file with {section: {...}} that lies at the first of these places
// that exists: the path itself from `folder`, and the folders older DRAMSys trees keep that kind of part in, beside
// `folder` or in it. config_error naming the places when there is none.
config_part load_part(const core::json_object& owner, const std::string& section, const std::string& folder);

// The whole is consistent, or config_error.
void check_memory(const memory_config& config, const std::string& file);

}  // namespace dvp::lpddr5
