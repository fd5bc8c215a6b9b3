#include "tlm/platform/config_document.h"

#include <algorithm>
#include <string>

#include "tlm/core/strict_json.h"
#include "tlm/platform/config_overrides.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

fs::path find_base(const fs::path& derived, const std::string& base, const core::json_object& keys) {
  std::error_code ignored;
  for (const std::string& ending : {std::string(), std::string(".json")}) {
    const fs::path beside = derived.parent_path() / (base + ending);
    if (fs::is_regular_file(beside, ignored)) return beside;
  }
  try {
    return find_shipped_config(base);
  } catch (const usage_error& error) {
    keys.fail("base", error.what());
  }
}

// `chain`: the files that led here, the outermost first.
config_document read(const fs::path& path, std::vector<fs::path> chain) {
  const fs::path identity = fs::canonical(path);
  const bool seen = std::find(chain.begin(), chain.end(), identity) != chain.end();
  chain.push_back(identity);
  if (seen) {
    std::string circle;
    for (const auto& file : chain) circle += (circle.empty() ? "" : " -> ") + file.filename().string();
    throw usage_error(path.filename().string() + ": base: leads back to itself: " + circle +
                      "; one of them has to be complete");
  }
  const std::string file = path.filename().string();
  ordered_json document = core::parse_json(read_text(path), file);
  if (!document.is_object() || !document.contains("base")) {
    return {std::move(document), {path.parent_path()}, path.parent_path()};
  }

  const core::json_object keys(document, file);
  const std::string base = keys.text("base");
  const std::string name = keys.text("name");
  const std::string description = keys.text("description");
  const bool sets = keys.has("set");
  if (sets) static_cast<void>(keys.object("set"));
  const bool explains = keys.has("why");
  if (explains) static_cast<void>(keys.object("why"));
  keys.finish();

  config_document result = read(find_base(path, base, keys), std::move(chain));
  result.document["name"] = name;
  result.document["description"] = description;
  if (sets) {
    for (const auto& item : document["set"].items()) {
      apply_override(result.document, {item.key(), item.value(), file + ": set." + item.key(), file});
      if (item.key().starts_with("memory")) result.memory_folder = path.parent_path();
    }
  }
  if (explains) {
    for (const auto& reason : document["why"].items()) result.document["why"][reason.key()] = reason.value();
  }
  result.folders.insert(result.folders.begin(), path.parent_path());
  return result;
}

}  // namespace

config_document read_config_document(const fs::path& path) {
  try {
    return read(path, {});
  } catch (const core::config_error& error) {
    throw usage_error(error.what());
  }
}

}  // namespace dvp::platform
