// The schema half of stage 2: shape, types and known keys.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "gen/npugen/parse.h"

namespace dvp::npugen {

// The JSON Schemas (draft 7) of a specification. The "description" of a schema says what belongs in its place and is
// the remedy in error messages.
class schema_set {
 public:
  // Reads *.schema.json below `directory`. Throws spec_error where one is no JSON or there is none.
  explicit schema_set(const std::filesystem::path& directory);

  // Checks a file against the schema that its key "$schema" names, which must be one meant for its folder. Throws
  // spec_error naming the key; an unknown key is answered with the nearest known one.
  void check(const source_file& file) const;

 private:
  const nlohmann::json& schema_of(const source_file& file) const;

  std::map<std::string, nlohmann::json> schemas_;  // by file name
};

}  // namespace dvp::npugen
