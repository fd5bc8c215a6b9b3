#include "gen/npugen/validate.h"

#include <bit>
#include <filesystem>
#include <map>

#include "gen/npugen/spec_error.h"

namespace dvp::npugen {
namespace {

// Names in namespace dvp::gen that headers define whatever the specification says.
const std::vector<std::string> global_names{
    "access",  "arrays",  "array_config",  "bit_field",      "block_info", "field_info", "find_array",
    "name_of", "numbers", "register_info", "register_table", "system",     "std"};

void check_file_name(const node& file) {
  const std::string stem = std::filesystem::path(file.source().relative).stem().string();
  if (file.text("name") != stem) {
    file.child("name").fail("'" + file.text("name") + "' is not the name of the file",
                            "write '" + stem + "' or rename the file");
  }
}

[[noreturn]] void fail_without(const std::vector<source_file>& files, const std::string& what) {
  throw spec_error(files.empty() ? "specification" : files.front().shown, "", "the specification has no " + what,
                   "add it, or name another directory with --spec");
}

}  // namespace

specification validate(const std::vector<source_file>& files) {
  specification spec;
  name_scope globals(global_names);
  std::map<std::string, std::vector<node>> by_schema;
  for (const source_file& file : files) {
    const node root(file);
    check_file_name(root);
    by_schema[std::filesystem::path(root.text("$schema")).filename().string()].push_back(root);
  }
  for (const node& file : by_schema["block.schema.json"]) {
    spec.blocks.push_back(validate_block(file, globals));
  }
  for (const node& file : by_schema["records.schema.json"]) {
    spec.record_files.push_back(validate_records(file, globals));
  }
  name_scope array_names;
  for (const node& file : by_schema["array.schema.json"]) {
    array_names.add(file);
    spec.arrays.push_back(validate_array(file));
  }
  const std::vector<node>& standards = by_schema["dram_standard.schema.json"];
  for (const node& file : standards) {
    spec.dram_standards.push_back(validate_dram_standard(file));
  }
  for (const node& file : by_schema["dram_speed.schema.json"]) {
    spec.dram_speeds.push_back(validate_dram_speed(file, standards));
  }
  const std::vector<node>& numbers = by_schema["numbers.schema.json"];
  const std::vector<node>& systems = by_schema["system.schema.json"];
  if (spec.arrays.empty()) {
    fail_without(files, "array configuration (arrays/*.json)");
  }
  if (spec.dram_standards.empty() || spec.dram_speeds.empty()) {
    fail_without(files, "DRAM standard and speed (dram/*.json)");
  }
  if (numbers.empty()) {
    fail_without(files, "number formats (formats/numbers.json)");
  }
  if (systems.empty()) {
    fail_without(files, "system map (system/*.json)");
  }
  if (systems.size() > 1) {
    systems[1].fail("there is a system map already, " + systems[0].source().shown, "keep one of the two");
  }
  spec.numbers = validate_numbers(numbers[0]);
  spec.system = validate_system(systems[0], spec.blocks);
  return spec;
}

enumeration validate_enumeration(const node& item, std::uint32_t bits) {
  enumeration result{item.text("name"), bits, item.flag("flags"), item.text("doc"), {}};
  name_scope names;
  std::map<std::uint32_t, std::string> owners;
  for (const node& entry : item.items("values")) {
    const std::uint32_t maximum = bits == 32 ? UINT32_MAX : (1U << bits) - 1U;
    enum_value value{names.add(entry), static_cast<std::uint32_t>(entry.number("value", maximum)), entry.text("doc")};
    const auto [owner, inserted] = owners.emplace(value.value, value.name);
    if (!inserted) {
      entry.child("value").fail(std::to_string(value.value) + " is the value of '" + owner->second + "' already",
                                "give each enumerator its own value");
    }
    if (result.flags && !std::has_single_bit(value.value)) {
      entry.child("value").fail(std::to_string(value.value) + " is not a single bit", "use a power of two for a flag");
    }
    result.values.push_back(value);
  }
  return result;
}

std::vector<constant> validate_constants(const node& file, name_scope& scope) {
  std::vector<constant> result;
  for (const node& item : file.items("constants")) {
    result.push_back({scope.add(item), item.word("value"), item.text("doc")});
  }
  return result;
}

}  // namespace dvp::npugen
