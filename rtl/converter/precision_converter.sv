// Precision converter of the memory side: bursts of q8 codes in, bursts of packed p-bit codes out.
//
// An input burst holds up to BurstBytes codes under one view descriptor; converter_pkg gives the code of each element.
// An output burst holds codes of one precision, packed little-endian: element i in bits [i p, (i + 1) p). It is full
// after one input burst with p = 8, two with p = 4, four with p = 2.
//
// Handshake. A burst passes on either side in a cycle in which valid and ready of that side are high at the rising
// clock edge. All outputs come from registers: no path leads from an input to an output. Ready does not wait for valid.
// An output burst holds until taken. Inputs need to be stable around the clock edge only.
//
// Input burst. Elements 0 to burst_count_i - 1 are converted. The descriptor may change with every burst. last marks
// the end of a run; a burst with fewer than BurstBytes elements must be marked, unless it holds none.
// Output burst. Elements leave in the order in which they came. An output burst ends when it is full, when last was
// reached, or when the next input burst has another precision or half-step; result_count_o says how many elements it
// holds, the bits after them are 0. result_precision_o and result_half_step_o are the array's tags of these elements.
// clip, shift and threshold may differ within an output burst: they change how a code is found, not how it is read.
// Nothing. A burst with precision q0 or count 0 delivers no elements and ends no output burst, unless it is marked.
// Every last that enters leaves once: on the output burst that is being filled, or, if there is none, on a burst of its
// own with count 0 and precision q0.
//
// Timing: one input burst per cycle, whatever precisions follow each other, while the output is taken. An input burst
// accepted in cycle t leaves in cycle t + 2 at the earliest if it completes its output burst. An output burst that is
// neither full nor ended stays inside until one of the reasons above; reset drops it.
// Reset is synchronous, active low, and may come at any time: all bursts inside are dropped. Inputs are ignored while
// it is low.
//
// Cost: BurstBytes converters, three output bursts of registers.
module precision_converter #(
  // Codes of an input burst and bytes of an output burst, 1 or more.
  parameter int BurstBytes = 32
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,

  input  logic                              burst_valid_i,
  output logic                              burst_ready_o,
  // Element 0 in the low bits.
  input  logic [BurstBytes*8-1:0]           burst_data_i,
  // 0 to BurstBytes.
  input  logic [$clog2(BurstBytes+1)-1:0]   burst_count_i,
  input  logic                              burst_last_i,
  // View descriptor; encodings in converter_pkg.
  input  logic [1:0]                        burst_precision_i,
  input  logic [1:0]                        burst_mode_i,
  input  logic [6:0]                        burst_clip_i,
  input  logic [2:0]                        burst_shift_i,
  input  logic [6:0]                        burst_threshold_i,

  output logic                              result_valid_o,
  input  logic                              result_ready_i,
  output logic [BurstBytes*8-1:0]           result_data_o,
  // 0 to 4 * BurstBytes.
  output logic [$clog2(4*BurstBytes+1)-1:0] result_count_o,
  output logic                              result_last_o,
  output logic [1:0]                        result_precision_o,
  output logic                              result_half_step_o
);

`ifdef __ICARUS__
  // Icarus 11 knows no elaboration tasks.
  initial begin
    if (BurstBytes < 1) $fatal(1, "precision_converter: BurstBytes must be 1 or more");
  end
`else
  if (BurstBytes < 1) begin : gen_illegal_burst_bytes
    $error("precision_converter: BurstBytes must be 1 or more");
  end
