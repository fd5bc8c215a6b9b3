#include <algorithm>

#include "gen/npugen/render.h"
#include "gen/npugen/text.h"

namespace dvp::npugen {
namespace {

using row = std::vector<std::string>;

constexpr std::uint32_t first_hexadecimal = 256;  // enumerators from here on are bit patterns

std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '|' ? std::string("\\|") : std::string(1, c);
  }
  return result;
}

void table_row(text_file& out, const row& cells) {
  std::string text = "|";
  for (const std::string& item : cells) {
    text += " " + cell(item) + " |";
  }
  out.line(text);
}

void table(text_file& out, const row& heads, const std::vector<row>& rows) {
  table_row(out, heads);
  table_row(out, row(heads.size(), "---"));
  for (const row& cells : rows) {
    table_row(out, cells);
  }
  out.line();
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string access_name(access_mode mode) {
  constexpr const char* names[] = {"ro", "rw", "wo", "w1c", "w1s"};
  return names[static_cast<int>(mode)];
}

std::string bit_range(const register_field& field) {
  const std::string low = number(field.lsb);
  return field.width == 1 ? low : number(field.lsb + field.width - 1) + ":" + low;
}

void enumeration_table(text_file& out, const enumeration& item) {
  out.line("### ", item.flags ? "Flags" : "Enum", " `", item.name, "`, ", item.bits, " bits").line();
  out.line(item.doc).line();
  std::vector<row> rows;
  for (const enum_value& value : item.values) {
    rows.push_back({value.value < first_hexadecimal ? number(value.value) : hex(value.value), value.name, value.doc});
  }
  table(out, {"value", "name", "meaning"}, rows);
}

void register_table(text_file& out, const std::string& place, const std::string& name, const block_register& item) {
  out.line("### ", place, " `", name, "`, ", access_name(item.access),
           item.hardware ? ", value supplied by the block" : ", reset " + hex(item.reset, 8),
           item.pair ? ", low half of a pair" : "");
  out.line().line(item.doc).line();
  std::vector<row> rows;
  for (const register_field& field : item.fields) {
    const std::string values = field.enum_name.empty() ? "" : " Values: " + field.enum_name + ".";
    rows.push_back(
        {bit_range(field), field.name, access_name(field.access), with_unit(field.doc + values, field.unit)});
  }
  table(out, {"bits", "field", "access", "meaning"}, rows);
}

void block_section(text_file& out, const block& item) {
  out.line("## Block `", item.name, "`: ", item.title).line();
  out.line(item.doc, " Window: ", item.window_bytes, " bytes.").line();
  for (const block_register& single : item.registers) {
    register_table(out, hex(single.offset, 3), single.name, single);
  }
  for (const register_array& array : item.arrays) {
    for (const block_register& element : array.registers) {
      const std::string place = hex(array.offset + element.offset, 3) + " + " + hex(array.stride) + " * i";
      register_table(out, place, array.name + "[i]." + element.name, element);
    }
    out.line("`", array.name, "[i]`, i from 0 to ", array.count - 1, ": ", array.doc).line();
  }
  for (const enumeration& values : item.enums) {
    enumeration_table(out, values);
  }
}

void system_section(text_file& out, const system_map& system) {
  out.line("## Address map: ", system.title).line();
  out.line(system.doc, " Addresses have ", system.address_bits, " bits. Up to ", system.most_harts, " harts (",
           system.isa, ") whose time counts at ", system.timebase_hz, " Hz.")
      .line();
  std::vector<row> rows;
  for (const device& item : system.devices) {
    rows.push_back(
        {hex(item.base, 10), hex(item.bytes), item.name, item.interrupt == 0 ? "" : number(item.interrupt), item.doc});
  }
  for (const memory& item : system.memories) {
    rows.push_back({hex(item.base, 10), hex(item.bytes), item.name, "", item.doc});
  }
  std::ranges::sort(rows);  // by base: all have as many digits
  table(out, {"base", "bytes", "name", "interrupt", "meaning"}, rows);
}

void constant_rows(text_file& out, const std::vector<constant>& constants) {
  std::vector<row> rows;
  for (const constant& item : constants) {
    rows.push_back({item.name, number(item.value), item.doc});
  }
  if (!rows.empty()) {
    table(out, {"constant", "value", "meaning"}, rows);
  }
}

void records_section(text_file& out, const record_file& file) {
  out.line("## Records `", file.name, "`").line().line(file.doc).line();
  constant_rows(out, file.constants);
  for (const enumeration& item : file.enums) {
    enumeration_table(out, item);
  }
  for (const record& item : file.records) {
    out.line("### Record `", item.name, "`, ", item.bytes, " bytes").line().line(item.doc).line();
    std::vector<row> rows;
    for (const record_field& field : item.fields) {
      const std::string extent = field.count == 0 ? "" : "[" + number(field.count) + "]";
      rows.push_back({number(field.offset), field.type + extent, field.name, with_unit(field.doc, field.unit)});
    }
    table(out, {"byte", "type", "field", "meaning"}, rows);
  }
}

void numbers_section(text_file& out, const number_formats& numbers) {
  out.line("## Number formats").line().line(numbers.doc).line();
  std::vector<row> rows;
  for (const float_format& item : numbers.floats) {
    rows.push_back({item.name, number(item.bits), number(item.exponent_bits), number(item.mantissa_bits),
                    number(item.bias), hex(item.canonical_nan), item.doc});
  }
  table(out, {"float", "bits", "exponent", "mantissa", "bias", "canonical NaN", "use"}, rows);
  rows.clear();
  for (const integer_format& item : numbers.integers) {
    rows.push_back({item.name, number(item.bits), item.is_signed ? "yes" : "no", item.doc});
  }
  table(out, {"integer", "bits", "signed", "use"}, rows);
  constant_rows(out, numbers.constants);
}

void arrays_section(text_file& out, const std::vector<array_config>& arrays) {
  out.line("## Array configurations").line();
  std::vector<row> rows;
  for (const array_config& item : arrays) {
    rows.push_back({item.name, number(item.rows), number(item.columns), number(item.lane_bits),
                    item.packing ? "yes" : "no", number(item.adder_stages), item.double_buffered ? "2" : "1",
                    item.output_buffer ? "buffered" : "stall", number(item.accumulator_vectors), item.doc});
  }
  table(out,
        {"name", "rows", "columns", "lane bits", "packing", "adder stages", "banks", "back-pressure",
         "accumulator vectors", "meaning"},
        rows);
}

}  // namespace

std::vector<rendered_file> render_markdown(const specification& spec) {
  text_file out;
  for (const std::string& text : banner_lines(spec.sources())) {
    out.line("<!-- ", text, " -->");
  }
  out.line("# Registers and records").line();
  out.line("ro: read-only; rw: read and write; wo: write-only; w1c: writing 1 clears; w1s: writing 1 sets.").line();
  out.line("Accesses are aligned words of 4 bytes; the low half of a pair also takes one of 8 bytes for both halves.");
  out.line();
  system_section(out, spec.system);
  for (const block& item : spec.blocks) {
    block_section(out, item);
  }
  for (const record_file& file : spec.record_files) {
    records_section(out, file);
  }
  numbers_section(out, spec.numbers);
  arrays_section(out, spec.arrays);
  return {{"registers.md", out.text()}};
}

}  // namespace dvp::npugen
