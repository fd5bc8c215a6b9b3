// Proof obligations of precision_converter: every element that enters leaves once, in order, converted, with its tags;
// every last leaves once and between the right elements; bursts are as full as the contract says; outputs hold under
// stall; the converter accepts a burst per cycle while the output is taken.
//
// The specification counts elements and lasts inside and follows one tracked element: an arbitrary accepted element,
// with the elements and lasts before it. Its code is expected by the second description, converter_reference. The
// invariants that tie this to the converter's own state make the induction step work for any length of run.
module precision_converter_formal #(
  parameter int BurstBytes = 2,
  // 1: one plain descriptor beside the precision, which makes the search for cover cases quick.
  parameter int Plain      = 0
) (
  input logic                            clk_i,
  input logic                            rst_ni,
  input logic                            burst_valid_i,
  input logic [BurstBytes*8-1:0]         burst_data_i,
  input logic [$clog2(BurstBytes+1)-1:0] burst_count_i,
  input logic                            burst_last_i,
  input logic [1:0]                      burst_precision_i,
  input logic [1:0]                      burst_mode_i,
  input logic [6:0]                      burst_clip_i,
  input logic [2:0]                      burst_shift_i,
  input logic [6:0]                      burst_threshold_i,
  input logic                            result_ready_i,
  // Chooses the element to track.
  input logic                            track_i,
  input logic [7:0]                      track_lane_i
);

  localparam int BurstBits = BurstBytes * 8;
  localparam int CountBits = $clog2(4 * BurstBytes + 1);
  localparam int WordBits = BurstBits + CountBits + 4;

  logic                 ready, valid, last, half_step;
  logic [1:0]           precision;
  logic [CountBits-1:0] count;
  logic [BurstBits-1:0] data;

  logic [1:0] mode;
  assign mode = Plain != 0 ? 2'd3 : burst_mode_i;

  precision_converter #(.BurstBytes(BurstBytes)) dut (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .burst_valid_i(burst_valid_i), .burst_ready_o(ready), .burst_data_i(burst_data_i), .burst_count_i(burst_count_i),
    .burst_last_i(burst_last_i), .burst_precision_i(burst_precision_i), .burst_mode_i(mode),
    .burst_clip_i(burst_clip_i), .burst_shift_i(burst_shift_i), .burst_threshold_i(burst_threshold_i),
    .result_valid_o(valid), .result_ready_i(result_ready_i), .result_data_o(data), .result_count_o(count),
    .result_last_o(last), .result_precision_o(precision), .result_half_step_o(half_step)
  );

  // The converter's own state, joined when the design is flattened.
  (* hierconn *) wire \dut.open_q ;
  (* hierconn *) wire \dut.complete_q ;
  (* hierconn *) wire \dut.last_q ;
  (* hierconn *) wire \dut.half_step_q ;
  (* hierconn *) wire [1:0] \dut.precision_q ;
  (* hierconn *) wire [1:0] \dut.place_q ;
  (* hierconn *) wire [CountBits-1:0] \dut.count_q ;
  (* hierconn *) wire [BurstBits-1:0] \dut.data_q ;
  (* hierconn *) wire [1:0] \dut.u_output.used_q ;
  (* hierconn *) wire [2*WordBits-1:0] \dut.u_output.entry_q ;

  // A burst as one word, {half_step, precision, last, count, data}, and what can be asked of it.
  function automatic logic [CountBits-1:0] count_of(input logic [WordBits-1:0] word);
    count_of = word[BurstBits+:CountBits];
  endfunction
  function automatic logic last_of(input logic [WordBits-1:0] word);
    last_of = word[BurstBits+CountBits];
  endfunction
  // {half_step, precision}
  function automatic logic [2:0] tags_of(input logic [WordBits-1:0] word);
    tags_of = word[WordBits-1-:3];
  endfunction
  // log2 of the elements per byte.
  function automatic logic [1:0] density_of(input logic [WordBits-1:0] word);
    density_of = tags_of(word) == 0 ? 2'd0 : word[WordBits-3+:2] - 2'd1;
  endfunction
  function automatic logic full(input logic [WordBits-1:0] word);
    full = count_of(word) == BurstBytes << density_of(word);
  endfunction
  // Element i, in the low p bits of a byte.
  function automatic logic [7:0] element(input logic [WordBits-1:0] word, input logic [7:0] i);
    element = (word[BurstBits-1:0] >> ((i << 3) >> density_of(word))) & (8'hff >> (8 - (8 >> density_of(word))));
  endfunction
  // Not empty unless it carries a last; not over-full; zero after the last element.
  function automatic logic well_formed(input logic [WordBits-1:0] word);
    well_formed = (count_of(word) == 0 ? last_of(word) && tags_of(word) == 0 : word[WordBits-3+:2] != 0) &&
                  count_of(word) <= BurstBytes << density_of(word) &&
                  (word[BurstBits-1:0] >> (({8'd0, count_of(word)} << 3) >> density_of(word))) == 0;
  endfunction

  // The bursts inside, oldest first; `held` is the one being filled.
  logic [WordBits-1:0] first, second, held;
  logic first_in, second_in, held_in;
  assign {second_in, first_in} = \dut.u_output.used_q ;
  assign held_in = \dut.open_q ;
  assign first   = \dut.u_output.entry_q [0+:WordBits];
  assign second  = \dut.u_output.entry_q [WordBits+:WordBits];
  assign held    = {\dut.half_step_q , \dut.precision_q , \dut.last_q , \dut.count_q , \dut.data_q };

  logic [WordBits-1:0] result;
  assign result = {half_step, precision, last, count, data};

  // The first cycle is one of reset, later ones may be; the count is within its range, and a short burst is marked.
  logic started_q = 1'b0;
  always @(posedge clk_i) started_q <= 1'b1;
  always @* begin
    if (!started_q) assume (!rst_ni);
    assume (burst_count_i <= BurstBytes);
    if (burst_count_i != 0 && burst_count_i != BurstBytes) assume (burst_last_i);
    if (track_i) assume (track_lane_i < burst_count_i && burst_precision_i != 0);
  end

  logic accept, taken;
  logic [7:0] entering, leaving;
  assign accept   = burst_valid_i & ready;
  assign taken    = valid & result_ready_i;
  assign entering = accept && burst_precision_i != 0 ? burst_count_i : 0;
  assign leaving  = taken ? count : 0;

  logic [7:0] inside_q = 0, lasts_q = 0;  // elements and lasts inside
  logic       tracking_q = 0;
  logic [7:0] ahead_q = 0, lasts_ahead_q = 0, code_q = 0;
  logic [2:0] tags_q = 0;
  logic       here;  // the tracked element is in the burst at the output
  assign here = tracking_q && ahead_q < count;
  // The burst that left last was neither full nor marked, and had these tags.
  logic       short_q = 0;
  logic [2:0] short_tags_q = 0;

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q   <= 0;
      lasts_q    <= 0;
      tracking_q <= 0;
      short_q    <= 0;
    end else begin
      inside_q <= inside_q + entering - leaving;
      lasts_q  <= lasts_q + (accept & burst_last_i) - (taken & last);
      if (taken) begin
        short_q      <= !full(result) && !last;
        short_tags_q <= {half_step, precision};
      end
      if (tracking_q) begin
        if (taken && here) tracking_q <= 0;
        ahead_q       <= ahead_q - leaving;
        lasts_ahead_q <= lasts_ahead_q - (taken & last);
      end else if (accept && track_i) begin
        tracking_q    <= 1;
        ahead_q       <= inside_q - leaving + track_lane_i;
        lasts_ahead_q <= lasts_q - (taken & last);
        tags_q        <= {mode == 0 && burst_precision_i != 1, burst_precision_i};
        code_q        <= converter_reference::view_of(burst_precision_i, mode, burst_clip_i, burst_shift_i,
                                                      burst_threshold_i, burst_data_i >> (track_lane_i * 8)) &
                         (burst_precision_i == 1 ? 8'hff : burst_precision_i == 2 ? 8'h0f : 8'h03);
      end
    end
  end

  always @* if (started_q) begin
    if (valid) begin
      // Never more elements or lasts than came in.
      assert (count <= inside_q);
      assert (last <= lasts_q);
      assert (well_formed(result));
      // A short burst without last was followed by an element of other tags.
      if (short_q) assert (count != 0 && {half_step, precision} != short_tags_q);
    end
    // The tracked element: place, code, tags, and no last overtaken.
    if (valid && here) begin
      assert (element(result, ahead_q) == code_q);
      assert ({half_step, precision} == tags_q);
      assert (lasts_ahead_q == 0);
    end
    if (tracking_q) assert (ahead_q < inside_q);

    // Invariants: counts, order, and the form of what is inside.
    assert (inside_q == (first_in ? count_of(first) : 0) + (second_in ? count_of(second) : 0) +
                        (held_in ? count_of(held) : 0));
    assert (lasts_q == (first_in & last_of(first)) + (second_in & last_of(second)) + (held_in & last_of(held)));
    assert (first_in || !second_in);
    if (first_in) assert (well_formed(first));
    if (second_in) assert (well_formed(second));
    if (held_in) begin
      assert (well_formed(held));
      assert (\dut.complete_q == (full(held) || last_of(held)));
      if (!\dut.complete_q ) begin
        assert (\dut.precision_q != 1 && (\dut.precision_q != 2 || !\dut.place_q [0]));
        assert (count_of(held) << 2 == (BurstBytes << density_of(held)) * \dut.place_q );
        assert (\dut.place_q != 0);
      end
    end
    // A short burst is followed by another with other tags.
    if (first_in && !full(first) && !last_of(first))
      assert (second_in ? count_of(second) != 0 && tags_of(second) != tags_of(first)
                        : held_in && count_of(held) != 0 && tags_of(held) != tags_of(first));
    if (second_in && !full(second) && !last_of(second))
      assert (held_in && count_of(held) != 0 && tags_of(held) != tags_of(second));
    if (short_q && !first_in) assert (held_in && count_of(held) != 0 && tags_of(held) != short_tags_q);
    if (tracking_q) begin
      if (first_in && ahead_q < count_of(first)) begin
        assert (element(first, ahead_q) == code_q && tags_of(first) == tags_q && lasts_ahead_q == 0);
      end else if (second_in && ahead_q - (first_in ? count_of(first) : 0) < count_of(second)) begin
        assert (element(second, ahead_q - count_of(first)) == code_q && tags_of(second) == tags_q);
        assert (lasts_ahead_q == last_of(first));
      end else begin
        assert (code_q ==
                element(held, ahead_q - (first_in ? count_of(first) : 0) - (second_in ? count_of(second) : 0)));
        assert (tags_of(held) == tags_q);
        assert (lasts_ahead_q == (first_in & last_of(first)) + (second_in & last_of(second)));
      end
    end
  end

  // Stable under stall; a burst per cycle while the output is taken; what is marked comes out.
  logic stalled_q = 0, flowing_q = 0, marked_q = 0;
  logic [WordBits-1:0] stalled_result_q;
  always @(posedge clk_i) begin
    stalled_q        <= rst_ni & valid & ~result_ready_i;
    flowing_q        <= rst_ni & result_ready_i;
    marked_q         <= rst_ni && lasts_q != 0;
    stalled_result_q <= result;
  end
  always @* if (started_q) begin
    if (stalled_q) assert (valid && result == stalled_result_q);
    if (flowing_q) assert (ready);
    if (marked_q && lasts_q != 0) assert (valid || flowing_q);
  end

  // The interesting cases exist.
  always @* if (started_q) begin
    cover (valid && here && precision == 2 && full(result) && ahead_q == 2 * BurstBytes - 1 && stalled_q);
    cover (valid && precision == 2 && !full(result) && !last && taken);
    cover (valid && count == 0);
    cover (!ready && inside_q == 3 * BurstBytes);
  end

endmodule
