// Input-stationary systolic array: out[c] = preset[c] + sum over r of data[r] * stationary[bank][r][c].
//
// Rows are reduction indices, columns are tokens. The stationary operand is BF16 and sits in two banks of Rows times
// Columns registers, so that one is loaded while the other works. Vectors of Rows elements (BF16, or q8 codes in the
// low 8 bits of each lane) stream through from the left and meet Columns partial sums (binary32) on their way down.
// Every element adds one product, rounded to binary32, to the passing sum, rounded to binary32 (numeric_pkg): per
// column this is one chain of additions in ascending row order, started from the preset.
//
// Handshake. A beat passes in a cycle in which valid and ready of its channel are high at the rising clock edge. A
// result that is presented and not taken (result_valid_o high, result_ready_i low) stops the whole array: both ready
// outputs go low, combinationally from result_ready_i, and nothing moves. Otherwise both inputs accept a beat in every
// cycle. Ready never waits for valid. Inputs need to be stable around the clock edge only; result_data_o holds until
// taken.
//
// Timing, in cycles that are not stalled. A row is usable by a vector accepted in a later cycle than its load. A vector
// accepted in cycle t gives its result in cycle t + Rows + Columns + 1: Rows + Columns - 1 through the grid, one
// product register per element, one output register. Results leave in the order of the vectors, one per cycle at most,
// all columns together: skew and deskew are inside. The element in row r, column c multiplies in cycle t + r + c.
//
// Banks. load_active_i says whether a row takes part: an inactive row contributes -0, which leaves every sum as it is
// (a NaN becomes canonical), so a partial fold needs neither padding nor a second pass. All rows of both banks are
// inactive after reset. The loader must not write row r of a bank before cycle t + r + Columns, t being the cycle of
// the last vector that uses the bank: row r at its earliest when row 0 was loaded r cycles before in cycle t + Columns.
// load_row_i must be less than Rows. Bank and format may change with every vector.
//
// Reset is synchronous, active low, and may come at any time: no vector in flight survives it. Inputs are ignored while
// it is low.
//
// Form. All state is in planes updated by loops in one process, in an order that reads old values before they are
// overwritten: Verilator then shares one piece of (vectorised) code among all elements. No other process reads the
// planes; ports are driven by registers with non-blocking assignments.
module systolic_array #(
  // Reduction indices per fold, 1 or more.
  parameter int Rows     = 16,
  // Tokens, 1 or more.
  parameter int Columns  = 16,
  // Bits of a streamed element's lane. 16 is implemented: one BF16 or one q8 per lane and cycle.
  parameter int LaneBits = 16
) (
  input  logic                                     clk_i,
  input  logic                                     rst_ni,

  // One row of stationary values, column 0 in the low bits.
  input  logic                                     load_valid_i,
  output logic                                     load_ready_o,
  input  logic                                     load_bank_i,
  input  logic [(Rows > 1 ? $clog2(Rows) : 1)-1:0] load_row_i,
  input  logic                                     load_active_i,
  input  logic [Columns*16-1:0]                    load_data_i,

  // One vector, row 0 in the low bits, and the sums it starts from, column 0 in the low bits.
  input  logic                                     stream_valid_i,
  output logic                                     stream_ready_o,
  input  logic                                     stream_bank_i,
  input  logic                                     stream_q8_i,
  input  logic [Rows*LaneBits-1:0]                 stream_data_i,
  input  logic [Columns*32-1:0]                    stream_preset_i,

  // The sums of one vector, column 0 in the low bits.
  output logic                                     result_valid_o,
  input  logic                                     result_ready_i,
  output logic [Columns*32-1:0]                    result_data_o
);

`ifdef __ICARUS__
  // Icarus 11 knows no elaboration tasks.
  initial begin
    if (Rows < 1) $fatal(1, "systolic_array: Rows must be 1 or more");
    if (Columns < 1) $fatal(1, "systolic_array: Columns must be 1 or more");
    if (LaneBits != 16) $fatal(1, "systolic_array: LaneBits must be 16");
  end
`else
  if (Rows < 1) begin : gen_illegal_rows
    $error("systolic_array: Rows must be 1 or more");
  end
  if (Columns < 1) begin : gen_illegal_columns
    $error("systolic_array: Columns must be 1 or more");
  end
  if (LaneBits != 16) begin : gen_illegal_lane_bits
    $error("systolic_array: LaneBits must be 16");
  end
