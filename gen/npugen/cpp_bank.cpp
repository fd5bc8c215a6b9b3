// register_table.h and <block>_bank.h: the registers as a table, for register banks that interpret it.
#include "gen/npugen/cpp_parts.h"

namespace dvp::npugen {
namespace {

std::string boolean(bool value) {
  return value ? "true" : "false";
}

void field_table(text_file& out, const std::string& table, const block_register& item) {
  out.line("inline constexpr field_info ", table, "[] = {").indent(4);
  for (const register_field& field : item.fields) {
    out.line("{", quoted(field.name), ", ", field.lsb, ", ", field.width, ", ", cpp_access(field.access), ", ",
             quoted(with_unit(field.doc, field.unit)), "},");
  }
  out.outdent(4).line("};");
}

void register_row(text_file& out, const std::string& name, std::uint32_t offset, const block_register& item,
                  const std::string& table) {
  const std::uint32_t write = item.mask_of(access_mode::rw) | item.mask_of(access_mode::wo);
  const std::uint32_t w1c = item.mask_of(access_mode::w1c);
  const std::uint32_t w1s = item.mask_of(access_mode::w1s);
  const std::uint32_t read = item.mask_of(access_mode::ro) | item.mask_of(access_mode::rw) | w1c | w1s;
  out.line("{", quoted(name), ", ", hex(offset), ", ", hex(item.reset), ", ", cpp_access(item.access), ", ",
           boolean(item.hardware), ", ", hex(write), ", ", hex(w1c), ", ", hex(w1s), ", ", hex(read), ", ", table, ", ",
           item.fields.size(), ", ", boolean(item.pair), "},");
}

}  // namespace

rendered_file cpp_register_table() {
  text_file out = begin_header({"blocks"}, "Shape of the register tables in the *_bank.h headers.", {"<cstdint>"});
  out.line("namespace dvp::gen {").line();
  out.comment(
      "What software may do. ro: read; a write is an error. rw: read and write. wo: write; a read is an error. w1c: "
      "read; writing 1 clears a bit. w1s: read; writing 1 sets a bit.");
  out.line("enum class access : std::uint8_t { ro, rw, wo, w1c, w1s };").line();
  out.line("struct field_info {").indent(2);
  out.line("const char* name;").line("std::uint8_t lsb, width;").line("access mode;").line("const char* doc;");
  out.outdent(2).line("};").line();
  out.line("struct register_info {").indent(2);
  out.line("const char* name;      // \"control\", or \"queue[1].tail\" in an array");
  out.line("std::uint32_t offset;  // bytes from the start of the block");
  out.line("std::uint32_t reset;");
  out.line("access mode;");
  out.line("bool hardware;             // the block supplies the value whenever it is read");
  out.line("std::uint32_t write_mask;  // bits that take the written value (fields rw and wo)");
  out.line("std::uint32_t w1c_mask;    // bits that writing 1 clears");
  out.line("std::uint32_t w1s_mask;    // bits that writing 1 sets");
  out.line("std::uint32_t read_mask;   // bits a read shows; the others read 0");
  out.line("const field_info* fields;").line("std::uint32_t field_count;");
  out.line("bool pair = false;  // low half of a 64-bit value; the register 4 bytes further is the high half");
  out.outdent(2).line("};").line();
  out.line("struct block_info {").indent(2);
  out.line("const char* name;").line("std::uint32_t window_bytes;");
  out.line("const register_info* registers;  // in the order of the specification, arrays element by element");
  out.line("std::uint32_t register_count;");
  out.outdent(2).line("};").line();
  out.line("}  // namespace dvp::gen");
  return {"dvp_gen/register_table.h", out.text()};
}

rendered_file cpp_block_bank(const block& item) {
  text_file out = begin_header({item.file}, "Register table of the block " + item.name + ".",
                               {"\"dvp_gen/" + item.name + "_regs.h\"", "\"dvp_gen/register_table.h\""});
  out.line("namespace dvp::gen::", item.name, " {").line();
  out.line("namespace bank_tables {").line();
  for (const block_register& single : item.registers) {
    field_table(out, single.name, single);
  }
  for (const register_array& array : item.arrays) {
    for (const block_register& element : array.registers) {
      field_table(out, array.name + "_" + element.name, element);
    }
  }
  out.line().comment("name, offset, reset, mode, hardware, write, w1c, w1s and read mask, fields, pair");
  out.line("inline constexpr register_info all_registers[] = {").indent(4);
  std::size_t count = item.registers.size();
  for (const block_register& single : item.registers) {
    register_row(out, single.name, single.offset, single, single.name);
  }
  for (const register_array& array : item.arrays) {
    count += array.count * array.registers.size();
    for (std::uint32_t i = 0; i < array.count; ++i) {
      for (const block_register& element : array.registers) {
        register_row(out, array.name + "[" + std::to_string(i) + "]." + element.name,
                     array.offset + i * array.stride + element.offset, element, array.name + "_" + element.name);
      }
    }
  }
  out.outdent(4).line("};").line();
  out.line("}  // namespace bank_tables").line();
  out.line("inline constexpr block_info bank{", quoted(item.name), ", window_bytes, bank_tables::all_registers, ",
           count, "};");
  out.line().line("}  // namespace dvp::gen::", item.name);
  return {"dvp_gen/" + item.name + "_bank.h", out.text()};
}

}  // namespace dvp::npugen
