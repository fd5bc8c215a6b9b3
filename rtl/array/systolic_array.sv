// Input-stationary systolic array: out[c] = preset[c] + sum over r of data[r] * stationary[bank][r][c].
//
// Rows are reduction indices, columns are tokens. The stationary operand is BF16 and sits in banks of Rows times
// Columns registers. Vectors of Rows elements (BF16, q8, q4 or q2) stream through from the left and meet Columns
// partial sums (binary32) on their way down. Every element adds one product, rounded to binary32, to the passing sum,
// rounded to binary32 (numeric_pkg): per column this is one chain of additions in ascending row order, started from the
// preset. A code is multiplied as the integer that numeric_pkg::code_value gives for it, which BF16 holds exactly.
//
// Beats. A beat of the stream is one lane of LaneBits per row and a tag: bank, format, half step and number of vectors.
//
//   format  vectors in a beat     element of vector j in a lane
//   bf16    1                     all 16 bits; with LaneBits = 8 a vector takes two bf16 beats, low bytes, then high
//   q8      1                     bits 7:0
//   q4      1, Packing: 1 to 2    bits 4j+3:4j
//   q2      1, Packing: 1 to 4    bits 2j+1:2j
//
// stream_more_i must stay within the table; without Packing it is ignored. Bits that the table does not name are
// ignored. Vectors are packed across the stream, never along the reduction, so packing changes no bit of a result.
// Vector j of a beat has its own partial sums (slot j of presets and results), the vectors of a beat share bank and
// tag. The tag may change with every beat; of the two beats of a bf16 vector the second one's bank and presets count,
// and beats of other formats may come between them.
//
// Handshake. A beat passes in a cycle in which valid and ready of its channel are high at the rising clock edge. When
// results are not taken the whole array stops: both ready outputs go low together and nothing moves. Otherwise both
// inputs accept a beat in every cycle. Ready never waits for valid. Inputs need to be stable around the clock edge
// only; result_data_o and result_more_o hold until taken.
//   OutputBuffer = 0: ready is low while a result is presented and not taken, combinationally from result_ready_i.
//   OutputBuffer = 1: results pass a stream_fifo of two words; ready is low while it is full, straight from a register.
//
// Timing, in cycles that are not stalled, P being AdderStages. A vector whose last beat is accepted in cycle t gives
// its result in cycle t + Rows * P + Columns + 1 (one later with OutputBuffer = 1), one beat of results per cycle at
// most. Results leave in the order of the vectors, all columns and all vectors of a beat together: skew and deskew are
// inside. The element in row r, column c multiplies in cycle t + r * P + c. It uses what was loaded into its row before
// that cycle, so row r must be loaded before cycle t + r * P.
//
// Loads. load_active_i says whether a row takes part: an inactive row contributes -0, which leaves every sum as it is
// (a NaN becomes canonical), so a partial fold needs neither padding nor a second pass. All rows of all banks are
// inactive after reset. The loader must not write row r of a bank before cycle t + r * P + Columns, t being the cycle
// of the last beat that uses the bank. load_row_i must be less than Rows. With one bank both bank inputs are ignored.
//
// Reset is synchronous, active low, and may come at any time: no vector in flight survives it, nor the first half of
// one. Inputs are ignored while it is low.
//
// Form. All state of the elements is in planes updated by loops in one process, in an order that reads old values
// before they are overwritten: Verilator then shares one piece of (vectorised) code among all elements. No other
// process reads the planes; ports are driven by registers with non-blocking assignments. A slot, and in it a row, that
// holds no vector keeps its state. Yosys reads the same planes with the arithmetic as wires beside the process, one
// expression per element (SYSTOLIC_ARRAY_WIRES), because its time grows with the square of a process; testbenches/rtl
// runs both readings on one stimulus.
`ifdef YOSYS
  `define SYSTOLIC_ARRAY_WIRES
