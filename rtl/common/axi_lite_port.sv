// AXI4-Lite subordinate in front of a register file's access port (the generated <block>_regs): 32-bit data, all five
// channels. AxPROT has no meaning here and no port.
//
// Bus side. A transfer passes on a channel in a cycle in which its valid and ready are high at the rising clock edge.
// Address and data of a write arrive in any order and any number of cycles apart. One transfer per channel is held; its
// ready is low until the access has begun. Every output comes from a register: no path leads from an input to an
// output. A response holds until taken.
//
// Responses: OKAY, or SLVERR when the register file reports an error and when a write does not cover the whole word
// (wstrb_i other than 4'b1111). Registers take full words only: such a write does not reach the register file and
// changes nothing. rdata_o is what the register file answers, 0 with its error.
//
// Register side. request_valid_o is high for one cycle per access, with request_write_o, request_address_o and
// request_wdata_o. response_rdata_i and response_error_i belong to the access of the cycle before; there is no
// back-pressure. At most one access takes place per cycle, and none while the response to an earlier one in the same
// direction has not been taken. When a read and a write can both begin, the write does; the read follows in the next
// cycle.
//
// Timing, in cycles: a transfer accepted in cycle t makes its access in t + 1 at the earliest (a write when both of its
// transfers are there); bvalid_o or rvalid_o rises 2 cycles after the access (2 cycles after the cycle of the refusal
// for a partial write). With responses taken at once, one read and one write per 3 cycles. Reads and writes are not
// ordered among each other, as on any AXI bus.
//
// Reset is synchronous, active low: transfers held and responses pending are dropped; valid outputs are low after it.
module axi_lite_port #(
  // Bits of a byte offset into the window, 3 to 32. Higher address bits are decoded outside.
  parameter int AddressBits = 12
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   awvalid_i,
  output logic                   awready_o,
  input  logic [AddressBits-1:0] awaddr_i,
  input  logic                   wvalid_i,
  output logic                   wready_o,
  input  logic [31:0]            wdata_i,
  input  logic [3:0]             wstrb_i,
  output logic                   bvalid_o,
  input  logic                   bready_i,
  output logic [1:0]             bresp_o,

  input  logic                   arvalid_i,
  output logic                   arready_o,
  input  logic [AddressBits-1:0] araddr_i,
  output logic                   rvalid_o,
  input  logic                   rready_i,
  output logic [31:0]            rdata_o,
  output logic [1:0]             rresp_o,

  output logic                   request_valid_o,
  output logic                   request_write_o,
  output logic [AddressBits-1:0] request_address_o,
  output logic [31:0]            request_wdata_o,
  input  logic [31:0]            response_rdata_i,
  input  logic                   response_error_i
);

`ifdef __ICARUS__
  // Icarus 11 knows no elaboration tasks.
  initial begin
    if (AddressBits < 3 || AddressBits > 32) $fatal(1, "axi_lite_port: AddressBits must be 3 to 32");
  end
`else
  if (AddressBits < 3 || AddressBits > 32) begin : gen_illegal_address_bits
    $error("axi_lite_port: AddressBits must be 3 to 32");
  end
`endif

  // A transfer is held when its ready is low.
  logic [AddressBits-1:0] awaddr_q, araddr_q;
  logic [31:0]            wdata_q;
  logic                   whole_q;
  // An access began in the cycle before; refused: it was a partial write.
  logic write_pending_q, read_pending_q, refused_q;
  logic write_begin, read_begin;

  // A write cannot begin again for two cycles, so that it never keeps a read waiting for more than one.
  assign write_begin = ~awready_o & ~wready_o & ~write_pending_q & ~bvalid_o;
  assign read_begin  = ~arready_o & ~read_pending_q & ~rvalid_o & ~write_begin;

  assign request_valid_o   = read_begin | (write_begin & whole_q);
  assign request_write_o   = write_begin;
  assign request_address_o = write_begin ? awaddr_q : araddr_q;
  assign request_wdata_o   = wdata_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      awready_o <= 1'b1;
      wready_o  <= 1'b1;
      arready_o <= 1'b1;
    end else begin
      awready_o <= awready_o ? ~awvalid_i : write_begin;
      wready_o  <= wready_o ? ~wvalid_i : write_begin;
      arready_o <= arready_o ? ~arvalid_i : read_begin;
    end
  end

  always_ff @(posedge clk_i) begin
    if (awready_o) awaddr_q <= awaddr_i;
    if (arready_o) araddr_q <= araddr_i;
    if (wready_o) begin
      wdata_q <= wdata_i;
      whole_q <= wstrb_i == 4'b1111;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_pending_q <= 1'b0;
      read_pending_q  <= 1'b0;
      refused_q       <= 1'b0;
      bvalid_o        <= 1'b0;
      rvalid_o        <= 1'b0;
    end else begin
      write_pending_q <= write_begin;
      read_pending_q  <= read_begin;
      refused_q       <= write_begin & ~whole_q;
      bvalid_o <= bvalid_o ? ~bready_i : write_pending_q;
      rvalid_o <= rvalid_o ? ~rready_i : read_pending_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (write_pending_q) bresp_o <= {refused_q | response_error_i, 1'b0};
    if (read_pending_q) begin
      rresp_o <= {response_error_i, 1'b0};
      rdata_o <= response_rdata_i;
    end
  end

endmodule
