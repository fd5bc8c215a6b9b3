// converter_pkg::convert_code equals the second description for every code and every descriptor: 2^29 inputs at once.
module converter_formal (
  input logic [1:0] precision_i,
  input logic [1:0] mode_i,
  input logic [6:0] clip_i,
  input logic [2:0] shift_i,
  input logic [6:0] threshold_i,
  input logic [7:0] code_i
);

  logic [7:0] actual, expected;
  assign actual   = converter_pkg::convert_code(precision_i, mode_i, clip_i, shift_i, threshold_i, code_i);
  assign expected = converter_reference::view_of(precision_i, mode_i, clip_i, shift_i, threshold_i, code_i);

  always @* begin
    assert (actual == expected);
    // Fields that the contract does not name have no effect: the fitted ones outside of their mode and precision.
    if (mode_i != 2'd2 || precision_i != 2'd2)
      assert (actual == converter_pkg::convert_code(precision_i, mode_i, 7'd127, 3'd4, threshold_i, code_i));
    if (mode_i != 2'd2 || precision_i != 2'd3)
      assert (actual == converter_pkg::convert_code(precision_i, mode_i, clip_i, shift_i, 7'd32, code_i));
    // Within the range of p bits.
    if (precision_i == 2'd2) assert (actual[7:3] == 5'h00 || actual[7:3] == 5'h1f);
    if (precision_i == 2'd3) assert (actual[7:1] == 7'h00 || actual[7:1] == 7'h7f);
    cover (precision_i == 2'd2 && mode_i == 2'd2 && actual == 8'hf8);
    cover (precision_i == 2'd3 && mode_i == 2'd1 && actual == 8'hff);
  end

endmodule