`endif
module systolic_array #(
  // Reduction indices per fold, 1 or more.
  parameter int Rows         = 16,
  // Tokens, 1 or more.
  parameter int Columns      = 16,
  // Bits of a row's lane of the stream, 8 or 16.
  parameter int LaneBits     = 16,
  // 1: four slots of partial sums for beats of several narrow vectors. 0: one.
  parameter int Packing      = 0,
  // Cycles of the binary32 addition, 1 to 3. A vector may enter in every cycle whatever their number.
  parameter int AdderStages  = 1,
  // Copies of the stationary operand, 1 or 2: with two, one is loaded while the other works.
  parameter int Banks        = 2,
  // 1: registered ready, one cycle more to the result.
  parameter int OutputBuffer = 0
) (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,

  // One row of stationary values, column 0 in the low bits.
  input  logic                                        load_valid_i,
  output logic                                        load_ready_o,
  input  logic                                        load_bank_i,
  input  logic [(Rows > 1 ? $clog2(Rows) : 1)-1:0]    load_row_i,
  input  logic                                        load_active_i,
  input  logic [Columns*16-1:0]                       load_data_i,

  // One beat, row 0 in the low bits, and the sums its vectors start from: slot 0 in the low bits, in a slot column 0.
  input  logic                                        stream_valid_i,
  output logic                                        stream_ready_o,
  input  logic                                        stream_bank_i,
  input  logic [1:0]                                  stream_format_i,     // numeric_pkg::Format*
  input  logic                                        stream_half_step_i,  // of q4 and q2
  input  logic [1:0]                                  stream_more_i,       // vectors in the beat beyond the first
  input  logic [Rows*LaneBits-1:0]                    stream_data_i,
  input  logic [(Packing != 0 ? 4 : 1)*Columns*32-1:0] stream_preset_i,

  // The sums of one beat in the order of the presets; slots beyond result_more_o are undefined.
  output logic                                        result_valid_o,
  input  logic                                        result_ready_i,
  output logic [1:0]                                  result_more_o,
  output logic [(Packing != 0 ? 4 : 1)*Columns*32-1:0] result_data_o
);

`ifdef __ICARUS__
  // Icarus 11 knows no elaboration tasks.
  initial begin
    if (Rows < 1) $fatal(1, "systolic_array: Rows must be 1 or more");
    if (Columns < 1) $fatal(1, "systolic_array: Columns must be 1 or more");
    if (LaneBits != 8 && LaneBits != 16) $fatal(1, "systolic_array: LaneBits must be 8 or 16");
    if (Packing != 0 && Packing != 1) $fatal(1, "systolic_array: Packing must be 0 or 1");
    if (AdderStages < 1 || AdderStages > 3) $fatal(1, "systolic_array: AdderStages must be 1, 2 or 3");
    if (Banks != 1 && Banks != 2) $fatal(1, "systolic_array: Banks must be 1 or 2");
    if (OutputBuffer != 0 && OutputBuffer != 1) $fatal(1, "systolic_array: OutputBuffer must be 0 or 1");
  end
