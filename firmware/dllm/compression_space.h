// Where compression keeps what belongs to a run; bus addresses, every part on an alignment border.
#pragma once

#include <cstdint>

#include "firmware/dllm/compression.h"
#include "firmware/dllm/tier_map.h"
#include "firmware/kernels/anchored_ffn.h"
#include "firmware/kernels/kv_store.h"

namespace dvp::dllm {

struct compression_space {
  kernels::kv_store store;
  std::uint64_t kept_grams = 0;  // the store's Gram matrices before the forward that adds to them
  // As kernels::anchored_ffn names them; order has one row more when there are corrections.
  std::uint64_t order = 0;
  std::uint64_t activity = 0;
  std::uint64_t drift = 0;
  // Space for ranking so many things at once: 16-bit keys, 32-bit things twice, their tiers in bytes.
  std::uint32_t most_ranked = 0;
  std::uint64_t keys = 0;
  std::uint64_t ranking = 0;
  std::uint64_t spare = 0;
  std::uint64_t tiers = 0;
  std::uint64_t vectors = 0;  // scratch of the subspace iteration
};

// Free memory: [next, end).
struct free_memory {
  std::uint64_t next = 0;
  std::uint64_t end = 0;
};

// Finds room for what the request needs over a sequence of `length` positions: the store behind the cache where it
// fits, else with everything else in the work buffer. Both advance to what is left. retries: a forward may be repeated.
// False when there is too little.
[[nodiscard]] bool place_compression(const compression_request& compression, const kernels::config& model,
                                     std::uint32_t length, bool retries, free_memory& cache, free_memory& work,
                                     compression_space& space);

// Bytes of all Gram matrices, which lie one behind the other.
std::uint64_t gram_bytes(const kernels::kv_store& store, const kernels::config& model);

// Of one layer: numbers of four bytes per channel, layer after layer from `first` on.
std::uint64_t channels_of(std::uint64_t first, std::uint32_t layer, const kernels::config& model);

// The CPU's view of the ranking space, for so many things.
tier_scratch ranking_space(const compression_space& space, std::uint32_t things);

}  // namespace dvp::dllm
