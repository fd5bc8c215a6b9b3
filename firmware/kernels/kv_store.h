// The compressed prefix cache: where finished positions are kept as 8-bit codes, and how a forward reads them.
//
// Entry n is position n. Keys are taken before rotation. Of every entry, layer and head the store keeps
//   codes     i8 [head_length]: the residual x - C U, or x itself for entries without a basis
//   terms     bf16 C[rank] (anything without a basis), then the fp16 scale of the codes
// Codes are written once, at q8, and never changed; a forward reads them at the tier of its segments through the
// memory's converter. Terms are read for every entry, also for those whose residual is not.
#pragma once

#include <array>
#include <cstdint>

#include "dvp_gen/descriptor.h"
#include "firmware/kernels/model.h"

namespace dvp::kernels {

// Keys and values of a layer, in this order, wherever both have something.
enum class kv_half : std::uint8_t { keys, values };

// A layer's bases by number; 0: no basis.
inline constexpr std::uint32_t most_bases = 8;

// Entries read alike, in the order of the layer's list.
struct kv_segment {
  gen::precision tier = gen::precision::q8;  // q8, q4, q2 or q0
  std::uint32_t basis = 0;                   // number of the basis their coefficients belong to; 0: none
  std::uint32_t count = 0;
};

// How a forward reads one layer's prefix: the list of entries, cut into segments whose counts add up to the prefix.
// Entries of a segment ascend. With `whole` the list is 0, 1, 2, ... and every segment q8.
struct kv_reading {
  static constexpr std::uint32_t most_segments = 4 * most_bases + 1;  // plain entries, then tiers by bases
  std::array<kv_segment, most_segments> segments{};
  std::uint32_t count = 0;
  bool whole = true;
};

// Entries that a place for turned values of `capacity` entries holds: each segment starts at a multiple of four.
constexpr std::uint32_t turned_entries(std::uint32_t capacity) {
  return capacity + 4 * kv_reading::most_segments;
}

// Main memory of the store. All addresses are bus addresses, 64-byte aligned.
struct kv_store {
  std::uint64_t address = 0;
  std::uint32_t capacity = 0;  // entries, a multiple of 32
  std::uint32_t rank = 0;      // of every basis, 0 to 8

  static constexpr std::uint64_t alignment = 64;

  // Terms of an entry: keys' heads, then values' heads; 16-bit elements.
  std::uint32_t head_terms() const { return rank + 1; }
  std::uint32_t term_row_bytes(const config& model) const { return 2 * 2 * model.kv_heads * head_terms(); }
  std::uint32_t head_term_bytes(const config& model, kv_half half, std::uint32_t kv_head) const {
    return 2 * (static_cast<std::uint32_t>(half) * model.kv_heads + kv_head) * head_terms();
  }

  std::uint64_t codes(const config& model, std::uint32_t layer, kv_half half, std::uint32_t entry) const {
    return address +
           ((std::uint64_t{layer} * 2 + static_cast<std::uint32_t>(half)) * capacity + entry) * model.kv_width();
  }
  std::uint64_t terms(const config& model, std::uint32_t layer, std::uint32_t entry) const {
    return address + terms_offset(model) + (std::uint64_t{layer} * capacity + entry) * term_row_bytes(model);
  }
  // bf16 U [rank][head_length]; behind it, U transposed: [head_length][rank]. basis: 1 to most_bases.
  std::uint64_t basis(const config& model, std::uint32_t layer, std::uint32_t basis, kv_half half,
                      std::uint32_t kv_head) const {
    return address + bases_offset(model) +
           (((std::uint64_t{layer} * most_bases + basis - 1) * 2 + static_cast<std::uint32_t>(half)) * model.kv_heads +
            kv_head) *
               basis_bytes(model);
  }
  std::uint32_t basis_bytes(const config& model) const { return 2 * 2 * rank * model.head_length; }
  // fp32 [head_length][head_length]: sum over entries of x x^T, of bf16 x.
  std::uint64_t gram(const config& model, std::uint32_t layer, kv_half half, std::uint32_t kv_head) const {
    return address + grams_offset(model) +
           ((std::uint64_t{layer} * 2 + static_cast<std::uint32_t>(half)) * model.kv_heads + kv_head) *
               gram_bytes(model);
  }
  std::uint64_t gram_bytes(const config& model) const {
    return std::uint64_t{4} * model.head_length * model.head_length;
  }
  // u32 [capacity]: the order in which the layer's entries are read.
  std::uint64_t list(const config& model, std::uint32_t layer) const {
    return address + lists_offset(model) + std::uint64_t{4} * capacity * layer;
  }
  // fp32 [capacity]: what a ranking forward leaves: each entry's largest score, in the order of the list.
  std::uint64_t maxima(const config& model, std::uint32_t layer) const {
    return address + maxima_offset(model) + std::uint64_t{4} * capacity * layer;
  }
  std::uint64_t bytes(const config& model) const {
    return maxima_offset(model) + align(std::uint64_t{4} * capacity * model.layers);
  }

 private:
  static constexpr std::uint64_t align(std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
  std::uint64_t terms_offset(const config& model) const {
    return align(std::uint64_t{2} * model.layers * capacity * model.kv_width());
  }
  std::uint64_t bases_offset(const config& model) const {
    return terms_offset(model) + align(std::uint64_t{model.layers} * capacity * term_row_bytes(model));
  }
  std::uint64_t grams_offset(const config& model) const {
    return bases_offset(model) +
           align(std::uint64_t{2} * model.layers * most_bases * model.kv_heads * basis_bytes(model));
  }
  std::uint64_t lists_offset(const config& model) const {
    return grams_offset(model) + align(std::uint64_t{2} * model.layers * model.kv_heads * gram_bytes(model));
  }
  std::uint64_t maxima_offset(const config& model) const {
    return lists_offset(model) + align(std::uint64_t{4} * capacity * model.layers);
  }
};

// The store and how the next forward uses it. Prefix: positions [0, entries), all of them stored.
struct compressed_cache {
  kv_store store;
  std::uint32_t entries = 0;
  // Basis of the rows that are encoded next; 0: none, they are kept whole.
  std::uint32_t basis = 0;
  std::array<kv_reading, most_layers> reading{};  // by layer
  // Rows of the rotary table that are in the scratchpad; nothing is there after the NPU was started anew.
  std::uint32_t rotary_rows = 0;
};

}  // namespace dvp::kernels
