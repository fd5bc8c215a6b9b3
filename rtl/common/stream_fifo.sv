// First-in first-out buffer of a valid/ready stream. Depth 2, the default, cuts every combinational path of a stream
// at full speed (what is also called a skid buffer).
//
// Handshake. A word passes on either side in a cycle in which valid and ready of that side are high at the rising
// clock edge. in_ready_o, out_valid_o and out_data_o come from registers: no path leads from an input to an output.
// Ready does not wait for valid, valid does not wait for ready. Once out_valid_o is high, it and out_data_o hold until
// the word is taken. In-data needs to be stable around the clock edge only.
//
// Order is kept, nothing is lost or doubled. Full: in_ready_o is low, also in a cycle in which a word leaves. Empty:
// a word that enters leaves in a later cycle.
//
// Latency 1 cycle. Throughput one word per cycle for Depth 2 or more, one per two cycles for Depth 1.
// Reset is synchronous, active low, and may come at any time: it empties the buffer; data is not reset. Inputs are
// ignored while it is low.
//
// Cost: Depth * (Width + 1) registers, and a 2:1 multiplexer for each but the last word's. Words move towards entry 0, the output.
module stream_fifo #(
  // Bits of a word, 1 or more.
  parameter int Width = 32,
  // Words held, 1 or more.
  parameter int Depth = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] in_data_i,

  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);

`ifdef __ICARUS__
  // Icarus 11 knows no elaboration tasks.
  initial begin
    if (Width < 1) $fatal(1, "stream_fifo: Width must be 1 or more");
    if (Depth < 1) $fatal(1, "stream_fifo: Depth must be 1 or more");
  end
`else
  if (Width < 1) begin : gen_illegal_width
    $error("stream_fifo: Width must be 1 or more");
  end
  if (Depth < 1) begin : gen_illegal_depth
    $error("stream_fifo: Depth must be 1 or more");
  end
`endif

  // Entry i holds a word when used_q[i] is high; the ones are contiguous from entry 0.
  logic [Depth-1:0]       used_q;
  logic [Depth*Width-1:0] entry_q;
  // Which still do after the word at the output has left, if it does.
  logic [Depth-1:0]       kept;
  logic                   push, pop;

  assign in_ready_o  = ~used_q[Depth-1];
  assign out_valid_o = used_q[0];
  assign out_data_o  = entry_q[Width-1:0];
  assign push        = in_valid_i & in_ready_o;
  assign pop         = out_valid_o & out_ready_i;
  assign kept        = pop ? used_q >> 1 : used_q;

  for (genvar i = 0; i < Depth; i++) begin : gen_entry
    // Where a word comes from that moves on; nowhere for the last.
    localparam int From = i < Depth - 1 ? i + 1 : i;
    logic fill;
    if (i == 0) begin : gen_first
      assign fill = push & ~kept[i];
    end else begin : gen_later
      assign fill = push & ~kept[i] & kept[i-1];
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) used_q[i] <= 1'b0;
      else used_q[i] <= kept[i] | fill;
    end
    always_ff @(posedge clk_i) begin
      if (fill) entry_q[i*Width+:Width] <= in_data_i;
      else if (pop) entry_q[i*Width+:Width] <= entry_q[From*Width+:Width];
    end
  end

endmodule
