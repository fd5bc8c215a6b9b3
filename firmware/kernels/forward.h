// One forward of the network: the only thing decode loops ask of the hardware.
#pragma once

#include <cstdint>

#include "firmware/kernels/layer.h"
#include "firmware/kernels/run_state.h"

namespace dvp::kernels {

struct forward_pass {
  std::uint32_t first = 0;         // position of the first row in work
  std::uint32_t rows = 0;          // 1 or more
  std::uint32_t keys = 0;          // every row sees positions 0 to keys - 1; at least first + rows
  std::uint32_t logits_first = 0;  // position of the first row with logits, within the rows in work
  std::uint32_t logits_rows = 0;   // 0: only keys and values are wanted
  sampling_rule rule;
  ffn_pass ffn = ffn_pass::whole;
  bool rank = false;    // compressed cache: leave every entry's largest score, over heads and rows, in its maxima
  bool encode = false;  // compressed cache: store the rows in work, which are the positions behind its entries
  bool gram = false;    // with encode: add them to the Gram matrices
};

// Queues the forward and returns the index to wait for. Reads the tokens of the rows in work from state.tokens;
// replaces their keys and values in the cache, those of earlier positions must be there already; leaves one
// sample_record per row with logits in state.results. Returns before the NPU is done, but may block while its ring is
// full, and with an address window while operands are brought into it.
//
// Rows are worked on in tiles. All tiles' keys and values of a layer are stored before any tile's attention; residual
// rows wait in DRAM in between, or stay in the scratchpad when there is one tile. In the last layer only rows with
// logits go on after their keys and values, but all do when the feed-forward network is anchored.
//
// ffn other than whole: the rows in work are one tile, else bad_argument, and those of the anchor pass before.
// An interior pass asks state.anchors->policy in every layer and waits for the NPU to do so. When it fails, anchors are
// half moved: the next pass that is not whole must be an anchor pass.
[[nodiscard]] std::uint32_t issue_forward(const config& model, const weights& w, run_state& state,
                                          const forward_pass& pass);

// The same, and waits until the results are in DRAM. Codes as drivers::npu::wait_complete.
[[nodiscard]] drivers::npu_code forward(const config& model, const weights& w, run_state& state,
                                        const forward_pass& pass);

}  // namespace dvp::kernels
