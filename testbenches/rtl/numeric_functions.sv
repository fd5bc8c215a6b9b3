// The functions of numeric_pkg as ports, for tests.
module numeric_functions (
  input  logic [15:0] a_i,
  input  logic [15:0] b_i,
  input  logic [7:0]  code_i,
  input  logic [31:0] x_i,
  input  logic [31:0] y_i,
  output logic [31:0] product_o,       // a_i * b_i
  output logic [31:0] code_product_o,  // a_i * code_i
  output logic [31:0] sum_o            // x_i + y_i
);

  assign product_o      = numeric_pkg::bf16_multiply(a_i, b_i);
  assign code_product_o = numeric_pkg::bf16_multiply(a_i, numeric_pkg::q8_to_bf16(code_i));
  assign sum_o          = numeric_pkg::fp32_add(x_i, y_i);

endmodule
