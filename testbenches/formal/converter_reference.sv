// The view of a code a second time, written from the contract by intervals and with another structure than the RTL: no
// shift and no rounding addition, but the question for every possible code t whether the value has reached it.
//
// A value v is rounded to t steps of size s when it lies between the middles (2t - 1) s / 2 and (2t + 1) s / 2; a
// middle belongs to the even one of its two neighbours. So the rounded and clamped code is the largest t of the range
// whose lower middle is reached, or the lowest of the range. Truncation is the largest t with t s <= v.
package converter_reference;

  function automatic logic [7:0] view_of(
      input logic [1:0] precision, input logic [1:0] mode, input logic [6:0] clip, input logic [2:0] shift,
      input logic [6:0] threshold, input logic [7:0] code);
    integer q, v, step, t, lowest, highest, found;
    q = $signed(code);
    lowest = precision == 2'd2 ? -8 : -2;
    highest = precision == 2'd2 ? 7 : 1;

    // The step: what one unit of the code stands for.
    case ({precision, mode})
      {2'd2, 2'd2}: begin  // q4 fitted
        case (shift)
          3'd0: step = 1;
          3'd1: step = 2;
          3'd2: step = 4;
          3'd3: step = 8;
          3'd4: step = 16;
          3'd5: step = 32;
          3'd6: step = 64;
          default: step = 128;
        endcase
      end
      {2'd2, 2'd0}, {2'd2, 2'd1}, {2'd2, 2'd3}: step = 16;
      default: step = 64;
    endcase

    // The clip, without comparing signed numbers of the same width as the RTL does.
    v = q;
    if (mode == 2'd2) begin
      if (q >= 0 && q > clip) v = clip;
      if (q < 0 && 0 - q > clip) v = 0 - clip;
    end

    found = lowest;
    for (t = -7; t <= 7; t = t + 1) begin
      if (t > lowest && t <= highest) begin
        if (mode == 2'd0 || mode == 2'd3) begin
          if (v >= t * step) found = t;
        end else if (2 * v > (2 * t - 1) * step || (2 * v == (2 * t - 1) * step && t % 2 == 0)) begin
          found = t;
        end
      end
    end

    if (precision == 2'd0) found = 0;
    if (precision == 2'd1) found = q;
    if (precision == 2'd3 && mode == 2'd2) begin
      found = 0;
      if (q >= 0 && q > threshold) found = 1;
      if (q < 0 && 0 - q > threshold) found = -1;
    end
    view_of = found[7:0];
  endfunction

endpackage
