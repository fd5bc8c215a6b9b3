// The functions of numeric_pkg as ports, for tests.
module numeric_functions (
  input  logic [15:0] a_i,
  input  logic [15:0] b_i,
  input  logic [1:0]  format_i,
  input  logic        half_step_i,
  input  logic [7:0]  code_i,
  input  logic [31:0] x_i,
  input  logic [31:0] y_i,
  output logic [31:0] product_o,       // a_i * b_i
  output logic [31:0] code_product_o,  // a_i * the value of code_i in format_i
  output logic [31:0] sum_o,           // x_i + y_i in one stage
  output logic [31:0] two_stages_o,    // cut after the addition, as the array with two adder stages has it
  output logic [31:0] three_stages_o   // cut after alignment and normalisation
);

  logic [31:0] larger, aligned, added, up, base, normal;

  assign product_o      = numeric_pkg::bf16_multiply(a_i, b_i);
  assign code_product_o = numeric_pkg::bf16_multiply(
      a_i, numeric_pkg::q8_to_bf16(numeric_pkg::code_value(format_i, half_step_i, code_i)));
  assign sum_o          = numeric_pkg::fp32_add(x_i, y_i);

  assign larger  = numeric_pkg::fp32_larger(x_i, y_i);
  assign aligned = numeric_pkg::fp32_aligned(x_i, y_i);
  assign added   = numeric_pkg::fp32_added(larger, aligned);
  assign up      = numeric_pkg::fp32_up(larger, added);
  assign base    = numeric_pkg::fp32_base(larger, added, up);
  assign normal  = numeric_pkg::fp32_normal(added, up);

  assign two_stages_o   = numeric_pkg::fp32_normal_round(larger, added);
  assign three_stages_o = numeric_pkg::fp32_round(base, normal);

endmodule
