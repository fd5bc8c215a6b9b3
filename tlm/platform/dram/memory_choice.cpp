#include "tlm/platform/dram/memory_choice.h"

#include <filesystem>

#include "tlm/platform/files.h"
#include "tlm/platform/memory_overrides.h"

namespace dvp::platform {

using nlohmann::ordered_json;

lpddr5::memory_config choose_memory(const std::string& path_or_name, const std::vector<std::string>& overrides) {
  lpddr5::memory_config memory = lpddr5::load_memory_config(path_or_name);
  if (overrides.empty()) return memory;
  ordered_json document = memory.source;
  for (const auto& assignment : overrides) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw usage_error("--set " + assignment + ": expected path=value, such as controller.refresh=none");
    }
    override_memory(document, assignment.substr(0, equals), assigned_value(assignment), "--set " + assignment);
  }
  const std::string folder = std::filesystem::path(path_or_name).parent_path().string();
  return document.contains("simulation") ? lpddr5::read_simulation(document, path_or_name, folder)
                                         : lpddr5::read_memory_config(document, path_or_name, folder);
}

}  // namespace dvp::platform
