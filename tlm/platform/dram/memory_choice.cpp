#include "tlm/platform/dram/memory_choice.h"

#include <algorithm>
#include <filesystem>

#include "tlm/platform/files.h"

namespace dvp::platform {

using nlohmann::ordered_json;

namespace {

// Keys that are missing are made: a memory's document names only what differs from the defaults. Reading it refuses
// those that nobody knows.
void apply(ordered_json& document, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw usage_error("--set " + assignment + ": expected path=value, such as controller.refresh=none");
  }
  const std::string text = assignment.substr(equals + 1);
  ordered_json value = ordered_json::parse(text, nullptr, false);
  if (value.is_discarded()) value = text;
  ordered_json* place = &document;
  for (std::size_t begin = 0; begin <= equals;) {
    const std::size_t end = std::min(assignment.find('.', begin), equals);
    if (place->is_null()) *place = ordered_json::object();
    if (!place->is_object()) {
      throw usage_error("--set " + assignment + ": " + assignment.substr(0, begin == 0 ? 0 : begin - 1) +
                        " holds no keys");
    }
    place = &(*place)[assignment.substr(begin, end - begin)];
    begin = end + 1;
  }
  *place = value;
}

}  // namespace

lpddr5::memory_config choose_memory(const std::string& path_or_name, const std::vector<std::string>& overrides) {
  lpddr5::memory_config memory = lpddr5::load_memory_config(path_or_name);
  if (overrides.empty()) return memory;
  ordered_json document = memory.source;
  const bool is_simulation = document.contains("simulation");
  for (const auto& assignment : overrides) apply(is_simulation ? document["simulation"] : document, assignment);
  const std::string folder = std::filesystem::path(path_or_name).parent_path().string();
  return is_simulation ? lpddr5::read_simulation(document, path_or_name, folder)
                       : lpddr5::read_memory_config(document, path_or_name, folder);
}

}  // namespace dvp::platform
