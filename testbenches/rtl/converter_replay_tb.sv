// Replays what rtl_converter recorded: the same stimulus through a second simulator has to give the same outputs in
// every cycle. +recording=<file>; a line is one cycle, inputs before outputs. Prints PASS or the first difference.
module converter_replay_tb;

  logic         clk = 1'b0;
  logic         rst_n = 1'b0;
  logic         valid, last, result_ready;
  logic [255:0] data;
  logic [5:0]   count;
  logic [1:0]   precision, mode;
  logic [6:0]   clip, threshold;
  logic [2:0]   shift;

  logic         ready, result_valid, result_last, half_step;
  logic [255:0] result_data;
  logic [7:0]   result_count;
  logic [1:0]   result_precision;

  logic         expected_ready, expected_valid;
  logic [267:0] expected;
  logic [267:0] actual;

  precision_converter dut (
    .clk_i(clk), .rst_ni(rst_n), .burst_valid_i(valid), .burst_ready_o(ready), .burst_data_i(data),
    .burst_count_i(count), .burst_last_i(last), .burst_precision_i(precision), .burst_mode_i(mode),
    .burst_clip_i(clip), .burst_shift_i(shift), .burst_threshold_i(threshold),
    .result_valid_o(result_valid), .result_ready_i(result_ready), .result_data_o(result_data),
    .result_count_o(result_count), .result_last_o(result_last), .result_precision_o(result_precision),
    .result_half_step_o(half_step)
  );

  assign actual = {half_step, result_precision, result_last, result_count, result_data};

  integer file, fields, cycle, bursts;
  reg [4095:0] name;

  initial begin
    if (!$value$plusargs("recording=%s", name)) $fatal(1, "no +recording");
    file = $fopen(name, "r");
    if (file == 0) $fatal(1, "cannot open the recording");
    cycle = 0;
    bursts = 0;
    fields = 14;
    while (fields == 14) begin
      fields = $fscanf(file, "%h %h %h %h %h %h %h %h %h %h %h %h %h %h\n", rst_n, valid, data, count, last, precision,
                       mode, clip, shift, threshold, result_ready, expected_ready, expected_valid, expected);
      if (fields == 14) begin
        #1;
        // Before the first reset nothing is defined.
        if (rst_n && (ready !== expected_ready || result_valid !== expected_valid ||
                      (expected_valid && actual !== expected))) begin
          $display("FAIL cycle %0d: ready %b, valid %b, result %h; recorded %b, %b, %h", cycle, ready, result_valid,
                   actual, expected_ready, expected_valid, expected);
          $finish;
        end
        if (rst_n && result_valid && result_ready) bursts = bursts + 1;
        #1 clk = 1'b1;
        #1 clk = 1'b0;
        cycle = cycle + 1;
      end
    end
    if (bursts < 1000) $display("FAIL only %0d bursts in %0d cycles", bursts, cycle);
    else $display("PASS %0d cycles, %0d bursts", cycle, bursts);
    $finish;
  end

endmodule
