#include "tlm/platform/files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tlm/core/nearest_word.h"

namespace dvp::platform {

namespace fs = std::filesystem;

fs::path data_root() {
  if (const char* given = std::getenv("DVP_DATA"); given != nullptr && *given != '\0') return given;
  return DVP_SOURCE_DIR;
}

std::vector<std::string> shipped_names(const fs::path& folder, std::string_view extension) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(extension) && !file.ends_with(".schema.json") && !file.ends_with(".latency.json")) {
      names.push_back(file.substr(0, file.size() - extension.size()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

const char* const configs = "tlm/platform/configs";
const char* const models = "firmware/models";

fs::path shipped(const std::string& name, const fs::path& folder, std::string_view extension, const char* what,
                 const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return folder / (name + std::string(extension));
  std::string list;
  for (const auto& known : names) list += (list.empty() ? "" : ", ") + known;
  const std::string close = core::nearest_word(name, names);
  throw usage_error(name + ": no such " + what + " file or shipped " + what +
                    (close.empty() ? "; shipped are: " + list : "; did you mean " + close + "?"));
}

fs::path find_shipped(const std::string& name_or_path, const fs::path& folder, std::string_view extension,
                      const char* what) {
  std::error_code ignored;
  if (fs::exists(name_or_path, ignored)) return name_or_path;
  return shipped(name_or_path, folder, extension, what, shipped_names(folder, extension));
}

}  // namespace

// Below the configurations' folder there are those of a family, and the cores, which are something else.
std::vector<std::string> shipped_configs() {
  const fs::path folder = data_root() / configs;
  std::vector<std::string> names = shipped_names(folder, ".json");
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string family = entry.path().filename().string();
    if (!entry.is_directory() || family == "cores") continue;
    for (const auto& name : shipped_names(entry.path(), ".json")) names.push_back(family + "/" + name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path find_shipped_config(const std::string& name) {
  return shipped(name, data_root() / configs, ".json", "configuration", shipped_configs());
}

fs::path find_config(const std::string& name_or_path) {
  std::error_code ignored;
  return fs::exists(name_or_path, ignored) ? fs::path(name_or_path) : find_shipped_config(name_or_path);
}

fs::path find_core(const std::string& name_or_path) {
  return find_shipped(name_or_path, data_root() / "tlm/platform/configs/cores", ".json", "core");
}

namespace {

std::vector<std::string> shipped_models() {
  std::vector<std::string> names = shipped_names(data_root() / models, ".gguf");
  std::erase_if(names, [](const std::string& name) { return name.ends_with(".compression"); });
  return names;
}

}  // namespace

fs::path find_model(const std::string& name_or_path) {
  std::error_code ignored;
  if (fs::exists(name_or_path, ignored)) return name_or_path;
  return shipped(name_or_path, data_root() / models, ".gguf", "model", shipped_models());
}

fs::path find_model_or_shape(const std::string& name_or_path) {
  std::error_code ignored;
  if (fs::exists(name_or_path, ignored)) return name_or_path;
  const fs::path shapes = data_root() / models / "shapes";
  const fs::path shape = shapes / (name_or_path + ".json");
  if (fs::is_regular_file(shape, ignored)) return shape;
  std::vector<std::string> names = shipped_models();
  for (const std::string& name : shipped_names(shapes, ".json")) names.push_back(name);
  return shipped(name_or_path, data_root() / models, ".gguf", "model or shape", names);
}

fs::path find_model_or_sidecar(const std::string& name_or_path) {
  return find_shipped(name_or_path, data_root() / models, ".gguf", "model");
}

std::string read_text(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw usage_error(path.string() + ": is a directory; give a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw usage_error(path.string() + ": cannot be read: " + std::strerror(errno));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path)) {
    throw usage_error("--out " + path + ": cannot be made a folder" + (error ? ": " + error.message() : ""));
  }
  if (access(path.c_str(), W_OK) != 0) throw usage_error("--out " + path + ": nothing can be written there");
}

void refuse_unwritable(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw usage_error("--out " + path.string() + ": is a folder; give a file");
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    throw usage_error("--out " + path.string() + ": there is no folder " + folder.string());
  }
  if (access(folder.c_str(), W_OK) != 0) {
    throw usage_error("--out " + path.string() + ": nothing can be written to " + folder.string());
  }
}

void write_text(const fs::path& path, std::string_view text) {
  const fs::path beside = path.string() + ".part";
  {
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    out << text;
    out.flush();
    if (!out) {
      const std::string why = std::strerror(errno);
      out.close();
      std::error_code ignored;
      fs::remove(beside, ignored);
      throw std::runtime_error(path.string() + ": cannot be written: " + why);
    }
  }
  std::error_code error;
  fs::rename(beside, path, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(beside, ignored);
  throw std::runtime_error(path.string() + ": cannot be written: " + error.message());
}

}  // namespace dvp::platform