`endif

  localparam int Depth = Rows + Columns;

  // valid_q[d]: a vector was accepted d + 1 unstalled cycles ago. Its element in row r, column c multiplied when it was
  // in valid_d[r+c] and adds when it is in valid_q[r+c].
  logic [Depth-1:0] valid_d, valid_q;
  logic             advance;

  // Stationary operand, and which rows take part.
  logic [15:0] bank_0_q   [0:Rows-1][0:Columns-1];
  logic [15:0] bank_1_q   [0:Rows-1][0:Columns-1];
  logic        active_0_q [0:Rows-1];
  logic        active_1_q [0:Rows-1];
  // Streamed elements as BF16 and the bank they use: first delayed by one cycle per row (lane r needs skew_q[0..r]
  // only), then moving right by one column per cycle. The bank is kept as wide as the element so that both move alike.
  logic [15:0] skew_q        [0:Rows-1][0:Rows-1];
  logic [15:0] skew_bank_q   [0:Rows-1];
  logic [15:0] stream_q      [0:Rows-1][0:Columns-1];
  logic [15:0] stream_bank_q [0:Rows-1][0:Columns-1];
  // Products, and sums moving down by one row per cycle.
  logic [31:0] product_q [0:Rows-1][0:Columns-1];
  logic [31:0] sum_q     [0:Rows-1][0:Columns-1];
  // Presets wait c + 1 cycles for column c, results Columns - 1 - c; the rest of these planes is never read.
  logic [31:0] preset_q [0:Columns-1][0:Columns-1];
  logic [31:0] deskew_q [0:Columns-1][0:Columns-1];

  // Values of one element or row inside the process, without memory.
  logic [15:0] value_0, value_1, active_0, active_1;
  logic [31:0] product;

  assign advance        = ~result_valid_o | result_ready_i;
  assign load_ready_o   = advance;
  assign stream_ready_o = advance;
  assign valid_d        = {valid_q[Depth-2:0], stream_valid_i};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q        <= '0;
      result_valid_o <= 1'b0;
    end else if (advance) begin
      valid_q        <= valid_d;
      result_valid_o <= valid_q[Depth-1];
    end
  end

  // Blocking assignments: see "Form" above.
  /* verilator lint_off BLKSEQ */
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned r = 0; r < Rows; r++) begin
        active_0_q[r] = 1'b0;
        active_1_q[r] = 1'b0;
      end
    end else if (advance) begin
      // Results: the bottom row, columns delayed until the last one is there.
      for (int unsigned d = Columns - 1; d > 0; d--) begin
        for (int unsigned c = 0; c < Columns; c++) begin
          deskew_q[d][c] = deskew_q[d-1][c];
        end
      end
      for (int unsigned c = 0; c < Columns; c++) begin
        deskew_q[0][c] = sum_q[Rows-1][c];
      end
      for (int unsigned c = 0; c < Columns; c++) begin
        result_data_o[c*32+:32] <= deskew_q[Columns-1-c][c];
      end

      // Sums, bottom row first. A row without a vector keeps its state: that is its clock enable.
      for (int unsigned r = Rows - 1; r > 0; r--) begin
        if (valid_q[r+:Columns] != '0) begin
          for (int unsigned c = 0; c < Columns; c++) begin
            sum_q[r][c] = numeric_pkg::fp32_add(sum_q[r-1][c], product_q[r][c]);
          end
        end
      end
      for (int unsigned c = 0; c < Columns; c++) begin
        sum_q[0][c] = numeric_pkg::fp32_add(preset_q[c][c], product_q[0][c]);
      end
      for (int unsigned d = Columns - 1; d > 0; d--) begin
        for (int unsigned c = 0; c < Columns; c++) begin
          preset_q[d][c] = preset_q[d-1][c];
        end
      end
      for (int unsigned c = 0; c < Columns; c++) begin
        preset_q[0][c] = stream_preset_i[c*32+:32];
      end

      // Streamed elements: skew, then to the right.
      for (int unsigned d = Rows - 1; d > 0; d--) begin
        for (int unsigned r = 0; r < Rows; r++) begin
          skew_q[d][r] = skew_q[d-1][r];
        end
        skew_bank_q[d] = skew_bank_q[d-1];
      end
      for (int unsigned r = 0; r < Rows; r++) begin
        skew_q[0][r] = stream_q8_i ? numeric_pkg::q8_to_bf16(stream_data_i[r*LaneBits+:8])
                                   : stream_data_i[r*LaneBits+:16];
      end
      skew_bank_q[0] = {15'd0, stream_bank_i};
      for (int unsigned r = 0; r < Rows; r++) begin
        for (int unsigned c = Columns - 1; c > 0; c--) begin
          stream_q[r][c]      = stream_q[r][c-1];
          stream_bank_q[r][c] = stream_bank_q[r][c-1];
        end
        stream_q[r][0]      = skew_q[r][r];
        stream_bank_q[r][0] = skew_bank_q[r];
      end

      // Products of the elements just arrived.
      for (int unsigned r = 0; r < Rows; r++) begin
        if (valid_d[r+:Columns] != '0) begin
          active_0 = {15'd0, active_0_q[r]};
          active_1 = {15'd0, active_1_q[r]};
          for (int unsigned c = 0; c < Columns; c++) begin
            value_0 = bank_0_q[r][c];
            value_1 = bank_1_q[r][c];
            product = numeric_pkg::bf16_multiply(stream_q[r][c], stream_bank_q[r][c] != 16'd0 ? value_1 : value_0);
            product_q[r][c] = (stream_bank_q[r][c] != 16'd0 ? active_1 : active_0) != 16'd0
                                  ? product : numeric_pkg::Fp32MinusZero;
          end
        end
      end

      // Loads come last: elements that multiply in this cycle have used the old row.
      if (load_valid_i) begin
        if (load_bank_i) begin
          active_1_q[load_row_i] = load_active_i;
          for (int unsigned c = 0; c < Columns; c++) begin
            bank_1_q[load_row_i][c] = load_data_i[c*16+:16];
          end
        end else begin
          active_0_q[load_row_i] = load_active_i;
          for (int unsigned c = 0; c < Columns; c++) begin
            bank_0_q[load_row_i][c] = load_data_i[c*16+:16];
          end
        end
      end
    end
  end
  /* verilator lint_on BLKSEQ */

endmodule
