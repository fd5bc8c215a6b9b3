#include "firmware/dllm/prefix_tiers.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "firmware/dllm/subspace.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using gen::prefix_reading;
using gen::purpose;
using kernels::kv_half;

constexpr std::uint32_t index_bytes = sizeof(std::uint32_t);

// Layers whose attention a pass computes: the last one's only when rows have logits.
std::uint32_t attended_layers(const kernels::config& model, const kernels::forward_pass& pass) {
  return pass.logits_rows != 0 || pass.ffn != kernels::ffn_pass::whole ? model.layers : model.layers - 1;
}

}  // namespace

void prefix_tiers::start(const compression_request& compression, const compression_space& space,
                         const kernels::config& model, std::uint32_t length, std::uint32_t block_length,
                         kernels::run_state& state, std::span<gen::layer_statistics> statistics) {
  *this = {};
  compression_ = &compression;
  space_ = &space;
  model_ = &model;
  state_ = &state;
  cache_ = state.compressed;
  statistics_ = statistics;
  length_ = length;
  block_length_ = block_length;
  *cache_ = {.store = space.store};
  if (compression.ranks()) {
    ranges_ = {.first = compression.record.basis_tokens, .step = compression.record.basis_refresh};
  }
  if (space.store.rank != 0) {
    const std::uint64_t address = space.store.gram(model, 0, kv_half::keys, 0);
    const std::uint64_t bytes = gram_bytes(space.store, model);
    std::memset(hal::memory(address, bytes), 0, bytes);
    state.cpu_wrote(address, bytes);
    hal::spend(hal::work::copy, bytes, address, bytes, true, purpose::kv_metadata);
  }
}

void prefix_tiers::begin_span() {
  forwards_ = 0;
  mapped_ = false;
}

// Entries without a basis.
std::uint32_t prefix_tiers::plain() const {
  return std::min(cache_->entries, ranges_.first);
}

// Whether a basis will be made behind the pass's rows, and rows stored by it will be read.
bool prefix_tiers::adds_to_a_basis(const kernels::forward_pass& pass) const {
  const std::uint32_t made = ranges_.basis_of(pass.first);
  const std::uint64_t due = ranges_.end_of(made);
  return space_->store.rank != 0 && due != basis_ranges::never && due + 2 * std::uint64_t{block_length_} <= length_;
}

void prefix_tiers::prepare(kernels::forward_pass& pass, bool denoises) {
  cache_->entries = pass.first;
  state_->cache.origin = pass.first;
  const bool ranked = denoises && pass.first > plain();
  if (ranked && forwards_ >= 2) {
    if (!mapped_) {
      make_maps();
    }
    reading_ = prefix_reading::mapped;
  } else {
    set_whole();
    pass.rank = ranked && forwards_ == 1;
    reading_ = pass.rank ? prefix_reading::ranking : ranked ? prefix_reading::warm_up : prefix_reading::whole;
  }
  pass.encode = !denoises;
  if (pass.encode) {
    cache_->basis = ranges_.basis_of(pass.first);
    if (cache_->basis > bases_) {
      make_bases();
    }
    pass.gram = adds_to_a_basis(pass);
    if (pass.gram && space_->kept_grams != 0) {
      keep_grams(false);
    }
  }
}

void prefix_tiers::undo(const kernels::forward_pass& pass) {
  cache_->rotary_rows = 0;  // the NPU was reset
  if (pass.gram) {
    keep_grams(true);
  }
}

void prefix_tiers::complete(const kernels::forward_pass& pass) {
  const std::uint32_t unmapped = cache_->entries - plain();
  const std::uint32_t attended = attended_layers(*model_, pass);
  for (std::uint32_t layer = 0; layer < model_->layers; ++layer) {
    gen::layer_statistics& s = statistics_[layer];
    s.encoded += pass.encode ? pass.rows : 0;
    if (layer >= attended) {
      continue;
    }
    s.plain_reads += plain();
    if (reading_ != prefix_reading::mapped) {
      s.unmapped_reads += unmapped;
      continue;
    }
    s.map_q8 += counts_.q8;
    s.map_q4 += counts_.q4;
    s.map_q2 += counts_.q2;
    s.map_q0 += counts_.q0;
  }
  ++forwards_;
}

