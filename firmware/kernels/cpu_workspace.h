// Memory that the CPU's forward works in.
#pragma once

#include <cstdint>

#include "firmware/kernels/model.h"
#include "tlm/numerics/sampling.h"

namespace dvp::kernels {

// Rows whose activations lie side by side as columns of a product, so that the CPU's vectors run across them.
inline constexpr std::uint32_t cpu_panel_rows = 16;
// Rows that a product works on at a time where the CPU has no vectors (tlm/numerics/register_block.h); fewer cost as
// much.
inline constexpr std::uint32_t cpu_block_rows = 4;
// Rows that one stream of the weights serves.
inline constexpr std::uint32_t cpu_tile_rows = 128;

// Room made for passes of at most so many rows over at most so many keys; bytes(model) from `address` on.
struct cpu_workspace {
  std::uint64_t address = 0;  // bus address in main memory, 64-byte aligned
  std::uint32_t rows = 0;
  std::uint32_t keys = 0;
  std::uint32_t kept_layers = 0;  // layers whose new keys and values stay after compute_rows(); 0: for cpu_forward()

  std::uint64_t bytes(const config& model) const;
};

// Where the parts lie. T rows of a tile, P columns of a panel; [a | b] holds whichever is larger.
struct cpu_buffers {
  std::uint32_t* positions = nullptr;           // [rows]
  float* residual = nullptr;                    // [rows][width]
  std::uint16_t* keys = nullptr;                // bf16 [kept layers | 1][rows][kv_width], rotated
  std::uint16_t* values = nullptr;              // bf16 [kept layers | 1][rows][kv_width]
  std::uint16_t* row = nullptr;                 // bf16 [width | query_width | keys]: one row
  std::uint16_t* normed = nullptr;              // bf16 panels of [T][width]
  std::uint16_t* queries = nullptr;             // bf16 panels of [heads_per_kv * T][head_length], one per KV head
  std::uint16_t* mixed = nullptr;               // bf16 panels of [T][query_width]
  std::uint16_t* activations = nullptr;         // bf16 panels of [T][ffn_width]
  float* projected = nullptr;                   // [T][query_width | kv_width]
  float* chains = nullptr;                      // of cpu_product.h
  float* scales = nullptr;                      // of cpu_product.h, twice
  float* sums = nullptr;                        // [product vectors | head_length][P], twice
  float* scores = nullptr;                      // [keys][P]
  float* score_row = nullptr;                   // [keys]
  std::uint16_t* probabilities = nullptr;       // bf16 [keys][P]
  std::uint16_t* seen_keys = nullptr;           // bf16 [keys][head_length]: of one KV head; with kept layers only
  std::uint16_t* seen_values = nullptr;         // bf16 [head_length][keys]
  float* logits = nullptr;                      // [product vectors]: of one row
  numerics::running_sample* samples = nullptr;  // [T]
};

// The parts of a workspace that is main memory.
cpu_buffers buffers_of(const config& model, const cpu_workspace& space);

}  // namespace dvp::kernels
