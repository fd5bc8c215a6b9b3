// dvp_pkg.sv: every number of the specification as a localparam.
#include <set>

#include "gen/npugen/spec_error.h"
#include "gen/npugen/sv_parts.h"
#include "gen/npugen/text.h"

namespace dvp::npugen {
namespace {

class package {
 public:
  explicit package(const std::vector<std::string>& sources) {
    banner(out_, sources);
    out_.line("//");
    out_.comment(
        "Numbers of the specification: registers (offsets in bytes, of a register array's registers within the "
        "element; Lsb and Width of fields in bits), enumerators, "
        "records (offsets and sizes in bytes), number formats, array configurations and the address map.");
    out_.line("package dvp_pkg;").indent(2);
  }

  void heading(const std::string& text) { out_.line().comment(text); }

  // The parameter's name is the parts, camel-cased and joined.
  void add(std::uint32_t bits, const std::vector<std::string>& parts, std::uint64_t value) {
    std::string name;
    for (const std::string& part : parts) {
      name += camel_case(part);
    }
    if (!names_.insert(name).second) {
      throw spec_error("specification", parts.front(), "two items both become " + name + " in SystemVerilog",
                       "rename one of them");
    }
    out_.line("localparam logic ", sv_range(bits), bits == 1 ? "" : " ", name, " = ", sv_literal(bits, value), ";");
  }
  void word(const std::vector<std::string>& parts, std::uint64_t value) { add(32, parts, value); }

  std::string finish() {
    out_.outdent(2).line().line("endpackage");
    return out_.text();
  }

 private:
  text_file out_;
  std::set<std::string> names_;
};

void add_enumeration(package& out, const std::string& prefix, const enumeration& item) {
  for (const enum_value& value : item.values) {
    out.add(item.bits, {prefix, item.name, value.name}, value.value);
  }
}

void add_register(package& out, const std::string& prefix, const block_register& item) {
  out.word({prefix, item.name, "offset"}, item.offset);
  out.word({prefix, item.name, "reset"}, item.reset);
  for (const register_field& field : item.fields) {
    out.word({prefix, item.name, field.name, "lsb"}, field.lsb);
    out.word({prefix, item.name, field.name, "width"}, field.width);
  }
}

void add_block(package& out, const block& item) {
  out.heading("Block " + item.name + ": " + item.title + ".");
  out.word({item.name, "window_bytes"}, item.window_bytes);
  for (const enumeration& values : item.enums) {
    add_enumeration(out, item.name, values);
  }
  for (const block_register& single : item.registers) {
    add_register(out, item.name, single);
  }
  for (const register_array& array : item.arrays) {
    out.word({item.name, array.name, "count"}, array.count);
    out.word({item.name, array.name, "offset"}, array.offset);
    out.word({item.name, array.name, "stride"}, array.stride);
    for (const block_register& element : array.registers) {
      add_register(out, item.name + "_" + array.name, element);
    }
  }
}

void add_records(package& out, const record_file& file) {
  out.heading("Records " + file.name + ".");
  for (const constant& item : file.constants) {
    out.word({item.name}, item.value);
  }
  for (const enumeration& item : file.enums) {
    add_enumeration(out, "", item);
  }
  for (const record& item : file.records) {
    out.word({item.name, "bytes"}, item.bytes);
    for (const record_field& field : item.fields) {
      out.word({item.name, field.name, "offset"}, field.offset);
    }
  }
}

void add_numbers(package& out, const number_formats& numbers) {
  out.heading("Number formats.");
  for (const float_format& item : numbers.floats) {
    out.word({item.name, "bits"}, item.bits);
    out.word({item.name, "exponent_bits"}, item.exponent_bits);
    out.word({item.name, "mantissa_bits"}, item.mantissa_bits);
    out.word({item.name, "bias"}, item.bias);
    out.add(item.bits, {item.name, "canonical_nan"}, item.canonical_nan);
  }
  for (const integer_format& item : numbers.integers) {
    out.word({item.name, "bits"}, item.bits);
  }
  for (const constant& item : numbers.constants) {
    out.word({item.name}, item.value);
  }
}

void add_system(package& out, const system_map& system) {
  out.heading("Address map of the " + system.name + " platform.");
  out.word({"system", "address_bits"}, system.address_bits);
  out.word({"system", "most_harts"}, system.most_harts);
  out.word({"system", "timebase_hz"}, system.timebase_hz);
  for (const device& item : system.devices) {
    out.add(64, {"system", item.name, "base"}, item.base);
    out.add(64, {"system", item.name, "bytes"}, item.bytes);
    if (item.interrupt != 0) {
      out.word({"system", item.name, "interrupt"}, item.interrupt);
    }
    if (item.clock_hz != 0) {
      out.word({"system", item.name, "clock_hz"}, item.clock_hz);
    }
  }
  for (const memory& item : system.memories) {
    out.add(64, {"system", item.name, "base"}, item.base);
    out.add(64, {"system", item.name, "bytes"}, item.bytes);
  }
}

}  // namespace

rendered_file sv_package(const specification& spec) {
  package out(spec.sources());
  for (const block& item : spec.blocks) {
    add_block(out, item);
  }
  for (const record_file& file : spec.record_files) {
    add_records(out, file);
  }
  add_numbers(out, spec.numbers);
  add_system(out, spec.system);
  out.heading("Array configurations.");
  for (const array_config& item : spec.arrays) {
    out.word({"array", item.name, "rows"}, item.rows);
    out.word({"array", item.name, "columns"}, item.columns);
    out.word({"array", item.name, "lane_bits"}, item.lane_bits);
    out.word({"array", item.name, "slots"}, item.slots());
    out.word({"array", item.name, "adder_stages"}, item.adder_stages);
    out.word({"array", item.name, "banks"}, item.double_buffered ? 2 : 1);
    out.word({"array", item.name, "output_buffer"}, item.output_buffer ? 1 : 0);
    out.word({"array", item.name, "accumulator_vectors"}, item.accumulator_vectors);
  }
  return {"sv/dvp_pkg.sv", out.finish()};
}

}  // namespace dvp::npugen