void prefix_tiers::set_whole() {
  const std::uint32_t entries = cache_->entries;
  mapped_ = false;
  read_whole(entries, ranges_, cache_->reading[0]);
  std::fill_n(cache_->reading.begin() + 1, model_->layers - 1, cache_->reading[0]);
  if (in_order_ >= entries) {
    return;
  }
  for (std::uint32_t layer = 0; layer < model_->layers; ++layer) {
    const std::uint64_t address = space_->store.list(*model_, layer) + std::uint64_t{index_bytes} * in_order_;
    const auto list = hal::objects<std::uint32_t>(address, entries - in_order_);
    std::iota(list.begin(), list.end(), in_order_);
    hal::spend(hal::work::copy, list.size_bytes(), address, list.size_bytes(), true, purpose::kv_metadata);
  }
  in_order_ = entries;
  tell_of_lists();
}

void prefix_tiers::make_maps() {
  const kernels::kv_store& store = space_->store;
  const std::uint32_t entries = cache_->entries;
  const std::uint32_t ranked = entries - plain();
  const gen::compression_record& record = compression_->record;
  const tier_shares shares{record.share_q8, record.share_q4, record.share_q2};
  for (std::uint32_t layer = 0; layer < model_->layers; ++layer) {
    const std::uint64_t maxima = store.maxima(*model_, layer);
    const auto list = hal::objects<std::uint32_t>(store.list(*model_, layer), entries);
    counts_ = make_tier_map(hal::objects<float>(maxima, entries), ranges_, shares, ranking_space(*space_, ranked), list,
                            cache_->reading[layer]);
    hal::spend(hal::work::rank, ranked, maxima + sizeof(float) * plain(), sizeof(float) * ranked, false,
               purpose::kv_metadata);
    hal::spend(hal::work::copy, list.size_bytes(), store.list(*model_, layer), list.size_bytes(), true,
               purpose::kv_metadata);
    ++statistics_[layer].maps;
    hal::feed_watchdog();
  }
  in_order_ = plain();
  mapped_ = true;
  tell_of_lists();
}

// Those of all layers lie one behind the other.
void prefix_tiers::tell_of_lists() const {
  const kernels::kv_store& store = space_->store;
  state_->cpu_wrote(store.list(*model_, 0), store.list(*model_, model_->layers) - store.list(*model_, 0));
}

// The next basis of every layer, half and head, from its Gram matrix.
void prefix_tiers::make_bases() {
  ++bases_;
  const kernels::kv_store& store = space_->store;
  const std::uint32_t length = model_->head_length;
  const std::uint32_t iterations = compression_->record.basis_iterations;
  if (store.rank == 0) {
    return;
  }
  const auto scratch = hal::objects<double>(space_->vectors, subspace_scratch(length, store.rank));
  for (std::uint32_t layer = 0; layer < model_->layers; ++layer) {
    for (const kv_half half : {kv_half::keys, kv_half::values}) {
      for (std::uint32_t head = 0; head < model_->kv_heads; ++head) {
        const std::uint64_t gram = store.gram(*model_, layer, half, head);
        const std::uint64_t basis = store.basis(*model_, layer, bases_, half, head);
        const auto codes = hal::objects<std::uint16_t>(basis, std::uint64_t{2} * store.rank * length);
        leading_subspace(hal::objects<float>(gram, std::uint64_t{length} * length), length, store.rank, iterations,
                         scratch, codes.first(codes.size() / 2), codes.last(codes.size() / 2));
        hal::spend(hal::work::mac, subspace_macs(length, store.rank, iterations), gram, store.gram_bytes(*model_),
                   false, purpose::kv_metadata);
        hal::spend(hal::work::copy, codes.size_bytes(), basis, codes.size_bytes(), true, purpose::kv_metadata);
        hal::feed_watchdog();
      }
    }
    ++statistics_[layer].bases;
  }
  const std::uint64_t first = store.basis(*model_, 0, 1, kv_half::keys, 0);
  state_->cpu_wrote(first, store.basis(*model_, model_->layers, 1, kv_half::keys, 0) - first);
}

// Copies the Gram matrices aside, or back.
void prefix_tiers::keep_grams(bool back) {
  const std::uint64_t bytes = gram_bytes(space_->store, *model_);
  const std::uint64_t grams = space_->store.gram(*model_, 0, kv_half::keys, 0);
  const std::uint64_t from = back ? space_->kept_grams : grams;
  const std::uint64_t to = back ? grams : space_->kept_grams;
  std::memcpy(hal::memory(to, bytes), hal::memory(from, bytes), bytes);
  hal::spend(hal::work::copy, bytes, from, bytes, false, purpose::kv_metadata);
  hal::spend(hal::work::copy, 0, to, bytes, true, purpose::kv_metadata);
  if (back) {
    state_->cpu_wrote(to, bytes);
  }
}

}  // namespace dvp::dllm
