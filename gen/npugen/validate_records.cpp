#include <algorithm>
#include <map>
#include <set>

#include "gen/npugen/validate.h"

namespace dvp::npugen {
namespace {

const std::map<std::string, std::uint32_t> integer_bytes{{"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8},
                                                         {"i8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8}};
const std::map<std::string, std::uint32_t> float_bytes{{"f32", 4}, {"f64", 8}};
constexpr std::uint32_t maximal_record_bytes = 1U << 20;

struct type_info {
  field_kind kind;
  std::uint32_t bytes;
  std::uint32_t alignment;
};

// The types a field can have: numbers, and the enums and earlier records of the file.
class type_table {
 public:
  type_table() {
    for (const auto& [name, bytes] : integer_bytes) {
      types_[name] = {field_kind::integer, bytes, bytes};
    }
    for (const auto& [name, bytes] : float_bytes) {
      types_[name] = {field_kind::floating, bytes, bytes};
    }
  }

  void add(const enumeration& item) {
    if (item.flags) {
      flags_.insert(item.name);
    } else {
      types_[item.name] = {field_kind::enumeration, item.bits / 8, item.bits / 8};
    }
  }
  void add(const record& item) { types_[item.name] = {field_kind::record, item.bytes, item.alignment}; }

  bool contains(const std::string& name) const { return types_.contains(name) || flags_.contains(name); }

  type_info find(const node& field) const {
    const std::string name = field.text("type");
    if (flags_.contains(name)) {
      field.child("type").fail("'" + name + "' is a set of flags, not a type", "write the plain number type, as u8");
    }
    const auto entry = types_.find(name);
    if (entry == types_.end()) {
      std::vector<std::string> known;
      for (const auto& [type, info] : types_) {
        known.push_back(type);
      }
      field.child("type").fail("there is no type '" + name + "'", choose_from(name, known));
    }
    return entry->second;
  }

 private:
  std::map<std::string, type_info> types_;
  std::set<std::string> flags_;
};

record validate_record(const node& item, const type_table& types) {
  record result;
  result.name = item.text("name");
  result.bytes = static_cast<std::uint32_t>(item.number("bytes", maximal_record_bytes));
  result.doc = item.text("doc");
  name_scope names({"offsetof", "std"});
  std::uint64_t offset = 0;
  for (const node& entry : item.items("fields")) {
    const type_info type = types.find(entry);
    record_field field;
    field.name = names.add(entry);
    if (types.contains(field.name)) {
      entry.child("name").fail("'" + field.name + "' is the name of a type of this file", "choose another name");
    }
    field.kind = type.kind;
    field.type = entry.text("type");
    field.element_bytes = type.bytes;
    field.count = entry.has("count") ? static_cast<std::uint32_t>(entry.number("count", maximal_record_bytes)) : 0;
    field.unit = entry.text("unit");
    field.doc = entry.text("doc");
    if (offset % type.alignment != 0) {
      entry.fail("the field starts at byte " + std::to_string(offset) + " but its type is aligned to " +
                     std::to_string(type.alignment),
                 "reorder the fields or add an unused one before it");
    }
    field.offset = static_cast<std::uint32_t>(offset);
    offset += std::uint64_t{type.bytes} * (field.count == 0 ? 1 : field.count);
    if (offset > maximal_record_bytes) {
      entry.fail("the record grows beyond " + std::to_string(maximal_record_bytes) + " bytes", "reduce count");
    }
    result.alignment = std::max(result.alignment, type.alignment);
    result.fields.push_back(field);
  }
  if (offset != result.bytes) {
    item.child("bytes").fail(
        "the record states " + std::to_string(result.bytes) + " bytes but its fields take " + std::to_string(offset),
        "correct bytes or the fields");
  }
  if (result.bytes % result.alignment != 0) {
    item.child("bytes").fail(std::to_string(result.bytes) + " is not a multiple of the record's alignment, " +
                                 std::to_string(result.alignment),
                             "add an unused field at the end");
  }
  return result;
}

}  // namespace

record_file validate_records(const node& file, name_scope& globals) {
  record_file result;
  result.file = file.source().relative;
  result.name = file.text("name");
  result.doc = file.text("doc");
  result.constants = validate_constants(file, globals);
  type_table types;
  for (const node& item : file.items("enums")) {
    globals.add(item);
    const std::uint32_t bits = integer_bytes.at(item.text("type")) * 8;
    result.enums.push_back(validate_enumeration(item, bits));
    types.add(result.enums.back());
  }
  for (const node& item : file.items("records")) {
    globals.add(item);
    result.records.push_back(validate_record(item, types));
    types.add(result.records.back());
  }
  return result;
}

}  // namespace dvp::npugen
