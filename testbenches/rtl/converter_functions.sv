// The function of converter_pkg as ports, for tests.
module converter_functions (
  input  logic [1:0] precision_i,
  input  logic [1:0] mode_i,
  input  logic [6:0] clip_i,
  input  logic [2:0] shift_i,
  input  logic [6:0] threshold_i,
  input  logic [7:0] code_i,
  output logic [7:0] code_o,
  output logic       half_step_o
);

  assign code_o      = converter_pkg::convert_code(precision_i, mode_i, clip_i, shift_i, threshold_i, code_i);
  assign half_step_o = converter_pkg::half_step(precision_i, mode_i);

endmodule
