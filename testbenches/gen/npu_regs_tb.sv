// Accesses to the generated register block npu_regs, each checked against what its contract says. Prints PASS or the
// first difference.
module npu_regs_tb;
  import dvp_pkg::*;

  logic        clk = 1'b0;
  logic        rst_n = 1'b0;
  logic        valid = 1'b0;
  logic        write = 1'b0;
  logic [11:0] address = 12'h0;
  logic [31:0] wdata = 32'h0;
  logic [31:0] rdata;
  logic        error;

  logic        enable, soft_reset, control_write, status_read;
  logic        clear = 1'b0;
  logic [1:0]  completion, completion_enable, tail_write;
  logic [1:0]  completion_set = 2'b00;
  logic [63:0] tail;
  logic [13:0] value_lo_read;
  logic [7:0]  operation;
  logic        command_write;

  npu_regs dut (
    .clk_i(clk), .rst_ni(rst_n), .valid_i(valid), .write_i(write), .address_i(address), .wdata_i(wdata),
    .rdata_o(rdata), .error_o(error),
    .capability_rows_i(8'd16), .capability_columns_i(8'd32), .capability_queues_i(4'd2),
    .scratchpad_size_bytes_i(32'd65536), .scratchpad_banks_count_i(16'd8), .accumulator_vectors_i(16'd512),
    .control_enable_o(enable), .control_soft_reset_o(soft_reset), .control_soft_reset_clear_i(clear),
    .control_write_o(control_write), .status_busy_i(1'b1), .status_error_i(1'b0), .status_read_o(status_read),
    .irq_status_completion_o(completion), .irq_status_completion_set_i(completion_set),
    .irq_status_error_set_i(2'b00), .irq_status_window_set_i(1'b0), .irq_enable_completion_o(completion_enable),
    .window_size_lo_bytes_i(32'h10000000), .window_size_hi_bytes_i(32'h1), .window_geometry_entries_i(16'd64),
    .window_geometry_page_shift_i(8'd12), .window_command_operation_o(operation),
    .window_command_write_o(command_write), .window_status_busy_i(1'b1), .window_status_refused_i(1'b0),
    .window_status_result_i(8'd6), .queue_tail_index_o(tail), .queue_tail_write_o(tail_write),
    .queue_head_index_i(64'h00000007_00000003), .queue_error_code_i(16'h0400), .queue_error_index_index_i(64'h0),
    .queue_fault_address_lo_address_i(64'h00001000_00000000), .queue_fault_address_hi_address_i(64'h00000002_00000000),
    .counters_value_lo_value_i({32'h0, 32'hcafe0012, {12{32'h0}}}), .counters_value_lo_read_o(value_lo_read),
    .counters_value_hi_value_i({14{32'h5}})
  );

  always #5 clk = ~clk;

  task fail(input [511:0] what, input logic [63:0] found, input logic [63:0] expected);
    begin
      $display("FAIL %0s: found %h, expected %h", what, found, expected);
      $finish;
    end
  endtask

  // Starts an access and returns after the clock edge that answers it.
  task access(input logic is_write, input logic [31:0] offset, input logic [31:0] data);
    begin
      valid = 1'b1;
      write = is_write;
      address = offset[11:0];
      wdata = data;
      @(posedge clk);
      #1 valid = 1'b0;
    end
  endtask

  task expect_read(input logic [31:0] offset, input logic [31:0] value);
    begin
      access(1'b0, offset, 32'h0);
      if (rdata !== value || error !== 1'b0) fail("read", {31'h0, error, rdata}, {32'h0, value});
    end
  endtask

  task expect_error(input logic is_write, input logic [31:0] offset);
    begin
      access(is_write, offset, 32'hffffffff);
      if (rdata !== 32'h0 || error !== 1'b1) fail("error", {31'h0, error, rdata}, 64'h1_00000000);
    end
  endtask

  task expect_write(input logic [31:0] offset, input logic [31:0] value);
    begin
      access(1'b1, offset, value);
      if (rdata !== 32'h0 || error !== 1'b0) fail("write", {31'h0, error, rdata}, 64'h0);
    end
  endtask

  initial begin
    repeat (2) @(posedge clk);
    #1 rst_n = 1'b1;
    if (tail !== 64'h0 || enable !== 1'b0) fail("reset", tail, 64'h0);

    expect_read(NpuIdOffset, NpuIdReset);
    expect_read(NpuCapabilityOffset, 32'h00022010);
    expect_read(NpuStatusOffset, 32'h1);
    expect_read(NpuQueueOffset + NpuQueueStride + NpuQueueHeadOffset, 32'h7);
    expect_read(NpuQueueOffset + NpuQueueStride + NpuQueueErrorOffset, 32'h4);
    expect_read(NpuCountersOffset + 12 * NpuCountersStride + NpuCountersValueLoOffset, 32'hcafe0012);

    expect_read(NpuWindowSizeHiOffset, 32'h1);
    expect_read(NpuWindowGeometryOffset, 32'h000c0040);
    expect_read(NpuWindowStatusOffset, 32'h601);
    expect_read(NpuQueueOffset + NpuQueueStride + NpuQueueFaultAddressLoOffset, 32'h1000);

    // A write-only register: its value and strobe go out, and no read comes in.
    expect_write(NpuWindowCommandOffset, 32'hffffff03);
    if (operation !== 8'h3 || command_write !== 1'b1) fail("command", {55'h0, operation, command_write}, 64'h7);
    expect_error(1'b0, NpuWindowCommandOffset);

    // Writable bits only; the strobe comes with the new value and lasts one cycle.
    expect_write(NpuControlOffset, 32'hffffffff);
    if (!enable || !soft_reset || !control_write) fail("control", {enable, soft_reset, control_write}, 64'h7);
    expect_read(NpuControlOffset, 32'h3);
    if (control_write !== 1'b0) fail("strobe", control_write, 64'h0);
    expect_write(NpuControlOffset, 32'h1);
    if (soft_reset !== 1'b1) fail("w1s keeps the bit on 0", soft_reset, 64'h1);
    clear = 1'b1;
    expect_write(NpuControlOffset, 32'h3);
    if (soft_reset !== 1'b1) fail("w1s set wins over clear", soft_reset, 64'h1);
    @(posedge clk) #1 clear = 1'b0;
    if (soft_reset !== 1'b0) fail("w1s clear", soft_reset, 64'h0);

    // One element of an array, not its neighbour.
    expect_write(NpuQueueOffset + NpuQueueStride + NpuQueueTailOffset, 32'h12345678);
    if (tail !== 64'h12345678_00000000) fail("tail", tail, 64'h12345678_00000000);
    if (tail_write !== 2'b10) fail("tail strobe", tail_write, 64'h2);

    // Interrupt causes: set by hardware, cleared by writing 1, hardware wins.
    completion_set = 2'b11;
    @(posedge clk) #1 completion_set = 2'b00;
    expect_read(NpuIrqStatusOffset, 32'h3);
    expect_write(NpuIrqStatusOffset, 32'h1);
    if (completion !== 2'b10) fail("w1c", completion, 64'h2);
    completion_set = 2'b10;
    expect_write(NpuIrqStatusOffset, 32'h2);
    completion_set = 2'b00;
    if (completion !== 2'b10) fail("w1c set wins over clear", completion, 64'h2);

    // The read strobe marks the cycle of the access itself.
    valid = 1'b1;
    write = 1'b0;
    address = NpuCountersOffset[11:0] + 12'h008;
    #1 if (value_lo_read !== 14'h2) fail("read strobe", value_lo_read, 64'h2);
    valid = 1'b0;
    #1 if (value_lo_read !== 14'h0) fail("no read strobe", value_lo_read, 64'h0);

    expect_error(1'b1, NpuStatusOffset);
    expect_error(1'b1, NpuIdOffset);
    expect_error(1'b0, 32'h014);
    expect_error(1'b1, 32'hffc);
    expect_error(1'b0, NpuControlOffset + 1);
    if (enable !== 1'b1) fail("errors change nothing", enable, 64'h1);
    @(posedge clk) #1;
    if (error !== 1'b0) fail("error lasts one cycle", error, 64'h0);

    rst_n = 1'b0;
    @(posedge clk) #1;
    if (tail !== 64'h0 || completion !== 2'b00 || enable !== 1'b0) fail("reset", tail, 64'h0);
    $display("PASS");
    $finish;
  end
endmodule