`else
  if (Rows < 1) begin : gen_illegal_rows
    $error("systolic_array: Rows must be 1 or more");
  end
  if (Columns < 1) begin : gen_illegal_columns
    $error("systolic_array: Columns must be 1 or more");
  end
  if (LaneBits != 8 && LaneBits != 16) begin : gen_illegal_lane_bits
    $error("systolic_array: LaneBits must be 8 or 16");
  end
  if (Packing != 0 && Packing != 1) begin : gen_illegal_packing
    $error("systolic_array: Packing must be 0 or 1");
  end
  if (AdderStages < 1 || AdderStages > 3) begin : gen_illegal_adder_stages
    $error("systolic_array: AdderStages must be 1, 2 or 3");
  end
  if (Banks != 1 && Banks != 2) begin : gen_illegal_banks
    $error("systolic_array: Banks must be 1 or 2");
  end
  if (OutputBuffer != 0 && OutputBuffer != 1) begin : gen_illegal_output_buffer
    $error("systolic_array: OutputBuffer must be 0 or 1");
  end
`endif

  localparam int P     = AdderStages;
  localparam int Slots = Packing != 0 ? 4 : 1;
  // Cycles from a vector's last beat to its results at the bottom row's last column, one less than to the result port.
  localparam int Depth = Rows * P + Columns;
  // Delays of the stream before column 0; row r uses r * P of them.
  localparam int Skew  = Rows * P;
  localparam int Sums  = Columns * 32;

  // valid_q[j*Depth + d]: a vector was accepted in slot j d + 1 unstalled cycles ago. Its element in row r, column c
  // multiplied when it was in valid_d[r*P + c] and is in stage s of the addition (from 0) when it is in
  // valid_q[r*P + c + s].
  logic [Slots*Depth-1:0] valid_d, valid_q;
  logic                   advance;
  logic                   starts;  // the beat on the stream is the last one of its vectors
  logic [Rows*16-1:0]     bf16;    // its elements in bf16

  // The planes. Yosys keeps each as registers, not as a memory.
  // Stationary operand, and which rows take part; row r of bank b has index b*Rows + r.
  (* mem2reg *) logic [15:0] bank_q   [0:Banks*Rows-1][0:Columns-1];
  (* mem2reg *) logic        active_q [0:Banks*Rows-1];
  // Streamed elements as BF16 and the bank they use: first delayed by P cycles per row, then moving right by one column
  // per cycle. The bank is kept as wide as the element so that both move alike.
  (* mem2reg *) logic [15:0] skew_q        [0:Slots*Skew-1][0:Rows-1];
  (* mem2reg *) logic [15:0] skew_bank_q   [0:Skew-1];
  (* mem2reg *) logic [15:0] stream_q      [0:Slots*Rows-1][0:Columns-1];
  (* mem2reg *) logic [15:0] stream_bank_q [0:Rows-1][0:Columns-1];
  // Products, and sums moving down by one row every P cycles. Between the stages of an addition are two words: larger
  // and added with two stages; larger and aligned, then base and normal with three.
  (* mem2reg *) logic [31:0] product_q [0:Slots*Rows-1][0:Columns-1];
  (* mem2reg *) logic [31:0] larger_q  [0:Slots*Rows-1][0:Columns-1];
  (* mem2reg *) logic [31:0] second_q  [0:Slots*Rows-1][0:Columns-1];
  (* mem2reg *) logic [31:0] base_q    [0:Slots*Rows-1][0:Columns-1];
  (* mem2reg *) logic [31:0] normal_q  [0:Slots*Rows-1][0:Columns-1];
  (* mem2reg *) logic [31:0] sum_q     [0:Slots*Rows-1][0:Columns-1];
  // Presets wait c + 1 cycles for column c, results Columns - 1 - c; the rest of these planes is never read.
  (* mem2reg *) logic [31:0] preset_q [0:Slots*Columns-1][0:Columns-1];
  (* mem2reg *) logic [31:0] deskew_q [0:Slots*Columns-1][0:Columns-1];
  // The result register.
  logic                  out_valid_q;
  logic [1:0]            out_more_d, out_more_q;
  logic [Slots*Sums-1:0] out_data_q;

`ifndef SYSTOLIC_ARRAY_WIRES
  // Values of one element or row inside the process, without memory.
  logic [7:0]  code;
  logic [15:0] value_0, value_1, active_0, active_1, bank;
  logic [31:0] product, larger, aligned, added, up;
  logic [31:0] above [0:Columns-1];
`endif

  assign load_ready_o   = advance;
  assign stream_ready_o = advance;

  // Lanes of one byte: the low bytes of a bf16 vector wait for the high ones.
  if (LaneBits == 8) begin : gen_byte_lanes
    logic              low_valid_q;
    logic [Rows*8-1:0] low_q;
    logic              is_bf16;
    assign is_bf16 = stream_format_i == numeric_pkg::FormatBf16;
    assign starts  = stream_valid_i & (low_valid_q | ~is_bf16);
    for (genvar r = 0; r < Rows; r++) begin : gen_row
      assign bf16[r*16+:16] = {stream_data_i[r*8+:8], low_q[r*8+:8]};
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        low_valid_q <= 1'b0;
      end else if (advance && stream_valid_i && is_bf16) begin
        low_valid_q <= ~low_valid_q;
        low_q       <= stream_data_i;
      end
    end
  end else begin : gen_word_lanes
    assign starts = stream_valid_i;
    assign bf16   = stream_data_i;
  end

  for (genvar j = 0; j < Slots; j++) begin : gen_slot
    logic filled;
    if (j == 0) begin : gen_first
      assign filled = starts;
    end else begin : gen_other
      assign filled = starts & (stream_more_i >= j);
    end
    assign valid_d[j*Depth+:Depth] = {valid_q[j*Depth+:Depth-1], filled};
  end
  if (Packing != 0) begin : gen_more
    // A beat fills slots from 0 upwards.
    assign out_more_d = {valid_q[3*Depth-1], valid_q[4*Depth-1] | (valid_q[2*Depth-1] & ~valid_q[3*Depth-1])};
  end else begin : gen_one
    // verilator lint_off UNUSEDSIGNAL
    logic unused_more;
    assign unused_more = ^stream_more_i;
    // verilator lint_on UNUSEDSIGNAL
    assign out_more_d = 2'd0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q     <= '0;
      out_valid_q <= 1'b0;
    end else if (advance) begin
      valid_q     <= valid_d;
      out_valid_q <= valid_q[Depth-1];
      out_more_q  <= out_more_d;
    end
  end

  if (OutputBuffer != 0) begin : gen_output_buffer
    stream_fifo #(
      .Width(Slots * Sums + 2),
      .Depth(2)
    ) u_buffer (
      .clk_i,
      .rst_ni,
      .in_valid_i (out_valid_q),
      .in_ready_o (advance),
      .in_data_i  ({out_more_q, out_data_q}),
      .out_valid_o(result_valid_o),
      .out_ready_i(result_ready_i),
      .out_data_o ({result_more_o, result_data_o})
    );
  end else begin : gen_stall
    assign advance        = ~out_valid_q | result_ready_i;
    assign result_valid_o = out_valid_q;
    assign result_more_o  = out_more_q;
    assign result_data_o  = out_data_q;
  end

