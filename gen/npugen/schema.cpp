#include "gen/npugen/schema.h"

#include <algorithm>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "gen/npugen/names.h"
#include "gen/npugen/node.h"
#include "gen/npugen/spec_error.h"

namespace dvp::npugen {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr std::string_view schema_prefix = "../schemas/";
constexpr std::size_t longest_shown_value = 40;

// Which schema belongs in which folder.
const std::multimap<std::string, std::string> schemas_of_folder{
    {"arrays", "array.schema.json"},       {"blocks", "block.schema.json"},    {"dram", "dram_speed.schema.json"},
    {"dram", "dram_standard.schema.json"}, {"formats", "numbers.schema.json"}, {"formats", "records.schema.json"},
    {"system", "system.schema.json"}};

// A value of the file, the part of the schema that rules it, and its key path.
class place {
 public:
  place(const source_file& file, const json& root_schema)
      : file_(&file), root_(&root_schema), schema_(&root_schema), value_(&file.root) {}

  place member(const std::string& key) const {
    place result = *this;
    result.value_ = &value_->at(key);
    result.key_ = member_path(key_, key);
    result.schema_ = result.resolved(schema_->at("properties").at(key));
    return result;
  }

  place element(std::size_t index) const {
    place result = *this;
    result.value_ = &value_->at(index);
    result.key_ = element_path(key_, *result.value_, index);
    result.schema_ = result.resolved(schema_->at("items"));
    return result;
  }

  const json& value() const { return *value_; }
  const json& schema() const { return *schema_; }

  std::vector<std::string> known_keys() const {
    std::vector<std::string> keys;
    const json properties = schema_->value("properties", json::object());
    for (const auto& [key, rule] : properties.items()) {
      keys.push_back(key);
    }
    return keys;
  }

  std::string description_of(const std::string& key) const {
    return resolved(schema_->at("properties").at(key))->value("description", "see the schema");
  }

  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
    throw spec_error(file_->shown, key_, what, remedy);
  }

 private:
  const json* resolved(const json& rule) const {
    const json* result = &rule;
    while (result->contains("$ref")) {
      result = &root_->at(json::json_pointer(result->at("$ref").get<std::string>().substr(1)));
    }
    return result;
  }

  const source_file* file_;
  const json* root_;
  const json* schema_;
  const json* value_;
  std::string key_;
};

// Refuses keys that no schema property names, anywhere below `here`. valijson finds them too, but cannot say which key
// was meant.
void check_keys(const place& here) {
  if (here.value().is_array() && here.schema().contains("items")) {
    for (std::size_t i = 0; i < here.value().size(); ++i) {
      check_keys(here.element(i));
    }
  } else if (here.value().is_object()) {
    const std::vector<std::string> known = here.known_keys();
    for (const auto& [key, value] : here.value().items()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        here.fail("unknown key '" + key + "'", choose_from(key, known));
      }
      check_keys(here.member(key));
    }
  }
}

std::string shown_value(const json& value) {
  const std::string text = value.dump();
  return text.size() <= longest_shown_value ? text : text.substr(0, longest_shown_value) + "...";
}

// Turns what valijson found at `here` into a sentence.
[[noreturn]] void explain(const place& here, const std::string& finding) {
  const json required = here.schema().value("required", json::array());
  for (const json& key : required) {
    if (here.value().is_object() && !here.value().contains(key)) {
      const std::string name = key.get<std::string>();
      here.fail("the key '" + name + "' is missing", "add it with " + here.description_of(name));
    }
  }
  const bool empty = here.value().is_array() && here.value().empty();
  here.fail(empty ? "the list is empty" : shown_value(here.value()) + " is not valid here",
            "expected " + here.schema().value("description", finding));
}

place find_place(const source_file& file, const json& schema, const std::vector<std::string>& context) {
  place here(file, schema);
  for (std::size_t i = 1; i < context.size(); ++i) {  // context[0] is "<root>", the others "[key]" or "[index]"
    const std::string token = context[i].substr(1, context[i].size() - 2);
    here = here.value().is_array() ? here.element(std::stoul(token)) : here.member(token);
  }
  return here;
}

}  // namespace

schema_set::schema_set(const fs::path& directory) {
  for (const auto& [folder, name] : schemas_of_folder) {
    schemas_[name] = parse_json_file(directory / name);
  }
}

const json& schema_set::schema_of(const source_file& file) const {
  const std::string folder = fs::path(file.relative).parent_path().string();
  const auto [first, last] = schemas_of_folder.equal_range(folder);
  std::vector<std::string> allowed;
  for (auto entry = first; entry != last; ++entry) {
    allowed.push_back(std::string(schema_prefix) + entry->second);
  }
  if (!file.root.is_object()) {
    throw spec_error(file.shown, "", "the file does not hold a JSON object", "start it with {");
  }
  const json named = file.root.value("$schema", json());
  for (const std::string& candidate : allowed) {
    if (named == candidate) {
      return schemas_.at(candidate.substr(schema_prefix.size()));
    }
  }
  const std::string text = named.is_string() ? named.get<std::string>() : std::string();
  throw spec_error(file.shown, "$schema", "no schema of folder '" + folder + "' is named", choose_from(text, allowed));
}

void schema_set::check(const source_file& file) const {
  const json& schema_json = schema_of(file);
  check_keys(place(file, schema_json));

  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), schema);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (!validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(file.root), &results)) {
    valijson::ValidationResults::Error error;  // the first is the innermost
    results.popError(error);
    explain(find_place(file, schema_json, error.context), error.description);
  }
}

}  // namespace dvp::npugen
