// Drives systolic_array with a file that rtl_array_stimulus wrote, one line per cycle, and writes what comes out.
//   +stimulus=FILE +results=FILE
module array_replay;

  parameter int Rows         = 16;
  parameter int Columns      = 16;
  parameter int LaneBits     = 16;
  parameter int Packing      = 0;
  parameter int AdderStages  = 1;
  parameter int Banks        = 2;
  parameter int OutputBuffer = 0;
  localparam int Sums = (Packing != 0 ? 4 : 1) * Columns * 32;

  logic                     clk, rst_n;
  logic                     load_valid, load_ready, load_bank, load_active;
  logic [$clog2(Rows)-1:0]  load_row;
  logic [Columns*16-1:0]    load_data;
  logic                     stream_valid, stream_ready, stream_bank, stream_half_step;
  logic [1:0]               stream_format, stream_more, result_more;
  logic [Rows*LaneBits-1:0] stream_data;
  logic [Sums-1:0]          stream_preset, result_data, shown;
  logic                     result_valid, result_ready;

  systolic_array #(
    .Rows(Rows), .Columns(Columns), .LaneBits(LaneBits), .Packing(Packing), .AdderStages(AdderStages), .Banks(Banks),
    .OutputBuffer(OutputBuffer)
  ) u_array (
    .clk_i(clk), .rst_ni(rst_n),
    .load_valid_i(load_valid), .load_ready_o(load_ready), .load_bank_i(load_bank), .load_row_i(load_row),
    .load_active_i(load_active), .load_data_i(load_data),
    .stream_valid_i(stream_valid), .stream_ready_o(stream_ready), .stream_bank_i(stream_bank),
    .stream_format_i(stream_format), .stream_half_step_i(stream_half_step), .stream_more_i(stream_more),
    .stream_data_i(stream_data), .stream_preset_i(stream_preset),
    .result_valid_o(result_valid), .result_ready_i(result_ready), .result_more_o(result_more),
    .result_data_o(result_data)
  );

  string  stimulus_name, results_name;
  integer stimulus, results, read, cycles;

  initial begin
    if (!$value$plusargs("stimulus=%s", stimulus_name) || !$value$plusargs("results=%s", results_name)) begin
      $display("array_replay: +stimulus=FILE +results=FILE");
      $finish;
    end
    stimulus = $fopen(stimulus_name, "r");
    results  = $fopen(results_name, "w");
    cycles   = 0;
    clk      = 1'b0;
    // The state before the first line is that after a reset.
    rst_n        = 1'b0;
    load_valid   = 1'b0;
    stream_valid = 1'b0;
    result_ready = 1'b1;
    repeat (2) begin
      #5 clk = 1'b1;
      #5 clk = 1'b0;
    end
    read = 14;
    while (read == 14) begin
      read = $fscanf(stimulus, "%h %h %h %h %h %h %h %h %h %h %h %h %h %h\n", rst_n, load_valid, load_bank, load_row,
                     load_active, load_data, stream_valid, stream_bank, stream_format, stream_half_step, stream_more,
                     stream_data, stream_preset, result_ready);
      if (read == 14) begin
        #4;
        shown = result_data;
        for (int unsigned c = 0; c < Sums / 32; c++) begin
          if (!result_valid || c / Columns > 32'(result_more)) shown[c*32+:32] = 32'd0;
        end
        $fdisplay(results, "%h %h %h %h", load_ready & stream_ready, result_valid, result_valid ? result_more : 2'd0,
                  shown);
        #1 clk = 1'b1;
        #5 clk = 1'b0;
        cycles = cycles + 1;
      end
    end
    $fclose(results);
    $display("%0d cycles", cycles);
    $finish;
  end

endmodule
