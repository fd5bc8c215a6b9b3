// Stage 1: JSON text to JSON values, with the file they came from.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dvp::npugen {

struct source_file {
  std::string relative;  // path below the specification directory, e.g. "blocks/npu.json"
  std::string shown;     // path as messages name it
  nlohmann::json root;
};

// Reads one JSON file. Throws spec_error naming file and line where the text is no JSON or an object has a key twice.
nlohmann::json parse_json_file(const std::filesystem::path& path);

// Reads every specification file below `directory`, sorted by path. The folders arrays, blocks, dram, formats and
// system hold *.json files; schemas is left alone. Throws spec_error on an unknown folder, on a file that is neither
// JSON nor Markdown, and where the directory does not exist.
std::vector<source_file> parse_specification(const std::filesystem::path& directory);

}  // namespace dvp::npugen
