// The arithmetic of one array element, as functions without state.
//
// Formats: binary32 is {sign, 8 exponent, 23 fraction} bits, BF16 its upper half, q8 a signed 8-bit code. Subnormals
// are kept everywhere, rounding is to nearest even, and every NaN result is the canonical quiet NaN 32'h7fc0_0000.
//
// The functions are pure and free of branches, so that a simulator can run one of them for many elements at once and a
// synthesis tool sees plain data paths. They return by assignment to their own name: Yosys 0.23 knows no other way.
package numeric_pkg;

  // Words inside the functions are wider than what is read of them: equal widths are what lets a simulator vectorise.
  /* verilator lint_off UNUSEDSIGNAL */

  localparam logic [31:0] Fp32Nan = 32'h7fc0_0000;
  localparam logic [31:0] Fp32Infinity = 32'h7f80_0000;
  localparam logic [31:0] Fp32MinusZero = 32'h8000_0000;

  // The BF16 number that equals a q8 code: exact for all 256 codes, -128 included; code 0 is +0.
  function automatic logic [15:0] q8_to_bf16(input logic [7:0] code);
    logic [7:0] magnitude, by_4, by_2, by_1;
    logic [2:0] zeros;
    logic [7:0] exponent;
    magnitude = code[7] ? -code : code;
    // Leading zeros, found while shifting them out.
    zeros[2] = magnitude[7:4] == 4'd0;
    by_4 = zeros[2] ? {magnitude[3:0], 4'd0} : magnitude;
    zeros[1] = by_4[7:6] == 2'd0;
    by_2 = zeros[1] ? {by_4[5:0], 2'd0} : by_4;
    zeros[0] = ~by_2[7];
    by_1 = zeros[0] ? {by_2[6:0], 1'd0} : by_2;
    exponent = 8'd134 - {5'd0, zeros};
    q8_to_bf16 = magnitude == 8'd0 ? 16'd0 : {code[7], exponent, by_1[6:0]};
  endfunction

  // a * b rounded to binary32.
  //
  // The 8-bit significands make a product of at most 16 bits, which binary32 holds exactly unless the product leaves
  // the range: then it overflows to infinity, or is rounded once to a multiple of the smallest subnormal. Infinity
  // times zero is NaN. The sign of a zero is the exclusive or of the operands' signs.
  function automatic logic [31:0] bf16_multiply(input logic [15:0] a, input logic [15:0] b);
    logic [31:0] a_exponent, b_exponent, significand, by_8, by_4, by_2, by_1, zeros;
    logic [31:0] total, bias, excess, deficit, down, shifted, sticky, rounded, magnitude;
    logic [31:0] larger, special, limited, selected;
    a_exponent = {24'd0, a[14:7]};
    b_exponent = {24'd0, b[14:7]};
    significand = {24'd0, a[14:7] != 8'd0, a[6:0]} * {24'd0, b[14:7] != 8'd0, b[6:0]};

    // Bring the leading one of the 16-bit product to bit 31.
    by_8 = significand[15:8] == 8'd0 ? significand << 24 : significand << 16;
    by_4 = by_8[31:28] == 4'd0 ? by_8 << 4 : by_8;
    by_2 = by_4[31:30] == 2'd0 ? by_4 << 2 : by_4;
    by_1 = by_2[31] ? by_2 : by_2 << 1;
    zeros = (significand[15:8] == 8'd0 ? 32'd8 : 32'd0) + (by_8[31:28] == 4'd0 ? 32'd4 : 32'd0) +
            (by_4[31:30] == 2'd0 ? 32'd2 : 32'd0) + (by_2[31] ? 32'd0 : 32'd1);
    // The biased exponent of the result, less one, is total - bias; subnormal operands count as exponent 1.
    total = a_exponent + (a_exponent == 32'd0 ? 32'd1 : 32'd0) + b_exponent + (b_exponent == 32'd0 ? 32'd1 : 32'd0);
    bias = zeros + 32'd127;
    excess = total > bias ? total - bias : 32'd0;

    // Below the normal range the significand moves down; what falls off the end counts in the rounding.
    deficit = bias > total ? bias - total : 32'd0;
    down = deficit > 32'd31 ? 32'd31 : deficit;
    shifted = by_1 >> down[4:0];
    sticky = shifted | ((shifted << down[4:0]) != by_1 ? 32'd1 : 32'd0);
    rounded = sticky + 32'd127 + {31'd0, sticky[8]};
    // The hidden bit adds one to the exponent field; a carry out of the fraction does so too.
    magnitude = significand == 32'd0 ? 32'd0 : (excess << 23) + {8'd0, rounded[31:8]};

    // larger is infinity or NaN when any operand is.
    larger = b[14:0] > a[14:0] ? {1'b0, b[14:0], 16'd0} : {1'b0, a[14:0], 16'd0};
    special = significand == 32'd0 ? Fp32Nan : larger;
    limited = magnitude > Fp32Infinity ? Fp32Infinity : magnitude;
    selected = larger >= Fp32Infinity ? special : limited;
    bf16_multiply = selected > Fp32Infinity ? Fp32Nan : {a[15] ^ b[15], selected[30:0]};
  endfunction

  // a + b rounded to binary32.
  //
  // Exact cancellation gives +0; a sum of two zeros is -0 only if both are. Infinity minus infinity is NaN. Adding
  // Fp32MinusZero changes nothing but the bits of a NaN, which become canonical.
  function automatic logic [31:0] fp32_add(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] x, y, x_exponent, y_exponent, x_significand, y_significand, difference, distance, aligned, addend;
    logic [31:0] opposite, sum, by_16, by_8, by_4, by_2, zeros, up, normal, rounded, magnitude, limited;
    logic [31:0] sign, clash, special, selected;
    // x is the operand of larger magnitude and gives the sign.
    x = b[30:0] > a[30:0] ? b : a;
    y = b[30:0] > a[30:0] ? a : b;
    opposite = {31'd0, a[31] ^ b[31]};
    x_exponent = {24'd0, x[30:23]} + (x[30:23] == 8'd0 ? 32'd1 : 32'd0);
    y_exponent = {24'd0, y[30:23]} + (y[30:23] == 8'd0 ? 32'd1 : 32'd0);
    // 24-bit significands with three bits below: guard, round, sticky.
    x_significand = {5'd0, x[30:23] != 8'd0, x[22:0], 3'd0};
    y_significand = {5'd0, y[30:23] != 8'd0, y[22:0], 3'd0};
    difference = x_exponent - y_exponent;
    distance = difference > 32'd31 ? 32'd31 : difference;
    aligned = y_significand >> distance[4:0];
    addend = aligned | ((aligned << distance[4:0]) != y_significand ? 32'd1 : 32'd0);
    sum = opposite != 32'd0 ? x_significand - addend : x_significand + addend;

    // Bring the leading one to bit 27, but not past the smallest exponent. Bit 27 itself is the carry of an addition.
    by_16 = sum[27:12] == 16'd0 ? sum << 20 : sum << 4;
    by_8 = by_16[31:24] == 8'd0 ? by_16 << 8 : by_16;
    by_4 = by_8[31:28] == 4'd0 ? by_8 << 4 : by_8;
    by_2 = by_4[31:30] == 2'd0 ? by_4 << 2 : by_4;
    zeros = (sum[27:12] == 16'd0 ? 32'd16 : 32'd0) + (by_16[31:24] == 8'd0 ? 32'd8 : 32'd0) +
            (by_8[31:28] == 4'd0 ? 32'd4 : 32'd0) + (by_4[31:30] == 2'd0 ? 32'd2 : 32'd0) +
            (by_2[31] ? 32'd0 : 32'd1);
    up = zeros > x_exponent ? x_exponent : zeros;
    normal = sum << up[4:0];
    rounded = normal + 32'd7 + {31'd0, normal[4]};
    // The hidden bit adds one to the exponent field; a carry out of the fraction does so too.
    magnitude = sum == 32'd0 ? 32'd0 : ((x_exponent - up) << 23) + {4'd0, rounded[31:4]};
    limited = magnitude > Fp32Infinity ? Fp32Infinity : magnitude;
    sign = sum == 32'd0 ? x & y : x;

    // An infinite or NaN x decides, unless y is the opposite infinity.
    clash = opposite != 32'd0 ? {1'b0, y[30:0]} : 32'd0;
    special = clash >= Fp32Infinity ? Fp32Nan : {1'b0, x[30:0]};
    selected = x[30:23] == 8'hff ? special : limited;
    fp32_add = selected > Fp32Infinity ? Fp32Nan : {sign[31], selected[30:0]};
  endfunction

  /* verilator lint_on UNUSEDSIGNAL */

endpackage
