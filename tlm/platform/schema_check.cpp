#include "tlm/platform/schema_check.h"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "tlm/core/nearest_word.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

using nlohmann::json;

std::string joined(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// The validator reports a key it does not know without saying which one was meant, so these are looked for first.
void refuse_unknown_keys(const json& document, const json& schema, const std::string& path, const std::string& file) {
  if (document.is_array() && schema.contains("items") && schema["items"].is_object()) {
    for (std::size_t i = 0; i < document.size(); ++i) {
      refuse_unknown_keys(document[i], schema["items"], joined(path, std::to_string(i)), file);
    }
  }
  if (!document.is_object() || !schema.contains("properties")) return;
  const json& properties = schema["properties"];
  const bool closed = schema.contains("additionalProperties") && schema["additionalProperties"] == false;
  for (const auto& [key, value] : document.items()) {
    if (properties.contains(key)) {
      refuse_unknown_keys(value, properties[key], joined(path, key), file);
    } else if (closed) {
      std::vector<std::string> known;
      for (const auto& property : properties.items()) known.push_back(property.key());
      const std::string close = core::nearest_word(key, known);
      std::string list;
      for (const auto& name : known) list += (list.empty() ? "" : ", ") + name;
      throw usage_error(file + ": " + joined(path, key) + ": unknown key; " +
                        (close.empty() ? "known here: " + list : "did you mean " + joined(path, close) + "?"));
    }
  }
}

std::string path_of(const std::vector<std::string>& context) {
  std::string path;
  for (const auto& part : context) {
    if (part == "<root>") continue;
    path = joined(path, part.size() > 2 && part.front() == '[' ? part.substr(1, part.size() - 2) : part);
  }
  return path;
}

}  // namespace

void check_against_schema(const json& document, const json& schema, const std::string& file,
                          const std::string& schema_file) {
  refuse_unknown_keys(document, schema, "", file);

  valijson::Schema parsed;
  valijson::SchemaParser parser;
  const valijson::adapters::NlohmannJsonAdapter schema_adapter(schema);
  parser.populateSchema(schema_adapter, parsed);
  valijson::Validator validator;
  valijson::ValidationResults results;
  const valijson::adapters::NlohmannJsonAdapter document_adapter(document);
  if (validator.validate(parsed, document_adapter, &results)) return;

  // The innermost fault comes first; what follows only repeats that its parents are not valid.
  valijson::ValidationResults::Error fault;
  results.popError(fault);
  const std::string path = path_of(fault.context);
  throw usage_error(file + ": " + (path.empty() ? "" : path + ": ") + fault.description + " See tlm/platform/configs/" +
                    schema_file + " for what each key takes.");
}

}  // namespace dvp::platform
