// Narrow views of 8-bit codes, as functions without state: the arithmetic of the memory side's precision converter.
//
// With q in [-128, 127], t the delivered code, all shifts arithmetic and rne rounding to the nearest integer, a tie to
// the even one:
//
//   mode      p = 4                                              p = 2
//   midpoint  t = q >> 4                                         t = q >> 6
//   truncate  the same codes; only their meaning differs         the same
//   round     t = clamp(rne(q / 16), -8, 7)                      t = clamp(rne(q / 64), -2, 1)
//   fitted    t = clamp(rne(clamp(q, -clip, clip) / 2^shift),    t = +1 when q > threshold, -1 when q < -threshold,
//                       -8, 7)                                   else 0
//
// p = 8 passes every code through, p = 0 delivers 0. A field that no formula names has no effect. Every bit pattern of
// a descriptor is legal.
package converter_pkg;

  // Precision of a view. Q8, Q4 and Q2 are the array's stream formats of the same number.
  localparam logic [1:0] PrecisionQ0 = 2'd0;
  localparam logic [1:0] PrecisionQ8 = 2'd1;
  localparam logic [1:0] PrecisionQ4 = 2'd2;
  localparam logic [1:0] PrecisionQ2 = 2'd3;

  // All four for a reader, whether or not a function names them.
  /* verilator lint_off UNUSEDPARAM */
  localparam logic [1:0] ModeMidpoint = 2'd0;
  localparam logic [1:0] ModeRound    = 2'd1;
  localparam logic [1:0] ModeFitted   = 2'd2;
  localparam logic [1:0] ModeTruncate = 2'd3;
  /* verilator lint_on UNUSEDPARAM */

  // Whether the array adds the constant half-step: t then stands for (t << 4) | 8 or (t << 6) | 32.
  function automatic logic half_step(input logic [1:0] precision, input logic [1:0] mode);
    half_step = mode == ModeMidpoint && (precision == PrecisionQ4 || precision == PrecisionQ2);
  endfunction

  // The delivered code of one element, sign extended to 8 bits; its low p bits are what is packed.
  //
  // One rounding shift serves all modes: by 4, 6 or the fitted shift; truncation is the same shift without rounding.
  // Rounding adds half the divisor, less one where the last kept bit is 0, before the shift.
  function automatic logic [7:0] convert_code(
      input logic [1:0] precision, input logic [1:0] mode, input logic [6:0] clip, input logic [2:0] shift,
      input logic [6:0] threshold, input logic [7:0] code);
    logic fitted, above, below;
    logic [2:0] amount;
    logic signed [9:0] exact, value, limit, half, bias, shifted, highest, lowest;
    logic [7:0] t;
    fitted = mode == ModeFitted;
    exact  = {{2{code[7]}}, code};

    // The clip; outside of `fitted` it is out of reach.
    limit = fitted ? {3'd0, clip} : 10'sd128;
    value = exact > limit ? limit : exact < -limit ? -limit : exact;

    // The rounding shift.
    amount  = fitted ? shift : precision == PrecisionQ4 ? 3'd4 : 3'd6;
    half    = (10'sd1 <<< amount) >>> 1;
    bias    = mode == ModeMidpoint || mode == ModeTruncate || amount == 3'd0
                  ? 10'sd0
                  : half - (value[{1'b0, amount}] ? 10'sd0 : 10'sd1);
    shifted = (value + bias) >>> amount;

    // The range of p bits.
    highest = precision == PrecisionQ4 ? 10'sd7 : 10'sd1;
    lowest  = ~highest;
    t       = shifted > highest ? highest[7:0] : shifted < lowest ? lowest[7:0] : shifted[7:0];

    above = exact > $signed({3'd0, threshold});
    below = exact < -$signed({3'd0, threshold});

    case (precision)
      PrecisionQ8: convert_code = code;
      PrecisionQ4: convert_code = t;
      PrecisionQ2: convert_code = fitted ? {{7{below}}, above | below} : t;
      default: convert_code = 8'd0;
    endcase
  endfunction

endpackage
