// What a forward reads of the network, as the swap planner and the mapping policies see it: products of the forward in
// the order of their use, with the bytes of their weight matrices, and what is always needed.
//
//     embedding | per layer: key_projection (keys, values) query_projection attn_output ffn_gate (gate, up) ffn_down |
//     head | with an anchored network (swap_compression.h), per layer: ffn_update
//
// Norms and biases are no part of it: with a window they are packed into the work buffer (pack_parameters). A tied head
// is the embedding's table.
#pragma once

#include <array>
#include <cstdint>

#include "dvp_gen/descriptor.h"
#include "firmware/dllm/swap_pages.h"
#include "firmware/kernels/model.h"
#include "firmware/kernels/run_state.h"

namespace dvp::dllm {

// A matrix in main memory by output channel: its codes and, with bytes per row, its scales.
struct channel_rows {
  std::uint64_t first = 0;   // bus address of channel 0
  std::uint32_t stride = 0;  // bytes from channel to channel; 0: every channel needs all of it
  std::uint32_t bytes = 0;   // of one channel; at most the stride, but for stride 0
  gen::purpose purpose = gen::purpose::other;

  byte_range part(std::uint32_t channel, std::uint32_t channels) const {
    return {first + std::uint64_t{channel} * stride, std::uint64_t{channels - 1} * stride + bytes};
  }
  friend bool operator==(const channel_rows&, const channel_rows&) = default;
};

// At least one channel, at least one matrix.
struct swap_product {
  // Codes and scales of two matrices; or of the channels, and three factors of two corrections.
  static constexpr std::uint32_t most_rows = 8;

  gen::operator_label name = gen::operator_label::none;
  std::uint32_t layer = 0;
  std::uint32_t channels = 0;
  std::uint32_t unit = 0;  // it may be cut at multiples of so many channels
  std::uint32_t uses = 1;  // forwards of the run that read it, at least; only in comparison with other products
  std::uint32_t row_count = 0;
  std::array<channel_rows, most_rows> rows{};

  // Its reader needs all of it at once.
  bool is_whole() const { return name == gen::operator_label::ffn_down || name == gen::operator_label::ffn_update; }
  friend bool operator==(const swap_product&, const swap_product&) = default;
};

inline constexpr std::uint32_t products_per_layer = 5;
inline constexpr std::uint32_t most_products = kernels::most_layers * (products_per_layer + 1) + 1;
inline constexpr std::uint32_t no_product = most_products;

// Where a layer's products are in it.
enum class layer_product : std::uint32_t { key_value, query, output, gate_up, down };

// Memory that the layers share in equal parts, one behind the other.
struct layered_memory {
  std::uint64_t first = 0;
  std::uint64_t layer_bytes = 0;

  byte_range of(std::uint32_t layer) const { return {first + layer * layer_bytes, layer_bytes}; }
};

struct swap_graph {
  std::uint32_t layers = 0;
  std::array<swap_product, most_products> products{};
  std::uint32_t count = 0;

  byte_range system;      // ring, records, results, residual stream, identity
  byte_range parameters;  // norms and biases
  byte_range identity;    // part of system that the CPU writes before a run; empty when it does not
  byte_range tokens;
  byte_range rope;
  std::array<byte_range, 2> embedding{};  // codes, scales; the latter may be empty
  byte_range cache;
  byte_range store;      // compressed cache; may be empty
  byte_range ffn_state;  // order, activity and drift of the anchored network; may be empty
  // What attention needs of cache and store.
  static constexpr std::uint32_t most_cached = 7;
  std::array<layered_memory, most_cached> cached{};
  std::uint32_t cached_count = 0;

  static std::uint32_t index(std::uint32_t layer, layer_product which) {
    return layer * products_per_layer + static_cast<std::uint32_t>(which);
  }
  // What every plan pins, without the staging area.
  std::array<byte_range, 9> always() const {
    return {system, parameters, tokens, rope, embedding[0], embedding[1], cache, store, ffn_state};
  }
  // Whether a plan for the one is a plan for the other.
  bool same_memory(const swap_graph& other) const;
  std::uint32_t head() const { return has(layers * products_per_layer, gen::operator_label::head); }
  // The layer's channels and corrections; no_product without an anchored network.
  std::uint32_t channels(std::uint32_t layer) const {
    return has(count - layers + layer, gen::operator_label::ffn_update);
  }

 private:
  std::uint32_t has(std::uint32_t index, gen::operator_label name) const {
    return index < count && products[index].name == name ? index : no_product;
  }
};

// The products and tables of a model that read_image() accepted, and the cache of a placed run over so many positions,
// no more than the model's context. The caller fills in system, parameters,
// identity and tokens.
void make_graph(const kernels::config& model, const kernels::weights& w, const kernels::kv_cache& cache,
                std::uint32_t positions, swap_graph& graph);

// The codes, or elements, of a matrix, and its scales where it has some, become part of the product.
void add_matrix(const kernels::tensor& t, swap_product& p);

// How many bytes pack_parameters() needs.
std::uint64_t parameter_bytes(const kernels::config& model);
// Copies all norms and biases to `address` on, one behind the other, and makes `w` find them there.
void pack_parameters(const kernels::config& model, std::uint64_t address, kernels::weights& w);

}  // namespace dvp::dllm
