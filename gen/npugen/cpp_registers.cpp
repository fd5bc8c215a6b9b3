// <block>_regs.h: offsets, resets and fields as constants, for firmware, drivers and tests.
#include "gen/npugen/cpp_parts.h"

namespace dvp::npugen {
namespace {

void word(text_file& out, const std::string& name, const std::string& value) {
  out.line("inline constexpr std::uint32_t ", name, " = ", value, ";");
}

// `array` is the name of the register array the register belongs to, or empty.
void register_constants(text_file& out, const block_register& item, const std::string& array) {
  out.comment(item.doc).line("namespace ", item.name, " {");
  if (!array.empty()) {
    out.comment("Within the element.");
  }
  word(out, "offset", hex(item.offset));
  word(out, "reset", hex(item.reset));
  if (!array.empty()) {
    out.comment("Within the block, for element i.");
    out.line("constexpr std::uint32_t at(std::uint32_t i) {");
    out.line("  return ", array, "::offset + i * ", array, "::stride + offset;").line("}");
  }
  for (const register_field& field : item.fields) {
    out.comment(
        with_unit(field.doc + (field.enum_name.empty() ? "" : " Values: " + field.enum_name + "."), field.unit));
    out.line("inline constexpr bit_field ", field.name, "{", field.lsb, ", ", field.width, "};");
  }
  out.line("}  // namespace ", item.name).line();
}

void array_constants(text_file& out, const register_array& item) {
  out.comment(item.doc).line("namespace ", item.name, " {");
  word(out, "count", std::to_string(item.count));
  word(out, "offset", hex(item.offset));
  word(out, "stride", hex(item.stride));
  out.line();
  for (const block_register& element : item.registers) {
    register_constants(out, element, item.name);
  }
  out.line("}  // namespace ", item.name).line();
}

}  // namespace

rendered_file cpp_bit_field() {
  text_file out = begin_header({"blocks"}, "A field of a 32-bit register.", {"<cstdint>"});
  out.line("namespace dvp::gen {").line();
  out.line("struct bit_field {").indent(2);
  out.line("std::uint32_t lsb, width;  // width is 1 to 32 and lsb + width at most 32").line();
  out.line("constexpr std::uint32_t mask() const { return (0xffff'ffffU >> (32U - width)) << lsb; }");
  out.line("constexpr std::uint32_t get(std::uint32_t word) const { return (word & mask()) >> lsb; }");
  out.comment("`word` with the field replaced; bits of `value` beyond the field are dropped.");
  out.line("constexpr std::uint32_t set(std::uint32_t word, std::uint32_t value) const {");
  out.line("  return (word & ~mask()) | ((value << lsb) & mask());").line("}");
  out.outdent(2).line("};").line();
  out.line("}  // namespace dvp::gen");
  return {"dvp_gen/bit_field.h", out.text()};
}

rendered_file cpp_block_registers(const block& item) {
  text_file out = begin_header({item.file}, item.title + ". " + item.doc, {"<cstdint>", "", "\"dvp_gen/bit_field.h\""});
  out.line("namespace dvp::gen::", item.name, " {").line();
  out.comment("Bytes of address space the block takes.");
  word(out, "window_bytes", std::to_string(item.window_bytes));
  out.line();
  for (const enumeration& values : item.enums) {
    cpp_enumeration(out, values);
  }
  for (const block_register& single : item.registers) {
    register_constants(out, single, "");
  }
  for (const register_array& array : item.arrays) {
    array_constants(out, array);
  }
  out.line("}  // namespace dvp::gen::", item.name);
  return {"dvp_gen/" + item.name + "_regs.h", out.text()};
}

}  // namespace dvp::npugen
