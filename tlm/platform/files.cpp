#include "tlm/platform/files.h"

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
    if (file.ends_with(extension) && !file.ends_with(".schema.json")) {
      names.push_back(file.substr(0, file.size() - extension.size()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

fs::path find_shipped(const std::string& name_or_path, const fs::path& folder, std::string_view extension,
                      const char* what) {
  std::error_code ignored;
  if (fs::exists(name_or_path, ignored)) return name_or_path;
  const fs::path shipped = folder / (name_or_path + std::string(extension));
  if (name_or_path.find('/') == std::string::npos && fs::exists(shipped, ignored)) return shipped;
  const auto names = shipped_names(folder, extension);
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
  const std::string close = core::nearest_word(name_or_path, names);
  throw usage_error(name_or_path + ": no such " + what + " file or shipped " + what +
                    (close.empty() ? "; shipped are: " + list : "; did you mean " + close + "?"));
}

}  // namespace

fs::path find_config(const std::string& name_or_path) {
  return find_shipped(name_or_path, data_root() / "tlm/platform/configs", ".json", "configuration");
}

fs::path find_core(const std::string& name_or_path) {
  return find_shipped(name_or_path, data_root() / "tlm/platform/configs/cores", ".json", "core");
}

fs::path find_model(const std::string& name_or_path) {
  return find_shipped(name_or_path, data_root() / "firmware/models", ".gguf", "model");
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
