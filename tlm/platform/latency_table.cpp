#include "tlm/platform/latency_table.h"

#include "tlm/core/strict_json.h"
#include "tlm/platform/files.h"
#include "tlm/platform/schema_check.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

fs::path find_file(const std::string& name, const std::vector<fs::path>& folders) {
  std::error_code ignored;
  for (const auto& folder : folders) {
    if (fs::is_regular_file(folder / name, ignored)) return folder / name;
  }
  throw usage_error("decode.mbsd.latency: " + name +
                    ": there is no such file beside the configuration; dllm-vp profile makes one");
}

// The first key where two documents differ, as "path: a and b"; empty when they agree.
std::string first_difference(const ordered_json& a, const ordered_json& b, const std::string& path) {
  if (a == b) return {};
  if (!a.is_object() || !b.is_object()) return path + " " + a.dump() + ", and here it is " + b.dump();
  const auto at = [](const ordered_json& place, const std::string& key) {
    return place.contains(key) ? place[key] : ordered_json();
  };
  for (const auto* keys : {&a, &b}) {
    for (const auto& item : keys->items()) {
      const std::string inner = path.empty() ? item.key() : path + "." + item.key();
      const std::string found = first_difference(at(a, item.key()), at(b, item.key()), inner);
      if (!found.empty()) return found;
    }
  }
  return {};
}

void require_same(const std::string& file, const ordered_json& measured, const ordered_json& here, const char* what) {
  const std::string difference = first_difference(measured, here, "");
  if (difference.empty()) return;
  throw usage_error(file + ": was measured on another " + what + ", with " + difference +
                    "; run dllm-vp profile for this one");
}

std::vector<gen::latency_entry> stairs_from(const ordered_json& list, const std::string& where) {
  std::vector<gen::latency_entry> entries;
  for (const auto& pair : list) entries.push_back({pair[0].get<std::uint32_t>(), pair[1].get<std::uint32_t>()});
  require_rising(entries, where);
  return entries;
}

}  // namespace

ordered_json timed_platform(const ordered_json& config) {
  ordered_json json;
  for (const char* key : {"npu", "memory", "cpu", "bus"}) json[key] = config[key];
  for (const char* key : {"row_tile", "engine", "swap"}) json["decode"][key] = config["decode"][key];
  return json;
}

ordered_json timed_shape(const loaded_model& model) {
  const gen::image_header& h = model.header();
  return {{"architecture", gen::name_of(h.arch)},
          {"image_flags", h.flags},
          {"vocabulary", h.vocabulary},
          {"width", h.width},
          {"layers", h.layers},
          {"heads", h.heads},
          {"kv_heads", h.kv_heads},
          {"head_length", h.head_length},
          {"ffn_width", h.ffn_width},
          {"block_length", h.block_length},
          {"weight_bytes", model.weight_bytes()}};
}

std::optional<fs::path> find_latency_file(const platform_config& config) {
  const std::string& name = config.decode.latency_file;
  if (name.empty() || config.decode.draft_trigger == 0) return std::nullopt;
  return find_file(name, config.folders);
}

void read_latency_file(platform_config& config, const loaded_model& model) {
  const std::optional<fs::path> path = find_latency_file(config);
  if (!path) return;
  const std::string file = path->filename().string();
  ordered_json document;
  try {
    document = core::parse_json(read_text(*path), file);
    const fs::path schema = data_root() / "tlm/platform/configs/latency.schema.json";
    check_against_schema(document, core::parse_json(read_text(schema), "latency.schema.json"), file,
                         "latency.schema.json");
  } catch (const core::config_error& error) {
    throw usage_error(error.what());
  }
  require_same(file, document["platform"], timed_platform(config.source), "platform");
  ordered_json shape = timed_shape(model);
  if (model.is_slice()) {
    // Layers are alike: with fewer of them every forward takes less, and stairs are where they were.
    for (const char* key : {"layers", "weight_bytes"}) shape[key] = document["shape"][key];
  }
  require_same(file, document["shape"], shape, "model");
  config.decode.latencies.clear();
  for (const auto& table : document["tables"]) {
    config.decode.latencies.push_back({table["keys"], stairs_from(table["stairs"], file + ": tables.stairs")});
  }
}

fs::path latency_file_of(const fs::path& config) {
  return config.parent_path() / (config.stem().string() + ".latency.json");
}

}  // namespace dvp::platform
