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

  // Formats of a streamed element.
  localparam logic [1:0] FormatBf16 = 2'd0;
  localparam logic [1:0] FormatQ8 = 2'd1;
  localparam logic [1:0] FormatQ4 = 2'd2;
  localparam logic [1:0] FormatQ2 = 2'd3;

  // The integer that a streamed code stands for, as a q8 code. q8 and, without half_step, q4 and q2: the code in the
  // low 8, 4 or 2 bits, sign extended. With half_step a q4 code t stands for (t << 4) | 8, a q2 code for (t << 6) | 32.
  function automatic logic [7:0] code_value(input logic [1:0] format, input logic half_step, input logic [7:0] code);
    logic [7:0] q4, q2;
    q4 = half_step ? {code[3:0], 4'h8} : {{4{code[3]}}, code[3:0]};
    q2 = half_step ? {code[1:0], 6'h20} : {{6{code[1]}}, code[1:0]};
    code_value = format == FormatQ8 ? code : format == FormatQ4 ? q4 : q2;
  endfunction

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

  // a + b rounded to binary32, in pieces between which a register may stand.
  //
  // Exact cancellation gives +0; a sum of two zeros is -0 only if both are. Infinity minus infinity is NaN. Adding
  // Fp32MinusZero changes nothing but the bits of a NaN, which become canonical.
  //
  //   place             words
  //   aligned           fp32_larger(a, b), fp32_aligned(a, b)
  //   added             larger, fp32_added(larger, aligned)
  //   normalised        fp32_base(larger, added, up), fp32_normal(added, up), up = fp32_up(larger, added)
  //   rounded           fp32_round(base, normal)
  //
  // fp32_add is all of them in one step, fp32_normal_round the last two.
  function automatic logic [31:0] fp32_add(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] larger, added;
    larger = fp32_larger(a, b);
    added = fp32_added(larger, fp32_aligned(a, b));
    fp32_add = fp32_normal_round(larger, added);
  endfunction

  // The operand of larger magnitude, which gives exponent and sign; or the canonical NaN if the sum is NaN. An infinity
  // here is the sum.
  function automatic logic [31:0] fp32_larger(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] x, y, clash;
    x = b[30:0] > a[30:0] ? b : a;
    y = b[30:0] > a[30:0] ? a : b;
    clash = (a[31] ^ b[31]) != 1'b0 ? {1'b0, y[30:0]} : 32'd0;
    fp32_larger = clash >= Fp32Infinity ? Fp32Nan : {1'b0, x[30:0]} > Fp32Infinity ? Fp32Nan : x;
  endfunction

  // {signs differ, 4'd0, 27 bits}: the significand of the operand of smaller magnitude with three bits below it (guard,
  // round, sticky), moved down to the exponent of the larger.
  function automatic logic [31:0] fp32_aligned(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] x, y, x_exponent, y_exponent, significand, difference, distance, moved, sticky;
    x = b[30:0] > a[30:0] ? b : a;
    y = b[30:0] > a[30:0] ? a : b;
    x_exponent = {24'd0, x[30:23]} + (x[30:23] == 8'd0 ? 32'd1 : 32'd0);
    y_exponent = {24'd0, y[30:23]} + (y[30:23] == 8'd0 ? 32'd1 : 32'd0);
    significand = {5'd0, y[30:23] != 8'd0, y[22:0], 3'd0};
    difference = x_exponent - y_exponent;
    distance = difference > 32'd31 ? 32'd31 : difference;
    moved = significand >> distance[4:0];
    sticky = (moved << distance[4:0]) != significand ? 32'd1 : 32'd0;
    fp32_aligned = ((a ^ b) & 32'h8000_0000) | moved | sticky;
  endfunction

  // {sign of the sum, 3'd0, 28 bits}: the significands' sum or difference; bit 27 is the carry of a sum.
  function automatic logic [31:0] fp32_added(input logic [31:0] larger, input logic [31:0] aligned);
    logic [31:0] significand, addend, sum, sign;
    significand = {5'd0, larger[30:23] != 8'd0, larger[22:0], 3'd0};
    addend = aligned & 32'h07ff_ffff;
    sum = aligned[31] ? significand - addend : significand + addend;
    sign = sum == 32'd0 ? larger & ~aligned : larger;
    fp32_added = (sign & 32'h8000_0000) | sum;
  endfunction

  // Places the sum moves up to bring its leading one to bit 27, but not past the smallest exponent.
  function automatic logic [31:0] fp32_up(input logic [31:0] larger, input logic [31:0] added);
    logic [31:0] by_16, by_8, by_4, by_2, zeros, exponent;
    by_16 = added[27:12] == 16'd0 ? added << 20 : added << 4;
    by_8 = by_16[31:24] == 8'd0 ? by_16 << 8 : by_16;
    by_4 = by_8[31:28] == 4'd0 ? by_8 << 4 : by_8;
    by_2 = by_4[31:30] == 2'd0 ? by_4 << 2 : by_4;
    zeros = (added[27:12] == 16'd0 ? 32'd16 : 32'd0) + (by_16[31:24] == 8'd0 ? 32'd8 : 32'd0) +
            (by_8[31:28] == 4'd0 ? 32'd4 : 32'd0) + (by_4[31:30] == 2'd0 ? 32'd2 : 32'd0) +
            (by_2[31] ? 32'd0 : 32'd1);
    exponent = {24'd0, larger[30:23]} + (larger[30:23] == 8'd0 ? 32'd1 : 32'd0);
    fp32_up = zeros > exponent ? exponent : zeros;
  endfunction

  // Sign and exponent, less one where a hidden bit will add it; or the sum itself if it is infinite or NaN.
  function automatic logic [31:0] fp32_base(input logic [31:0] larger, input logic [31:0] added, input logic [31:0] up);
    logic [31:0] exponent, field;
    exponent = {24'd0, larger[30:23]} + (larger[30:23] == 8'd0 ? 32'd1 : 32'd0);
    field = (added & 32'h0fff_ffff) == 32'd0 ? 32'd0 : (exponent - up) << 23;
    fp32_base = larger[30:23] == 8'hff ? larger : (added & 32'h8000_0000) | field;
  endfunction

  // The significand in place, in the low 28 bits; those above do not count.
  function automatic logic [31:0] fp32_normal(input logic [31:0] added, input logic [31:0] up);
    fp32_normal = added << up[4:0];
  endfunction

  function automatic logic [31:0] fp32_round(input logic [31:0] base, input logic [31:0] normal);
    logic [31:0] rounded, magnitude, limited;
    rounded = (normal & 32'h0fff_ffff) + 32'd7 + {31'd0, normal[4]};
    // The hidden bit adds one to the exponent field; a carry out of the fraction does so too.
    magnitude = {1'b0, base[30:0]} + {4'd0, rounded[31:4]};
    limited = magnitude > Fp32Infinity ? Fp32Infinity : magnitude;
    fp32_round = base[30:23] == 8'hff ? base : (base & 32'h8000_0000) | limited;
  endfunction

  function automatic logic [31:0] fp32_normal_round(input logic [31:0] larger, input logic [31:0] added);
    logic [31:0] up;
    up = fp32_up(larger, added);
    fp32_normal_round = fp32_round(fp32_base(larger, added, up), fp32_normal(added, up));
  endfunction

  /* verilator lint_on UNUSEDSIGNAL */

endpackage
