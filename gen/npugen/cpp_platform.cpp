// numbers.h, system.h and arrays.h: the small tables.
#include "gen/npugen/cpp_parts.h"

namespace dvp::npugen {
namespace {

void address(text_file& out, const std::string& name, std::uint64_t value) {
  out.line("inline constexpr std::uint64_t ", name, " = ", hex(value), "U;");
}

}  // namespace

rendered_file cpp_numbers(const number_formats& numbers) {
  text_file out = begin_header({numbers.file}, numbers.doc, {"<cstdint>"});
  out.line("namespace dvp::gen::numbers {").line();
  out.comment("An IEEE 754 style format: sign, exponent, mantissa from the most significant bit down.");
  out.line("struct float_format {");
  out.line("  std::uint32_t bits, exponent_bits, mantissa_bits, bias, canonical_nan;").line("};").line();
  out.line("struct integer_format {").line("  std::uint32_t bits;").line("  bool is_signed;").line("};").line();
  for (const float_format& item : numbers.floats) {
    out.comment(item.doc).line("inline constexpr float_format ", item.name, "{", item.bits, ", ", item.exponent_bits,
                               ", ", item.mantissa_bits, ", ", item.bias, ", ", hex(item.canonical_nan), "};");
  }
  for (const integer_format& item : numbers.integers) {
    out.comment(item.doc).line("inline constexpr integer_format ", item.name, "{", item.bits, ", ",
                               item.is_signed ? "true" : "false", "};");
  }
  for (const constant& item : numbers.constants) {
    cpp_constant(out, item);
  }
  out.line().line("}  // namespace dvp::gen::numbers");
  return {"dvp_gen/numbers.h", out.text()};
}

rendered_file cpp_system(const system_map& system) {
  text_file out = begin_header({system.file}, system.title + ". " + system.doc, {"<cstdint>"});
  out.line("namespace dvp::gen::system {").line();
  out.line("inline constexpr const char* name = ", quoted(system.name), ";");
  out.line("inline constexpr std::uint32_t address_bits = ", system.address_bits, ";");
  out.comment("The most harts a configuration may have.");
  out.line("inline constexpr std::uint32_t most_harts = ", system.most_harts, ";");
  out.comment("Ticks of the harts' time counter in a second.");
  out.line("inline constexpr std::uint32_t timebase_hz = ", system.timebase_hz, ";");
  for (const device& item : system.devices) {
    out.line().comment(item.doc);
    address(out, item.name + "_base", item.base);
    address(out, item.name + "_bytes", item.bytes);
    if (item.interrupt != 0) {
      out.line("inline constexpr std::uint32_t ", item.name, "_interrupt = ", item.interrupt, ";");
    }
    if (item.clock_hz != 0) {
      out.line("inline constexpr std::uint32_t ", item.name, "_clock_hz = ", item.clock_hz, ";");
    }
  }
  for (const memory& item : system.memories) {
    out.line().comment(item.doc);
    address(out, item.name + "_base", item.base);
    address(out, item.name + "_bytes", item.bytes);
  }
  out.line().line("}  // namespace dvp::gen::system");
  return {"dvp_gen/system.h", out.text()};
}

rendered_file cpp_arrays(const std::vector<array_config>& arrays) {
  std::vector<std::string> sources;
  for (const array_config& item : arrays) {
    sources.push_back(item.file);
  }
  text_file out = begin_header(sources, "Configurations of the systolic array.", {"<cstdint>", "<string_view>"});
  out.line("namespace dvp::gen {").line();
  out.line("struct array_config {").indent(2);
  out.line("const char* name;");
  out.line("std::uint32_t rows;                 // reduction indices per fold");
  out.line("std::uint32_t columns;              // tokens per tile");
  out.line("std::uint32_t lane_bits;            // width of a row's lane of the stream");
  out.line("bool packing;                       // beats of up to two q4 or four q2 vectors");
  out.line("std::uint32_t adder_stages;         // cycles of an addition");
  out.line("bool double_buffered;               // two banks of stationary values");
  out.line("bool output_buffer;                 // results leave through a buffer of two entries");
  out.line("std::uint32_t accumulator_vectors;  // most streamed vectors of one job");
  out.outdent(2).line("};").line();
  out.line("inline constexpr array_config arrays[] = {").indent(4);
  for (const array_config& item : arrays) {
    const auto truth = [](bool value) { return value ? "true" : "false"; };
    out.comment(item.doc).line("{", quoted(item.name), ", ", item.rows, ", ", item.columns, ", ", item.lane_bits, ", ",
                               truth(item.packing), ", ", item.adder_stages, ", ", truth(item.double_buffered), ", ",
                               truth(item.output_buffer), ", ", item.accumulator_vectors, "},");
  }
  out.outdent(4).line("};").line();
  out.comment("The configuration of that name, or nullptr.");
  out.line("constexpr const array_config* find_array(std::string_view name) {").indent(2);
  out.line("for (const array_config& config : arrays) {");
  out.line("  if (name == config.name) {").line("    return &config;").line("  }").line("}").line("return nullptr;");
  out.outdent(2).line("}").line();
  out.line("}  // namespace dvp::gen");
  return {"dvp_gen/arrays.h", out.text()};
}

}  // namespace dvp::npugen
