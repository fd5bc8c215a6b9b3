// <records>.h: in-memory records as plain structs whose layout is asserted.
#include "gen/npugen/cpp_parts.h"

namespace dvp::npugen {
namespace {

std::string member_type(const record_field& field) {
  switch (field.kind) {
    case field_kind::integer:
      return (field.type[0] == 'i' ? "std::int" : "std::uint") + field.type.substr(1) + "_t";
    case field_kind::floating:
      return field.type == "f64" ? "double" : "float";
    case field_kind::enumeration:
    case field_kind::record:
      return field.type;
  }
  return {};
}

std::string initial_value(const record_field& field) {
  if (field.count != 0 || field.kind == field_kind::enumeration || field.kind == field_kind::record) {
    return "{}";
  }
  return field.kind == field_kind::floating ? " = 0.0F" : " = 0";
}

void record_struct(text_file& out, const record& item) {
  out.comment(item.doc).line("struct ", item.name, " {").indent(2);
  for (const record_field& field : item.fields) {
    const std::string extent = field.count == 0 ? "" : "[" + std::to_string(field.count) + "]";
    out.comment(with_unit(field.doc, field.unit));
    out.line(member_type(field), " ", field.name, extent, initial_value(field), ";");
  }
  out.outdent(2).line("};");
  out.line("static_assert(sizeof(", item.name, ") == ", item.bytes, ");");
  for (const record_field& field : item.fields) {
    out.line("static_assert(offsetof(", item.name, ", ", field.name, ") == ", field.offset, ");");
  }
  out.line();
}

}  // namespace

rendered_file cpp_records(const record_file& file) {
  text_file out = begin_header({file.file}, file.doc, {"<cstddef>", "<cstdint>"});
  out.line("namespace dvp::gen {").line();
  for (const constant& item : file.constants) {
    cpp_constant(out, item);
  }
  out.line();
  for (const enumeration& item : file.enums) {
    cpp_enumeration(out, item);
  }
  for (const record& item : file.records) {
    record_struct(out, item);
  }
  out.line("}  // namespace dvp::gen");
  return {"dvp_gen/" + file.name + ".h", out.text()};
}

}  // namespace dvp::npugen
