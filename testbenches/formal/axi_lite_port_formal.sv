// Proof obligations of axi_lite_port: one response per request, none without; each whole write and each read makes one
// access with its own address and data, a partial write none; responses carry what the register file answered and hold
// under stall; a request that is not blocked by an untaken response is answered 3 (a read: at most 4) cycles after its
// last transfer.
//
// The bus manager is arbitrary within the protocol (valid and payload hold until ready), the register file answers
// anything. Bus-level counts use ports only. The port's own state is read to tie it to the counts (invariants), which
// makes the induction step work.
module axi_lite_port_formal #(
  parameter int AddressBits = 4
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   awvalid_i,
  input logic [AddressBits-1:0] awaddr_i,
  input logic                   wvalid_i,
  input logic [31:0]            wdata_i,
  input logic [3:0]             wstrb_i,
  input logic                   bready_i,
  input logic                   arvalid_i,
  input logic [AddressBits-1:0] araddr_i,
  input logic                   rready_i,
  input logic [31:0]            response_rdata_i,
  input logic                   response_error_i
);

  logic                   awready, wready, bvalid, arready, rvalid, request_valid, request_write;
  logic [1:0]             bresp, rresp;
  logic [31:0]            rdata, request_wdata;
  logic [AddressBits-1:0] request_address;

  axi_lite_port #(.AddressBits(AddressBits)) dut (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .awvalid_i(awvalid_i), .awready_o(awready), .awaddr_i(awaddr_i),
    .wvalid_i(wvalid_i), .wready_o(wready), .wdata_i(wdata_i), .wstrb_i(wstrb_i),
    .bvalid_o(bvalid), .bready_i(bready_i), .bresp_o(bresp),
    .arvalid_i(arvalid_i), .arready_o(arready), .araddr_i(araddr_i),
    .rvalid_o(rvalid), .rready_i(rready_i), .rdata_o(rdata), .rresp_o(rresp),
    .request_valid_o(request_valid), .request_write_o(request_write), .request_address_o(request_address),
    .request_wdata_o(request_wdata), .response_rdata_i(response_rdata_i), .response_error_i(response_error_i)
  );

  // The port's own state, joined when the design is flattened.
  (* hierconn *) wire \dut.write_begin ;
  (* hierconn *) wire \dut.write_pending_q ;
  (* hierconn *) wire \dut.read_pending_q ;
  (* hierconn *) wire \dut.refused_q ;
  (* hierconn *) wire \dut.whole_q ;
  (* hierconn *) wire [AddressBits-1:0] \dut.awaddr_q ;
  (* hierconn *) wire [AddressBits-1:0] \dut.araddr_q ;
  (* hierconn *) wire [31:0] \dut.wdata_q ;

  // The first cycle is one of reset, later ones may be.
  logic started_q = 1'b0;
  always @(posedge clk_i) started_q <= 1'b1;
  always @* if (!started_q) assume (!rst_ni);

  // The manager keeps to the protocol.
  logic aw_wait_q = 0, w_wait_q = 0, ar_wait_q = 0;
  logic [AddressBits-1:0] awaddr_q, araddr_q;
  logic [31:0] wdata_q;
  logic [3:0]  wstrb_q;
  always @(posedge clk_i) begin
    aw_wait_q <= rst_ni & awvalid_i & ~awready;
    w_wait_q  <= rst_ni & wvalid_i & ~wready;
    ar_wait_q <= rst_ni & arvalid_i & ~arready;
    {awaddr_q, araddr_q, wdata_q, wstrb_q} <= {awaddr_i, araddr_i, wdata_i, wstrb_i};
  end
  always @* begin
    if (aw_wait_q) assume (awvalid_i && awaddr_i == awaddr_q);
    if (w_wait_q) assume (wvalid_i && wdata_i == wdata_q && wstrb_i == wstrb_q);
    if (ar_wait_q) assume (arvalid_i && araddr_i == araddr_q);
  end

  // Transfers accepted and not yet answered, from the ports alone.
  logic [1:0] aw_open_q = 0, w_open_q = 0, ar_open_q = 0;
  // Cycles for which a complete request has waited while its response channel was free.
  logic [2:0] write_wait_q = 0, read_wait_q = 0;
  always @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_open_q    <= 0;
      w_open_q     <= 0;
      ar_open_q    <= 0;
      write_wait_q <= 0;
      read_wait_q  <= 0;
    end else begin
      aw_open_q    <= aw_open_q + (awvalid_i & awready) - (bvalid & bready_i);
      w_open_q     <= w_open_q + (wvalid_i & wready) - (bvalid & bready_i);
      ar_open_q    <= ar_open_q + (arvalid_i & arready) - (rvalid & rready_i);
      write_wait_q <= aw_open_q != 0 && w_open_q != 0 && !bvalid ? write_wait_q + 1 : 0;
      read_wait_q  <= ar_open_q != 0 && !rvalid ? read_wait_q + 1 : 0;
    end
  end

  // What is held: one transfer of each channel until its access begins.
  logic aw_held_q = 0, w_held_q = 0, ar_held_q = 0;
  logic [AddressBits-1:0] held_awaddr_q, held_araddr_q;
  logic [31:0] held_wdata_q;
  logic [3:0]  held_wstrb_q;
  // A refused or made access, and what its response has to be.
  logic write_begun_q = 0, read_begun_q = 0, write_asked_q = 0, read_asked_q = 0;
  logic [1:0]  expected_bresp_q, expected_rresp_q;
  logic [31:0] expected_rdata_q;
  always @(posedge clk_i) begin
    if (!rst_ni) begin
      {aw_held_q, w_held_q, ar_held_q} <= 0;
      {write_begun_q, read_begun_q, write_asked_q, read_asked_q} <= 0;
    end else begin
      if (awvalid_i & awready) aw_held_q <= 1;
      else if (\dut.write_begin ) aw_held_q <= 0;
      if (wvalid_i & wready) w_held_q <= 1;
      else if (\dut.write_begin ) w_held_q <= 0;
      if (arvalid_i & arready) ar_held_q <= 1;
      else if (request_valid & ~request_write) ar_held_q <= 0;
      write_begun_q <= \dut.write_begin | (write_begun_q & ~(bvalid & bready_i));
      read_begun_q  <= (request_valid & ~request_write) | (read_begun_q & ~(rvalid & rready_i));
      write_asked_q <= \dut.write_begin ;
      read_asked_q  <= request_valid & ~request_write;
    end
    if (awvalid_i & awready) held_awaddr_q <= awaddr_i;
    if (arvalid_i & arready) held_araddr_q <= araddr_i;
    if (wvalid_i & wready) {held_wdata_q, held_wstrb_q} <= {wdata_i, wstrb_i};
    // A refusal is known at once, the register file's answer one cycle later.
    if (\dut.write_begin ) expected_bresp_q <= held_wstrb_q == 4'hf ? 2'b00 : 2'b10;
    if (write_asked_q && expected_bresp_q == 2'b00) expected_bresp_q <= {response_error_i, 1'b0};
    if (read_asked_q) {expected_rresp_q, expected_rdata_q} <= {response_error_i, 1'b0, response_rdata_i};
  end

  always @* if (started_q) begin
    // No response without a request; counts never run over or under.
    if (bvalid) assert (aw_open_q != 0 && w_open_q != 0);
    if (rvalid) assert (ar_open_q != 0);
    assert (aw_open_q <= 2 && w_open_q <= 2 && ar_open_q <= 2);
    // A response for every request.
    assert (write_wait_q <= 2 && read_wait_q <= 3);

    // Accesses: one for each whole write and each read, with what was sent.
    if (\dut.write_begin ) begin
      assert (aw_held_q && w_held_q && !write_begun_q);
      assert (request_valid == (held_wstrb_q == 4'hf));
    end
    if (request_valid && request_write) begin
      assert (\dut.write_begin );
      assert (request_address == held_awaddr_q && request_wdata == held_wdata_q);
    end
    if (request_valid && !request_write) begin
      assert (ar_held_q && !read_begun_q);
      assert (request_address == held_araddr_q);
    end
    if (bvalid) assert (write_begun_q && !write_asked_q && bresp == expected_bresp_q);
    if (rvalid) assert (read_begun_q && !read_asked_q && rresp == expected_rresp_q && rdata == expected_rdata_q);

    // Invariants.
    assert (awready == !aw_held_q && wready == !w_held_q && arready == !ar_held_q);
    assert (aw_open_q == aw_held_q + write_begun_q && w_open_q == w_held_q + write_begun_q);
    assert (ar_open_q == ar_held_q + read_begun_q);
    assert (write_begun_q == (\dut.write_pending_q | bvalid) && read_begun_q == (\dut.read_pending_q | rvalid));
    assert (write_asked_q == \dut.write_pending_q && read_asked_q == \dut.read_pending_q );
    assert (!(\dut.write_pending_q && bvalid) && !(\dut.read_pending_q && rvalid));
    if (aw_held_q) assert (\dut.awaddr_q == held_awaddr_q);
    if (ar_held_q) assert (\dut.araddr_q == held_araddr_q);
    if (w_held_q) assert (\dut.wdata_q == held_wdata_q && \dut.whole_q == (held_wstrb_q == 4'hf));
    if (write_asked_q) assert (expected_bresp_q == {\dut.refused_q , 1'b0});
    if (aw_held_q && w_held_q && !write_begun_q) assert (write_wait_q == 0);
    if (ar_held_q && !read_begun_q) assert (read_wait_q == 0 || (read_wait_q == 1 && write_asked_q));
    assert (!write_asked_q || write_wait_q <= 1);
    assert (!read_asked_q || read_wait_q <= 2);
  end

  // Stable under stall.
  logic b_stalled_q = 0, r_stalled_q = 0;
  logic [1:0]  bresp_q, rresp_q;
  logic [31:0] rdata_q;
  always @(posedge clk_i) begin
    b_stalled_q <= rst_ni & bvalid & ~bready_i;
    r_stalled_q <= rst_ni & rvalid & ~rready_i;
    {bresp_q, rresp_q, rdata_q} <= {bresp, rresp, rdata};
  end
  always @* begin
    if (b_stalled_q) assert (bvalid && bresp == bresp_q);
    if (r_stalled_q) assert (rvalid && rresp == rresp_q && rdata == rdata_q);
  end

  // The interesting cases exist.
  always @* if (started_q) begin
    cover (bvalid && bresp == 2'b10 && b_stalled_q && aw_open_q == 2 && w_open_q == 2);
    cover (rvalid && bvalid && rresp == 2'b00 && bresp == 2'b00);
    cover (aw_open_q == 0 && w_open_q == 1);
    cover (write_wait_q == 2);
    cover (read_wait_q == 3);
  end

endmodule
