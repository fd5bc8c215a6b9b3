#include "firmware/dllm/compression_space.h"

#include <algorithm>

#include "firmware/dllm/alignment.h"
#include "firmware/dllm/subspace.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

// The store's rows come in whole groups of this many entries.
constexpr std::uint32_t store_rows = 32;

std::uint64_t take(free_memory& memory, std::uint64_t bytes) {
  const std::uint64_t address = memory.next;
  memory.next += align_up(bytes);
  return address;
}

bool fits(const free_memory& memory, std::uint64_t bytes) {
  return memory.next <= memory.end && bytes <= memory.end - memory.next;
}

}  // namespace

bool place_compression(const compression_request& compression, const kernels::config& model, std::uint32_t length,
                       bool retries, free_memory& cache, free_memory& work, compression_space& space) {
  space = {};
  if (compression.stores()) {
    space.store.capacity = (length + store_rows - 1) / store_rows * store_rows;
    space.store.rank = compression.ranks() ? compression.record.rank : 0;
    const std::uint64_t bytes = space.store.bytes(model);
    space.store.address = take(fits(cache, bytes) ? cache : work, bytes);
    if (retries && space.store.rank != 0) {
      space.kept_grams = take(work, gram_bytes(space.store, model));
    }
  }
  if (compression.anchors()) {
    const std::uint64_t per_channel = std::uint64_t{4} * model.layers * model.ffn_width;
    const std::uint64_t natural = compression.record.correction_rank != 0 ? std::uint64_t{4} * model.ffn_width : 0;
    space.order = take(work, per_channel + natural);
    space.activity = take(work, per_channel);
    space.drift = take(work, std::uint64_t{8} * model.layers);
  }
  const std::uint32_t entries = compression.ranks() ? space.store.capacity : 0;
  space.most_ranked = std::max(entries, compression.anchors() ? model.ffn_width : 0);
  space.keys = take(work, std::uint64_t{2} * space.most_ranked);
  space.ranking = take(work, std::uint64_t{4} * space.most_ranked);
  space.spare = take(work, std::uint64_t{4} * space.most_ranked);
  space.tiers = take(work, space.most_ranked);
  space.vectors = take(work, sizeof(double) * subspace_scratch(model.head_length, space.store.rank));
  return work.next <= work.end;
}

std::uint64_t gram_bytes(const kernels::kv_store& store, const kernels::config& model) {
  return std::uint64_t{2} * model.layers * model.kv_heads * store.gram_bytes(model);
}

std::uint64_t channels_of(std::uint64_t first, std::uint32_t layer, const kernels::config& model) {
  return first + std::uint64_t{4} * layer * model.ffn_width;
}

tier_scratch ranking_space(const compression_space& space, std::uint32_t things) {
  return {.keys = hal::objects<std::uint16_t>(space.keys, things),
          .order = hal::objects<std::uint32_t>(space.ranking, things),
          .spare = hal::objects<std::uint32_t>(space.spare, things),
          .tiers = hal::objects<std::uint8_t>(space.tiers, things)};
}

}  // namespace dvp::dllm
