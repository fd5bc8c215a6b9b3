#include <bit>
#include <vector>

#include "gen/npugen/sv_parts.h"
#include "gen/npugen/text.h"

namespace dvp::npugen {
namespace {

constexpr std::uint32_t activation_bits = 16;   // bf16
constexpr std::uint32_t partial_sum_bits = 32;  // fp32

struct array_port {
  const char* direction;
  const char* name;
  std::uint32_t bits;
};

// The ports of rtl/array/systolic_array.sv for one configuration. Lint compares the two.
std::vector<array_port> array_ports(const array_config& config) {
  const std::uint32_t row_index_bits = static_cast<std::uint32_t>(std::bit_width(config.rows - 1));
  return {{"input ", "clk_i", 1},
          {"input ", "rst_ni", 1},
          {"input ", "load_valid_i", 1},
          {"output", "load_ready_o", 1},
          {"input ", "load_bank_i", 1},
          {"input ", "load_row_i", row_index_bits},
          {"input ", "load_active_i", 1},
          {"input ", "load_data_i", config.columns * activation_bits},
          {"input ", "stream_valid_i", 1},
          {"output", "stream_ready_o", 1},
          {"input ", "stream_bank_i", 1},
          {"input ", "stream_q8_i", 1},
          {"input ", "stream_data_i", config.rows * config.lane_bits},
          {"input ", "stream_preset_i", config.columns * partial_sum_bits},
          {"output", "result_valid_o", 1},
          {"input ", "result_ready_i", 1},
          {"output", "result_data_o", config.columns * partial_sum_bits}};
}

}  // namespace

std::string sv_literal(std::uint32_t bits, std::uint64_t value) {
  return std::to_string(bits) + "'h" + hex(value).substr(2);
}

std::string sv_range(std::uint32_t bits) {
  return bits == 1 ? "" : "[" + std::to_string(bits - 1) + ":0]";
}

rendered_file sv_array_wrapper(const array_config& config) {
  const std::string name = "systolic_array_" + config.name;
  const std::vector<array_port> ports = array_ports(config);
  text_file out;
  banner(out, {config.file});
  out.line("//").comment(config.doc);
  out.comment("The module systolic_array with Rows, Columns and LaneBits fixed; ports and timing are described there.");
  out.line("module ", name, " (").indent(2);
  for (const array_port& port : ports) {
    const std::string range = sv_range(port.bits);
    out.line(port.direction, " logic ", range, range.empty() ? "" : " ", port.name, &port == &ports.back() ? "" : ",");
  }
  out.outdent(2).line(");").line();
  out.indent(2).line("systolic_array #(").indent(2);
  out.line(".Rows    (", config.rows, "),").line(".Columns (", config.columns, "),");
  out.line(".LaneBits(", config.lane_bits, ")").outdent(2).line(") u_array (").indent(2);
  for (const array_port& port : ports) {
    out.line(".", port.name, "(", port.name, ")", &port == &ports.back() ? "" : ",");
  }
  out.outdent(2).line(");").outdent(2).line().line("endmodule");
  return {"sv/" + name + ".sv", out.text()};
}

std::vector<rendered_file> render_sv(const specification& spec) {
  std::vector<rendered_file> files{sv_package(spec)};
  for (const block& item : spec.blocks) {
    files.push_back(sv_block_registers(item));
  }
  for (const array_config& config : spec.arrays) {
    files.push_back(sv_array_wrapper(config));
  }
  return files;
}

}  // namespace dvp::npugen