`ifdef SYSTOLIC_ARRAY_WIRES
  // The arithmetic as wires beside the process, element (r, c) of slot j at index (j*Rows + r)*Columns + c.
  localparam int Elements = Slots * Rows * Columns;
  logic [Slots*Rows*16-1:0] element_w;
  logic [Elements*32-1:0]   product_w, sum_w, larger_w, second_w, base_w, normal_w;
  for (genvar x = 0; x < Slots * Rows; x++) begin : gen_wires
    localparam int J = x / Rows;
    localparam int R = x % Rows;
    logic [7:0] lane, code;
    assign lane = stream_data_i[R*LaneBits+:8];
    assign code = stream_format_i == numeric_pkg::FormatQ2 ? lane >> (2 * J) :
                  stream_format_i == numeric_pkg::FormatQ4 ? lane >> (4 * J) : lane;
    assign element_w[x*16+:16] = stream_format_i == numeric_pkg::FormatBf16
        ? bf16[R*16+:16]
        : numeric_pkg::q8_to_bf16(numeric_pkg::code_value(stream_format_i, stream_half_step_i, code));
    for (genvar c = 0; c < Columns; c++) begin : gen_column
      localparam int E = (x * Columns + c) * 32;
      // What the process has in stream_q, stream_bank_q and above when it multiplies and adds.
      logic [15:0] streamed, bank, value, active;
      logic [31:0] above, larger, aligned, added, up;
      if (c > 0) begin : gen_left
        assign streamed = stream_q[x][c-1];
        assign bank     = Banks == 2 ? stream_bank_q[R][c-1] : 16'd0;
      end else if (R > 0) begin : gen_skew
        assign streamed = skew_q[J*Skew+R*P-1][R];
        assign bank     = Banks == 2 ? skew_bank_q[R*P-1] : 16'd0;
      end else begin : gen_edge
        assign streamed = element_w[x*16+:16];
        assign bank     = Banks == 2 ? {15'd0, stream_bank_i} : 16'd0;
      end
      assign value  = bank != 16'd0 ? bank_q[(Banks-1)*Rows+R][c] : bank_q[R][c];
      assign active = {15'd0, bank != 16'd0 ? active_q[(Banks-1)*Rows+R] : active_q[R]};
      assign product_w[E+:32] = active != 16'd0
          ? numeric_pkg::bf16_multiply(streamed, value) : numeric_pkg::Fp32MinusZero;
      if (R > 0) begin : gen_sum_above
        assign above = sum_q[x-1][c];
      end else begin : gen_preset_above
        assign above = preset_q[J*Columns+c][c];
      end
      assign larger  = numeric_pkg::fp32_larger(above, product_q[x][c]);
      assign aligned = numeric_pkg::fp32_aligned(above, product_q[x][c]);
      assign larger_w[E+:32] = larger;
      if (P == 3) begin : gen_three
        assign second_w[E+:32] = aligned;
        assign added           = numeric_pkg::fp32_added(larger_q[x][c], second_q[x][c]);
        assign up              = numeric_pkg::fp32_up(larger_q[x][c], added);
        assign base_w[E+:32]   = numeric_pkg::fp32_base(larger_q[x][c], added, up);
        assign normal_w[E+:32] = numeric_pkg::fp32_normal(added, up);
        assign sum_w[E+:32]    = numeric_pkg::fp32_round(base_q[x][c], normal_q[x][c]);
      end else begin : gen_fewer
        assign up              = 32'd0;
        assign base_w[E+:32]   = 32'd0;
        assign normal_w[E+:32] = 32'd0;
        assign added           = numeric_pkg::fp32_added(larger, aligned);
        assign second_w[E+:32] = added;
        assign sum_w[E+:32]    = P == 2 ? numeric_pkg::fp32_normal_round(larger_q[x][c], second_q[x][c])
                                        : numeric_pkg::fp32_normal_round(larger, added);
      end
    end
  end
`endif

  // Blocking assignments: see "Form" above.
  /* verilator lint_off BLKSEQ */
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned r = 0; r < Banks * Rows; r++) begin
        active_q[r] = 1'b0;
      end
    end else if (advance) begin
      for (int unsigned j = 0; j < Slots; j++) begin
        if (valid_q[j*Depth+:Depth] != '0 || valid_d[j*Depth]) begin
          // Results: the bottom row, columns delayed until the last one is there.
          for (int unsigned d = Columns - 1; d > 0; d--) begin
            for (int unsigned c = 0; c < Columns; c++) begin
              deskew_q[j*Columns+d][c] = deskew_q[j*Columns+d-1][c];
            end
          end
          for (int unsigned c = 0; c < Columns; c++) begin
            deskew_q[j*Columns][c] = sum_q[j*Rows+Rows-1][c];
          end
          for (int unsigned c = 0; c < Columns; c++) begin
            out_data_q[j*Sums+c*32+:32] <= deskew_q[j*Columns+Columns-1-c][c];
          end

          // Additions, bottom row first, in a row the last stage first.
          for (int unsigned r = Rows - 1; r < Rows; r--) begin
            if (valid_q[j*Depth+r*P+:Columns+P-1] != '0) begin
`ifdef SYSTOLIC_ARRAY_WIRES
              for (int unsigned c = 0; c < Columns; c++) begin
                sum_q[j*Rows+r][c]    = sum_w[((j*Rows+r)*Columns+c)*32+:32];
                larger_q[j*Rows+r][c] = larger_w[((j*Rows+r)*Columns+c)*32+:32];
                second_q[j*Rows+r][c] = second_w[((j*Rows+r)*Columns+c)*32+:32];
                base_q[j*Rows+r][c]   = base_w[((j*Rows+r)*Columns+c)*32+:32];
                normal_q[j*Rows+r][c] = normal_w[((j*Rows+r)*Columns+c)*32+:32];
              end
`else
              if (r == 0) begin
                for (int unsigned c = 0; c < Columns; c++) begin
                  above[c] = preset_q[j*Columns+c][c];
                end
              end else begin
                for (int unsigned c = 0; c < Columns; c++) begin
                  above[c] = sum_q[j*Rows+r-1][c];
                end
              end
              for (int unsigned c = 0; c < Columns; c++) begin
                if (P == 1) begin
                  sum_q[j*Rows+r][c] = numeric_pkg::fp32_add(above[c], product_q[j*Rows+r][c]);
                end
                if (P == 2) begin
                  sum_q[j*Rows+r][c]    = numeric_pkg::fp32_normal_round(larger_q[j*Rows+r][c], second_q[j*Rows+r][c]);
                  larger                = numeric_pkg::fp32_larger(above[c], product_q[j*Rows+r][c]);
                  aligned               = numeric_pkg::fp32_aligned(above[c], product_q[j*Rows+r][c]);
                  larger_q[j*Rows+r][c] = larger;
                  second_q[j*Rows+r][c] = numeric_pkg::fp32_added(larger, aligned);
                end
                if (P == 3) begin
                  sum_q[j*Rows+r][c]    = numeric_pkg::fp32_round(base_q[j*Rows+r][c], normal_q[j*Rows+r][c]);
                  larger                = larger_q[j*Rows+r][c];
                  added                 = numeric_pkg::fp32_added(larger, second_q[j*Rows+r][c]);
                  up                    = numeric_pkg::fp32_up(larger, added);
                  base_q[j*Rows+r][c]   = numeric_pkg::fp32_base(larger, added, up);
                  normal_q[j*Rows+r][c] = numeric_pkg::fp32_normal(added, up);
                  larger_q[j*Rows+r][c] = numeric_pkg::fp32_larger(above[c], product_q[j*Rows+r][c]);
                  second_q[j*Rows+r][c] = numeric_pkg::fp32_aligned(above[c], product_q[j*Rows+r][c]);
                end
              end
`endif
            end
          end
          for (int unsigned d = Columns - 1; d > 0; d--) begin
            for (int unsigned c = 0; c < Columns; c++) begin
              preset_q[j*Columns+d][c] = preset_q[j*Columns+d-1][c];
            end
          end
          for (int unsigned c = 0; c < Columns; c++) begin
            preset_q[j*Columns][c] = stream_preset_i[j*Sums+c*32+:32];
          end

          // Streamed elements: skew, then to the right.
          for (int unsigned d = Skew - 1; d > 0; d--) begin
            for (int unsigned r = 0; r < Rows; r++) begin
              skew_q[j*Skew+d][r] = skew_q[j*Skew+d-1][r];
            end
          end
          for (int unsigned r = 0; r < Rows; r++) begin
`ifdef SYSTOLIC_ARRAY_WIRES
            skew_q[j*Skew][r] = element_w[(j*Rows+r)*16+:16];
`else
            code = stream_data_i[r*LaneBits+:8];
            code = stream_format_i == numeric_pkg::FormatQ2 ? code >> (2 * j) :
                   stream_format_i == numeric_pkg::FormatQ4 ? code >> (4 * j) : code;
            skew_q[j*Skew][r] = stream_format_i == numeric_pkg::FormatBf16
                ? bf16[r*16+:16]
                : numeric_pkg::q8_to_bf16(numeric_pkg::code_value(stream_format_i, stream_half_step_i, code));
`endif
          end
          for (int unsigned r = 0; r < Rows; r++) begin
            for (int unsigned c = Columns - 1; c > 0; c--) begin
              stream_q[j*Rows+r][c] = stream_q[j*Rows+r][c-1];
            end
            stream_q[j*Rows+r][0] = skew_q[j*Skew+r*P][r];
          end
          if (Banks == 2 && j == 0) begin
            for (int unsigned d = Skew - 1; d > 0; d--) begin
              skew_bank_q[d] = skew_bank_q[d-1];
            end
            skew_bank_q[0] = {15'd0, stream_bank_i};
            for (int unsigned r = 0; r < Rows; r++) begin
              for (int unsigned c = Columns - 1; c > 0; c--) begin
                stream_bank_q[r][c] = stream_bank_q[r][c-1];
              end
              stream_bank_q[r][0] = skew_bank_q[r*P];
            end
          end

          // Products of the elements just arrived.
          for (int unsigned r = 0; r < Rows; r++) begin
            if (valid_d[j*Depth+r*P+:Columns] != '0) begin
`ifdef SYSTOLIC_ARRAY_WIRES
              for (int unsigned c = 0; c < Columns; c++) begin
                product_q[j*Rows+r][c] = product_w[((j*Rows+r)*Columns+c)*32+:32];
              end
`else
              active_0 = {15'd0, active_q[r]};
              active_1 = {15'd0, active_q[(Banks-1)*Rows+r]};
              for (int unsigned c = 0; c < Columns; c++) begin
                value_0 = bank_q[r][c];
                value_1 = bank_q[(Banks-1)*Rows+r][c];
                bank    = Banks == 2 ? stream_bank_q[r][c] : 16'd0;
                product = numeric_pkg::bf16_multiply(stream_q[j*Rows+r][c], bank != 16'd0 ? value_1 : value_0);
                product_q[j*Rows+r][c] = (bank != 16'd0 ? active_1 : active_0) != 16'd0
                    ? product : numeric_pkg::Fp32MinusZero;
              end
`endif
            end
          end
        end
      end

      // Loads come last: elements that multiply in this cycle have used the old row.
      if (load_valid_i) begin
        if (Banks == 2 && load_bank_i) begin
          active_q[(Banks-1)*Rows+32'(load_row_i)] = load_active_i;
          for (int unsigned c = 0; c < Columns; c++) begin
            bank_q[(Banks-1)*Rows+32'(load_row_i)][c] = load_data_i[c*16+:16];
          end
        end else begin
          active_q[32'(load_row_i)] = load_active_i;
          for (int unsigned c = 0; c < Columns; c++) begin
            bank_q[32'(load_row_i)][c] = load_data_i[c*16+:16];
          end
        end
      end
    end
  end
  /* verilator lint_on BLKSEQ */

endmodule
