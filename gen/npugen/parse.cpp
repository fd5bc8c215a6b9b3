#include "gen/npugen/parse.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "gen/npugen/spec_error.h"

namespace dvp::npugen {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr std::array<std::string_view, 5> specification_folders{"arrays", "blocks", "dram", "formats", "system"};
constexpr std::string_view schema_folder = "schemas";

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw spec_error(path.string(), "", "the file cannot be read", "check its path and permissions");
  }
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::size_t line_of(const std::string& text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

// nlohmann/json keeps the last of two equal keys without a word; this callback refuses the second.
class duplicate_key_check {
 public:
  explicit duplicate_key_check(std::string file) : file_(std::move(file)) {}

  bool operator()(int /*depth*/, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) {
      keys_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys_.pop_back();
    } else if (event == json::parse_event_t::key && !keys_.back().insert(value.get<std::string>()).second) {
      throw spec_error(file_, value.get<std::string>(), "the key appears twice in one object", "remove one of them");
    }
    return true;
  }

 private:
  std::string file_;
  std::vector<std::set<std::string>> keys_;
};

void check_folder(const fs::path& directory, const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (name != schema_folder &&
      std::find(specification_folders.begin(), specification_folders.end(), name) == specification_folders.end()) {
    throw spec_error(directory.string(), "", "folder '" + name + "' is not part of a specification",
                     "the folders are arrays, blocks, dram, formats, system and schemas");
  }
}

}  // namespace

json parse_json_file(const fs::path& path) {
  const std::string text = read_text(path);
  try {
    return json::parse(text, duplicate_key_check(path.string()));
  } catch (const json::parse_error& error) {
    const std::string line = std::to_string(line_of(text, error.byte == 0 ? 0 : error.byte - 1));
    throw spec_error(path.string() + ":" + line, "", "this is not JSON (" + std::string(error.what()) + ")",
                     "mend the syntax at line " + line);
  }
}

std::vector<source_file> parse_specification(const fs::path& directory) {
  if (!fs::is_directory(directory)) {
    throw spec_error(directory.string(), "", "there is no such directory", "name the specification with --spec");
  }
  std::vector<fs::path> paths;
  for (const auto& folder : fs::directory_iterator(directory)) {
    if (!folder.is_directory()) {
      continue;
    }
    check_folder(directory, folder.path());
    if (folder.path().filename() == schema_folder) {
      continue;
    }
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".md") {
        continue;
      }
      if (extension != ".json" || !entry.is_regular_file()) {
        throw spec_error(entry.path().string(), "", "this is not a specification file", "move it or name it *.json");
      }
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<source_file> files;
  for (const fs::path& path : paths) {
    files.push_back({fs::relative(path, directory).generic_string(), path.string(), parse_json_file(path)});
  }
  return files;
}

}  // namespace dvp::npugen