`endif

  localparam int BurstBits = BurstBytes * 8;
  localparam int CountBits = $clog2(4 * BurstBytes + 1);
  localparam int InCountBits = $clog2(BurstBytes + 1);
  localparam int WordBits = BurstBits + CountBits + 4;

  // The input burst, converted, one element per byte and packed from bit 0 for each precision.
  logic [BurstBits-1:0]   as_q8;
  logic [BurstBits/2-1:0] as_q4;
  logic [BurstBits/4-1:0] as_q2;

  for (genvar i = 0; i < BurstBytes; i++) begin : gen_element
    logic [7:0] code;
    assign code = burst_count_i <= InCountBits'(i)
        ? 8'd0
        : converter_pkg::convert_code(burst_precision_i, burst_mode_i, burst_clip_i, burst_shift_i, burst_threshold_i,
                                      burst_data_i[i*8+:8]);
    assign as_q8[i*8+:8] = code;
    assign as_q4[i*4+:4] = code[3:0];
    assign as_q2[i*2+:2] = code[1:0];
  end

  // The output burst being filled. Its place is the quarter (of the bits) at which the next input burst goes; it is
  // complete when nothing may be added any more.
  logic                 open_q, complete_q, last_q, half_step_q;
  logic [1:0]           precision_q, place_q;
  logic [CountBits-1:0] count_q;
  logic [BurstBits-1:0] data_q;

  logic                 accept, has_elements, half_step, joins, starts, marks, leaves, fills;
  logic [1:0]           place, next_place;
  logic [CountBits-1:0] burst_count;
  logic [BurstBits-1:0] placed;

  // Space for the burst being filled, once it has to leave; if there is any, an input burst can be accepted too.
  logic out_ready;

  assign burst_ready_o = out_ready;
  assign accept        = burst_valid_i & out_ready;
  assign has_elements  = burst_precision_i != converter_pkg::PrecisionQ0 && burst_count_i != '0;
  assign half_step     = converter_pkg::half_step(burst_precision_i, burst_mode_i);
  assign burst_count   = CountBits'(burst_count_i);

  // An accepted burst adds its elements to the open output burst, starts another, only marks the open one, or (q0
  // without last) vanishes.
  assign joins  = accept & has_elements & open_q & ~complete_q & precision_q == burst_precision_i &
                  half_step_q == half_step;
  assign marks  = accept & ~has_elements & burst_last_i & open_q & ~complete_q;
  assign starts = accept & (has_elements | burst_last_i) & ~joins & ~marks;
  assign leaves = open_q & out_ready & (complete_q | starts);

  assign place      = joins ? place_q : 2'd0;
  assign next_place = place + (burst_precision_i == converter_pkg::PrecisionQ2 ? 2'd1 : 2'd2);
  assign fills      = burst_precision_i == converter_pkg::PrecisionQ8 || next_place == 2'd0;

  // In quarters of the burst: q2 goes to any of four, q4 to place 0 or 2, q8 to 0.
  assign placed = burst_precision_i == converter_pkg::PrecisionQ8 ? as_q8
                : burst_precision_i == converter_pkg::PrecisionQ4
                    ? (place[1] ? {as_q4, {BurstBits/2{1'b0}}} : {{BurstBits/2{1'b0}}, as_q4})
                : burst_precision_i == converter_pkg::PrecisionQ2
                    ? {place == 2'd3 ? as_q2 : {BurstBits/4{1'b0}}, place == 2'd2 ? as_q2 : {BurstBits/4{1'b0}},
                       place == 2'd1 ? as_q2 : {BurstBits/4{1'b0}}, place == 2'd0 ? as_q2 : {BurstBits/4{1'b0}}}
                : {BurstBits{1'b0}};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q     <= 1'b0;
      complete_q <= 1'b0;
    end else if (joins | starts | marks) begin
      open_q     <= 1'b1;
      complete_q <= burst_last_i | fills & has_elements;
    end else if (leaves) begin
      open_q     <= 1'b0;
      complete_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (starts) begin
      data_q      <= placed;
      count_q     <= has_elements ? burst_count : '0;
      precision_q <= has_elements ? burst_precision_i : converter_pkg::PrecisionQ0;
      half_step_q <= has_elements & half_step;
      place_q     <= next_place;
      last_q      <= burst_last_i;
    end else if (joins) begin
      data_q  <= data_q | placed;
      count_q <= count_q + burst_count;
      place_q <= next_place;
      last_q  <= burst_last_i;
    end else if (marks) begin
      last_q <= 1'b1;
    end
  end

  stream_fifo #(
    .Width(WordBits),
    .Depth(2)
  ) u_output (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .in_valid_i (leaves),
    .in_ready_o (out_ready),
    .in_data_i  ({half_step_q, precision_q, last_q, count_q, data_q}),
    .out_valid_o(result_valid_o),
    .out_ready_i(result_ready_i),
    .out_data_o ({result_half_step_o, result_precision_o, result_last_o, result_count_o, result_data_o})
  );

endmodule
