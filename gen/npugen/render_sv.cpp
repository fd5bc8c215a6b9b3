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
          {"input ", "stream_format_i", 2},
          {"input ", "stream_half_step_i", 1},
          {"input ", "stream_more_i", 2},
          {"input ", "stream_data_i", config.rows * config.lane_bits},
          {"input ", "stream_preset_i", config.slots() * config.columns * partial_sum_bits},
          {"output", "result_valid_o", 1},
          {"input ", "result_ready_i", 1},
          {"output", "result_more_o", 2},
          {"output", "result_data_o", config.slots() * config.columns * partial_sum_bits}};
}

// The contract of systolic_array with this configuration's numbers in it.
void wrapper_contract(text_file& out, const array_config& config) {
  const std::uint32_t stages = config.rows * config.adder_stages;
  const std::uint32_t latency = stages + config.columns + 1 + (config.output_buffer ? 1 : 0);
  out.line("//");
  out.comment("systolic_array with its parameters fixed; rtl/array/systolic_array.sv describes ports and rules. Here:");
  out.comment("- load: a row of " + std::to_string(config.columns) + " bf16 values per cycle, " +
              (config.double_buffered ? "two banks, one loaded while the other works"
                                      : "one bank; load_bank_i and stream_bank_i are ignored"));
  out.comment("- stream: " + std::to_string(config.rows) + " lanes of " + std::to_string(config.lane_bits) +
              " bits; vectors in a beat: bf16 " + (config.lane_bits == 16 ? "1" : "1/2") + ", q8 1, q4 " +
              (config.packing ? "1 to 2, q2 1 to 4" : "1, q2 1 (stream_more_i is 0)"));
  out.comment("- result: " + std::to_string(latency) + " cycles after the vector's last beat, " +
              std::to_string(config.slots()) + (config.slots() == 1 ? " slot" : " slots") + " of " +
              std::to_string(config.columns) + " fp32 sums; " +
              (config.output_buffer ? "ready comes from a register, two results are buffered"
                                    : "ready follows result_ready_i in the same cycle"));
  out.comment("- reload: row r of a bank from cycle t + " + std::to_string(config.adder_stages) + " r + " +
              std::to_string(config.columns) + " on, t being the cycle of the last beat that uses the bank");
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
  wrapper_contract(out, config);
  out.line("module ", name, " (").indent(2);
  for (const array_port& port : ports) {
    const std::string range = sv_range(port.bits);
    out.line(port.direction, " logic ", range, range.empty() ? "" : " ", port.name, &port == &ports.back() ? "" : ",");
  }
  out.outdent(2).line(");").line();
  out.indent(2).line("systolic_array #(").indent(2);
  out.line(".Rows        (", config.rows, "),").line(".Columns     (", config.columns, "),");
  out.line(".LaneBits    (", config.lane_bits, "),").line(".Packing     (", config.packing ? 1 : 0, "),");
  out.line(".AdderStages (", config.adder_stages, "),").line(".Banks       (", config.double_buffered ? 2 : 1, "),");
  out.line(".OutputBuffer(", config.output_buffer ? 1 : 0, ")").outdent(2).line(") u_array (").indent(2);
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
    files.push_back(sv_block_axi_lite(item));
  }
  for (const array_config& config : spec.arrays) {
    files.push_back(sv_array_wrapper(config));
  }
  return files;
}

}  // namespace dvp::npugen
