// A small random model: its image for the firmware, and a plain double-precision forward of the same weights.
//
// The reference shares nothing with the firmware or the NPU: no tiles, no cache, no bf16 rounding of activations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dvp_gen/image.h"

namespace dvp::testbench {

struct tiny_options {
  std::uint32_t seed = 1;
  bool block_causal = false;
  bool shift_logits = false;
  bool rope_halves = false;
  bool qkv_bias = false;
  bool tied = false;
  bool quantised = true;  // q8_group32, else bf16
  std::uint32_t vocabulary = 75;
  std::uint32_t width = 64;
  std::uint32_t layers = 2;
  std::uint32_t heads = 4;
  std::uint32_t kv_heads = 4;
  std::uint32_t head_length = 16;
  std::uint32_t ffn_width = 160;
  std::uint32_t context = 192;
  bool channels = false;              // with the tensors of an anchored network, of the same weights; views: midpoint
  std::uint32_t correction_rank = 0;  // with channels: also corrections of this rank, all 0
};

// [rows][columns] of doubles.
struct table {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<double> values;

  double at(std::uint32_t row, std::uint32_t column) const { return values[std::size_t{row} * columns + column]; }
  double& at(std::uint32_t row, std::uint32_t column) { return values[std::size_t{row} * columns + column]; }
};

struct reference_forward {
  std::vector<table> keys;    // per layer [positions][kv_heads * head_length], rotated
  std::vector<table> values;  // per layer [positions][kv_heads * head_length]
  table probabilities;        // [positions][vocabulary], mask token excluded (0)
};

class tiny_model {
 public:
  explicit tiny_model(const tiny_options& options);

  const tiny_options& options() const { return options_; }
  const std::vector<std::byte>& image() const { return image_; }
  gen::image_header& header() { return *reinterpret_cast<gen::image_header*>(image_.data()); }
  std::span<gen::tensor_entry> entries() {
    return {reinterpret_cast<gen::tensor_entry*>(image_.data() + sizeof(gen::image_header)), header().tensor_count};
  }
  std::uint32_t mask_token() const { return options_.vocabulary - 1; }
  std::uint32_t end_token() const { return options_.vocabulary - 2; }

  // block: rows see blocks up to their own, of this length; 0: everything.
  reference_forward forward(std::span<const std::uint32_t> tokens, std::uint32_t block) const;

  // Nothing computed yet for so many positions.
  reference_forward empty_forward(std::uint32_t positions) const;
  // Works on the rows of the positions from `first` on: replaces their keys, values and probabilities; the other
  // positions' keys and values are as `state` holds them. block as above, over all positions of `state`.
  void forward_rows(std::span<const std::uint32_t> tokens, std::uint32_t first, std::uint32_t block,
                    reference_forward& state) const;
  // The same for rows at any positions, ascending.
  void forward_scattered(std::span<const std::uint32_t> tokens, std::span<const std::uint32_t> rows,
                         std::uint32_t block, reference_forward& state) const;

 private:
  struct layer_tables {
    table attn_norm, q, k, v, q_bias, k_bias, v_bias, output, ffn_norm, gate, up, down;
  };

  table add_matrix(gen::tensor_kind kind, std::uint32_t layer, std::uint32_t rows, std::uint32_t columns, double scale);
  table add_vector(gen::tensor_kind kind, std::uint32_t layer, std::uint32_t columns, double mean, double spread);
  void add_channels(std::uint32_t layer, const layer_tables& w);
  void add_elements(gen::tensor_kind kind, std::uint32_t layer, std::uint32_t rows, std::uint32_t columns);
  void add_entry(gen::tensor_entry entry, std::span<const std::byte> data, std::span<const std::byte> scales);
  double gaussian();

  tiny_options options_;
  std::uint64_t random_;
  std::vector<gen::tensor_entry> entries_;
  std::vector<std::byte> data_;  // of the tensors, from the first on
  std::vector<std::byte> image_;
  std::vector<layer_tables> layers_;
  table embedding_, output_norm_, head_;
};

}  // namespace dvp::testbench
