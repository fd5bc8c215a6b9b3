// Seam between a forward and whoever keeps its operands within the NPU's address window.
#pragma once

#include <cstdint>
#include <limits>

#include "dvp_gen/descriptor.h"

namespace dvp::kernels {

// What a forward is about to read and write, besides what is always reachable (the command ring, tokens, results, the
// residual stream, norms, biases, rotary table, order and drift of the anchored network). By name:
//   embedding         the embedding table
//   key_projection    keys' and values' weights, from output channel `first` on
//   query_projection  queries' weights, from `first` on
//   scores            the layer's part of the cache; so do key_projection and query_projection
//   attn_output       the output projection, from `first` on
//   ffn_gate          gate and up from `first` on, and all of down
//   head              the vocabulary head, from token `first` on
//   kv_rebuild        the layer's part of the compressed cache; so do key_projection, query_projection and scores
//   ffn_update        all of the layer's ffn_channels and of its corrections
struct operator_use {
  gen::operator_label name = gen::operator_label::none;
  std::uint32_t layer = 0;
  std::uint32_t first = 0;
};

// Tiles of rows of a forward: all in work, and those with logits. Per layer key_projection comes once per tile, then
// everything else of the layer tile by tile; in the last layer, and for the head, selected tiles only.
struct forward_outline {
  std::uint32_t tiles = 0;
  std::uint32_t selected_tiles = 0;
  // ffn_update where otherwise ffn_gate comes, or neither in a layer whose input did not move. There is one tile then,
  // which goes on to the end of the last layer whether it is selected or not.
  bool anchored = false;
};

class residency {
 public:
  static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

  // Before the first descriptor of a forward.
  virtual void begin(const forward_outline& outline) = 0;
  // Before the first descriptor of an operator, or of its next channels: makes them reachable; whatever was entered
  // before may go as soon as its descriptors are complete. Returns how many channels from use.first on are there, 1 or
  // more: the schedule enters again for those behind. May issue descriptors and wait for the NPU. A failure sticks in
  // the stream, whose operations then do nothing.
  virtual std::uint32_t enter(const operator_use& use) = 0;
  // After the last descriptor of a forward, the fence behind it included.
  virtual void end() = 0;
  // The CPU changed bytes that forwards read; the next forward is to see them.
  virtual void written(std::uint64_t bus, std::uint64_t bytes) = 0;
  // The NPU and the stream were started again after a failure: nothing is in the window.
  virtual void restart() = 0;

 protected:
  ~residency() = default;
};

}  // namespace dvp::kernels
