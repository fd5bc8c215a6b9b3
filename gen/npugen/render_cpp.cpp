#include "gen/npugen/cpp_parts.h"

namespace dvp::npugen {

text_file begin_header(const std::vector<std::string>& sources, const std::string& text,
                       const std::vector<std::string>& includes) {
  text_file out;
  banner(out, sources);
  out.line("//").comment(text);
  out.line("#pragma once").line();
  for (const std::string& include : includes) {
    out.line(include.empty() ? "" : "#include " + include);
  }
  return out.line();
}

void cpp_enumeration(text_file& out, const enumeration& item) {
  const std::string type = cpp_unsigned(item.bits);
  out.comment(item.doc);
  out.line(item.flags ? "namespace " + item.name : "enum class " + item.name + " : " + type, " {");
  for (const enum_value& value : item.values) {
    if (item.flags) {
      out.comment(value.doc).line("inline constexpr ", type, " ", value.name, " = ", hex(value.value), ";");
    } else {
      out.indent(2).comment(value.doc).line(value.name, " = ", value.value, ",").outdent(2);
    }
  }
  if (item.flags) {
    out.line("}  // namespace ", item.name).line();
    return;
  }
  out.line("};").line();
  out.comment("The enumerator's own name; \"unknown\" for any other value.");
  out.line("constexpr const char* name_of(", item.name, " value) {").indent(2).line("switch (value) {").indent(2);
  for (const enum_value& value : item.values) {
    out.line("case ", item.name, "::", value.name, ":").line("  return ", quoted(value.name), ";");
  }
  out.outdent(2).line("}").line("return \"unknown\";").outdent(2).line("}").line();
}

void cpp_constant(text_file& out, const constant& item) {
  out.comment(item.doc).line("inline constexpr std::uint32_t ", item.name, " = ", item.value, "U;");
}

std::string cpp_unsigned(std::uint32_t bits) {
  return "std::uint" + std::to_string(bits) + "_t";
}

std::string cpp_access(access_mode mode) {
  switch (mode) {
    case access_mode::ro:
      return "access::ro";
    case access_mode::rw:
      return "access::rw";
    case access_mode::wo:
      return "access::wo";
    case access_mode::w1c:
      return "access::w1c";
    case access_mode::w1s:
      return "access::w1s";
  }
  return {};
}

std::vector<rendered_file> render_cpp(const specification& spec) {
  std::vector<rendered_file> files{cpp_bit_field(),         cpp_register_table(),    cpp_numbers(spec.numbers),
                                   cpp_system(spec.system), cpp_arrays(spec.arrays), cpp_dram(spec)};
  for (const block& item : spec.blocks) {
    files.push_back(cpp_block_registers(item));
    files.push_back(cpp_block_bank(item));
  }
  for (const record_file& file : spec.record_files) {
    files.push_back(cpp_records(file));
  }
  return files;
}

}  // namespace dvp::npugen
