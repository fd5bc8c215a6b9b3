#include "tlm/lpddr5/config/config_parts.h"

#include <filesystem>

namespace dvp::lpddr5 {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// What DRAMSys trees have called the folder of a kind of part.
std::vector<std::string> folders_of(const std::string& section) {
  if (section == "memspec") return {"memspec", "memspecs"};
  if (section == "addressmapping") return {"addressmapping", "amconfigs"};
  if (section == "mcconfig") return {"mcconfig", "mcconfigs"};
  return {"simconfig", "simulator"};
}

fs::path find_part(const core::json_object& owner, const std::string& section, const std::string& folder) {
  const std::string name = owner.text(section);
  if (name.empty() || name.find('\0') != std::string::npos) owner.fail(section, "names no file; give its path");
  const fs::path base = folder;
  std::vector<fs::path> places = {base / name};
  for (const std::string& kind : folders_of(section)) {
    for (const fs::path& root : {base, base / "..", base / "configs", base / ".." / "configs"}) {
      places.push_back(root / kind / name);
    }
  }
  std::error_code ignored;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, ignored)) return place;
  }
  owner.fail(section, "there is no file " + places.front().lexically_normal().string() +
                          ", nor one of that name in a folder " + folders_of(section).front() +
                          " beside it; paths count from the configuration's own folder");
}

}  // namespace

config_part load_part(const core::json_object& owner, const std::string& section, const std::string& folder) {
  const ordered_json& value = owner.raw(section);
  config_part part;
  if (value.is_object()) {
    part.document[section] = value.contains(section) && value.size() == 1 ? value[section] : value;
    part.file = owner.file();
    part.path = owner.path_of(section);
    return part;
  }
  if (!value.is_string()) owner.fail(section, "is neither an object nor the name of a file; give one of them");
  const std::string path = find_part(owner, section, folder).lexically_normal().string();
  ordered_json document = core::parse_json(core::read_config_text(path), path);
  if (document.is_object() && section == "addressmapping" && document.contains("CONGEN")) {
    document = ordered_json{{section, std::move(document)}};
  }
  if (!document.is_object() || !document.contains(section)) {
    throw core::config_error(path, section, "is missing; the file of a " + section + " has it as its first key");
  }
  part.document[section] = document[section];
  part.file = path;
  part.path = section;
  return part;
}

}  // namespace dvp::lpddr5
