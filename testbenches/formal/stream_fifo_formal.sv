// Proof obligations of stream_fifo: what leaves is what entered, in order, once; and outputs hold under stall.
//
// The specification is a count of the words inside and one tracked word: an arbitrary accepted word is remembered with
// the number of words before it, and must be at the output when those have left. As the choice is free, this holds for
// every word. The invariants that tie the count to the buffer's own state make the induction step work for any length
// of run.
module stream_fifo_formal #(
  parameter int Width = 4,
  parameter int Depth = 2
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             in_valid_i,
  input logic [Width-1:0] in_data_i,
  input logic             out_ready_i,
  // Chooses the word to track.
  input logic             track_i
);

  logic in_ready, out_valid;
  logic [Width-1:0] out_data;

  stream_fifo #(.Width(Width), .Depth(Depth)) dut (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(in_valid_i), .in_ready_o(in_ready), .in_data_i(in_data_i),
    .out_valid_o(out_valid), .out_ready_i(out_ready_i), .out_data_o(out_data)
  );

  // The buffer's own state, joined when the design is flattened.
  (* hierconn *) wire [Depth-1:0] \dut.used_q ;
  (* hierconn *) wire [Depth*Width-1:0] \dut.entry_q ;

  // The first cycle is one of reset, later ones may be.
  logic started_q = 1'b0;
  always @(posedge clk_i) started_q <= 1'b1;
  always @* if (!started_q) assume (!rst_ni);

  logic push, pop;
  assign push = in_valid_i & in_ready;
  assign pop  = out_valid & out_ready_i;

  logic [7:0]       inside_q = 0, ahead_q = 0;
  logic             tracking_q = 0;
  logic [Width-1:0] tracked_q = 0;
  always @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q   <= 0;
      tracking_q <= 0;
    end else begin
      inside_q <= inside_q + push - pop;
      if (tracking_q) begin
        if (pop) ahead_q <= ahead_q - 1;
        if (pop && ahead_q == 0) tracking_q <= 0;
      end else if (push && track_i) begin
        tracking_q <= 1;
        tracked_q  <= in_data_i;
        ahead_q    <= inside_q - pop;
      end
    end
  end

  always @* if (started_q) begin
    // Nothing lost or doubled: valid and ready tell exactly whether a word is inside and whether there is space.
    assert (out_valid == (inside_q != 0));
    assert (in_ready == (inside_q != Depth));
    assert (inside_q <= Depth);
    // Order and value.
    if (tracking_q && ahead_q == 0) assert (out_data == tracked_q);
    // Invariants.
    assert (\dut.used_q == (1 << inside_q) - 1);
    if (tracking_q) begin
      assert (ahead_q < inside_q);
      assert (((\dut.entry_q >> (ahead_q * Width)) & {Width{1'b1}}) == tracked_q);
    end
  end

  // Stable under stall.
  logic             stalled_q = 0;
  logic [Width-1:0] stalled_data_q = 0;
  always @(posedge clk_i) begin
    stalled_q      <= rst_ni & out_valid & ~out_ready_i;
    stalled_data_q <= out_data;
  end
  always @* if (stalled_q) begin
    assert (out_valid);
    assert (out_data == stalled_data_q);
  end

  // The interesting cases exist: a tracked word waits behind others in a full buffer, and leaves.
  always @* if (started_q) begin
    cover (tracking_q && !in_ready && ahead_q == Depth - 1);
    cover (tracking_q && pop && ahead_q == 0 && push);
  end

endmodule
