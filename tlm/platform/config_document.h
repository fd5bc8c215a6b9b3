// The document of a configuration: a file that holds all of it, or one that derives from another.
//
//   {"base": "phone", "name": "phone-wide", "description": "...", "set": {"npu.vector.lanes": 64}}
//
// is `phone` with a name and a description of its own and the values of "set" on top, in order, then the reasons of
// "why", where it has such. The base is a file beside the deriving one, with or without ".json", or a shipped
// configuration; it may derive from a third.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace dvp::platform {

struct config_document {
  nlohmann::ordered_json document;             // complete, nothing derived any more; not checked against the schema
  std::vector<std::filesystem::path> folders;  // of the file itself, then of its bases
  std::filesystem::path memory_folder;         // of the one that says last what the memory is
};

// Throws usage_error naming file and key: not JSON, a key that a derived configuration does not have, a base that is
// not there, a value for a key that the base does not have, or files that derive from each other in a circle, which are
// all named.
config_document read_config_document(const std::filesystem::path& path);

}  // namespace dvp::platform
