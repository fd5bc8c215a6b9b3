#include "firmware/kernels/scratchpad_plan.h"

#include <algorithm>
#include <numeric>

#include "dvp_gen/descriptor.h"
#include "firmware/kernels/kv_store.h"

namespace dvp::kernels {
namespace {

// Longer pieces and wider chunks are fewer descriptors, and longer rows of the down projection's pieces. Larger staging
// than this only delays the first product, more channels only take room for results: both follow the scratchpad's size.
std::uint32_t most_staging_bytes(std::uint32_t scratchpad_bytes) {
  return std::clamp(scratchpad_bytes / 64, 128u << 10, 2u << 20);
}

std::uint32_t most_channels(std::uint32_t scratchpad_bytes) {
  return std::clamp(scratchpad_bytes >> 13, 256u, 1024u);
}

// What a plan should leave before fewer channels per chunk are the better choice: staging for pieces that keep the
// array busy, and a tile of the array's columns of scores.
constexpr std::uint32_t comfortable_staging_bytes = 16u << 10;
constexpr std::uint32_t comfortable_score_rows = 16;
constexpr std::uint32_t score_bytes = 4 + 2;  // fp32 score and bf16 probability

std::uint64_t align_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

struct trial {
  std::uint32_t rows;
  std::uint32_t channels;
  std::uint32_t alignment;  // of the regions that engines use at the same time
};

// What is fetched of a channel of the feed-forward network, at most: codes, scales and two corrections' factors; see
// ffn_channels in dvp_gen/image.h.
std::uint64_t channel_bytes(std::uint64_t width, std::uint64_t correction_rank) {
  return 3 * width + 2 * align_up(2 * width / weight_group + 1, gen::scale_slot_unit) + 2 * 2 * 3 * correction_rank;
}

// Factors of inputs and outputs, and what comes of them; see narrow_correction.
std::uint64_t correction_bytes(std::uint64_t width, std::uint64_t rows, std::uint64_t rank) {
  return 2 * 3 * rank * width + (4 + 2) * 3 * rank * rows;
}

// What the feed-forward network alone needs.
void plan_feed_forward(const config& model, const plan_request& request, std::uint32_t align,
                       scratchpad_allocator& space, scratchpad_plan& plan) {
  const std::uint64_t rows = plan.tile_rows;
  plan.activations[0] = space.low(rows * 2 * plan.channels, align);
  plan.activations[1] = space.high(rows * 2 * plan.channels, align);
  plan.down = space.low(rows * 4 * model.width, align);
  if (request.anchored) {
    const std::uint64_t rank = request.correction_rank;
    const std::uint64_t turned = (model.width + 2 * rank) * plan.channel_piece();
    plan.turned[0] = space.low(turned, align);
    plan.turned[1] = space.high(turned, align);
    plan.turned[2] = space.low(turned, align);
    plan.channel_words =
        space.low(scratchpad_plan::list_offset + std::uint64_t{4} * model.ffn_width, request.granule_bytes);
    if (rank != 0) {
      plan.numbers = space.low(std::uint64_t{4} * plan.channel_piece(), request.granule_bytes);
      for (region& each : plan.corrections) {
        each = space.low(correction_bytes(model.width, rows, rank) + 3 * 4, request.granule_bytes);
      }
    }
  }
}

// What the compressed cache needs. None of it shares its place with the feed-forward network: the next layer's entries
// are on their way while that works.
void plan_compressed(const config& model, const plan_request& request, std::uint32_t align, scratchpad_allocator& space,
                     scratchpad_plan& plan) {
  const std::uint64_t rows = plan.tile_rows;
  const std::uint64_t entries = request.store_entries;
  const std::uint64_t rank = request.store_rank;
  const kv_store store{.capacity = request.store_entries, .rank = request.store_rank};
  const std::uint32_t unit = request.granule_bytes;
  plan.kv_rotary = space.low(4 * entries * model.head_length, unit);
  plan.kv_list = space.low(4 * entries, unit);
  plan.kv_terms = space.low(entries * store.term_row_bytes(model), unit);
  plan.kv_bases = space.low(std::uint64_t{2} * most_bases * model.kv_heads * store.basis_bytes(model), unit);
  plan.kv_codes[0] = space.low(entries * model.kv_width(), align);
  plan.kv_codes[1] = space.high(entries * model.kv_width(), align);
  plan.kv_keys = space.low(entries * model.kv_width() * 2, align);
  plan.kv_turned = space.high(std::uint64_t{turned_entries(request.store_entries)} * model.kv_width(), align);
  plan.kv_columns = space.low(2 * (rank + 1) * model.kv_heads * entries, unit);
  plan.kv_mixed = space.low(rows * model.heads_per_kv() * rank * (4 + 2), unit);
  plan.kv_maxima = space.low(4 * entries, unit);
  encoding_space& encoding = plan.encoding;
  for (region& codes : encoding.codes) {
    codes = space.low(rows * model.kv_width(), unit);
  }
  encoding.terms = space.low(rows * store.term_row_bytes(model), unit);
  encoding.rounded = space.low(rows * 2 * model.head_length, unit);
  encoding.coefficients = space.low(rows * 4 * rank, unit);
  encoding.base = space.low(rows * 4 * model.head_length, unit);
  encoding.basis = space.low(store.basis_bytes(model), unit);
  encoding.gram = space.low(store.gram_bytes(model), unit);
}

bool try_plan(const config& model, const drivers::npu_limits& limits, const plan_request& request, const trial& t,
              scratchpad_plan& plan) {
  const std::uint64_t rows = t.rows;
  const std::uint32_t unit = request.granule_bytes;
  const std::uint32_t align = t.alignment;
  scratchpad_allocator space(limits.scratchpad_bytes, unit);
  plan = {};
  plan.tile_rows = t.rows;
  plan.channels = t.channels;
  plan.attn_norm = space.low(std::uint64_t{4} * model.width, unit);
  plan.ffn_norm = space.low(std::uint64_t{4} * model.width, unit);
  plan.rope = space.low(rows * 4 * model.head_length, unit);
  plan.biases = space.low(model.qkv_bias ? std::uint64_t{4} * (model.query_width() + 2 * model.kv_width()) : 0, unit);
  plan.identity = space.low(request.identity ? 2 * weight_group * weight_group : 0, unit);
  plan.samples = space.low(rows * (sizeof(gen::sampling_state) + sizeof(gen::sample_record)), unit);
  if (request.store_entries != 0) {
    plan_compressed(model, request, align, space, plan);
  }
  plan.residual = space.low(rows * 4 * model.width, align);
  plan.normed = space.low(rows * 2 * std::max(model.width, model.query_width()), align);
  if (request.anchored) {
    plan.anchored_inputs = space.low(rows * 2 * model.width * model.layers, unit);
    plan.anchored_sums = space.low(rows * 4 * model.ffn_width * model.layers, unit);
    plan.anchored_outputs = space.low(rows * 4 * model.width * model.layers, unit);
  }
  for (std::uint32_t i = 0; i < plan.results.size(); ++i) {
    const std::uint64_t bytes = rows * 4 * t.channels;
    plan.results[i] = i % 2 == 0 ? space.low(bytes, align) : space.high(bytes, align);
  }
  plan.cached[0] = space.low(rows * 2 * t.channels, align);
  plan.cached[1] = space.high(rows * 2 * t.channels, align);

  // The feed-forward network's needs are fixed; what it does not take, staging and scores share.
  scratchpad_allocator feed_forward = space;
  plan_feed_forward(model, request, align, feed_forward, plan);
  scratchpad_allocator attention = space;
  plan.queries = attention.low(rows * 2 * model.query_width(), align);
  if (!feed_forward.fits() || !attention.fits()) {
    return false;
  }
  const std::uint32_t common = std::min(feed_forward.free(), attention.free());
  const std::uint32_t staging = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(most_staging_bytes(limits.scratchpad_bytes), common / 3 / align * align));
  if (staging == 0) {
    return false;
  }
  plan.staging[0] = space.low(staging, align);
  plan.staging[1] = space.high(staging, align);

  feed_forward = space;
  plan_feed_forward(model, request, align, feed_forward, plan);
  attention = space;
  plan.queries = attention.low(rows * 2 * model.query_width(), align);
  const std::uint64_t all_rows = rows * model.heads_per_kv() * score_bytes * score_stride(request.most_keys);
  const std::uint64_t scores = std::min<std::uint64_t>(align_up(all_rows, align), attention.free() / 2 / unit * unit);
  plan.scores[0] = attention.low(scores, unit);
  plan.scores[1] = attention.high(scores, unit);
  if (!space.fits() || !feed_forward.fits() || !attention.fits()) {
    return false;
  }

  // The embedding needs a whole row per piece, attention at least one row of scores, anchors a channel and its scales.
  const std::uint64_t least =
      std::max<std::uint64_t>(2 * model.width,
                              request.anchored ? channel_bytes(model.width, request.correction_rank) : 0) +
      staging_gap;
  // Probabilities of the compressed cache times scales, of 32 entries at least.
  const std::uint64_t scaled =
      request.store_entries == 0
          ? 0
          : std::uint64_t{2} * 32 *
                std::min<std::uint64_t>(plan.score_rows(request.most_keys), rows * model.heads_per_kv());
  return staging >= std::max(least, scaled) && plan.score_rows(request.most_keys) >= 1;
}

bool comfortable(const scratchpad_plan& plan, std::uint32_t keys) {
  return plan.staging[0].bytes >= comfortable_staging_bytes &&
         plan.score_rows(keys) >= std::min(plan.tile_rows, comfortable_score_rows);
}

}  // namespace

scratchpad_allocator::scratchpad_allocator(std::uint32_t bytes, std::uint32_t unit) : unit_(unit), top_(bytes) {}

region scratchpad_allocator::low(std::uint64_t bytes, std::uint32_t alignment) {
  const std::uint64_t first = align_up(bottom_, std::max(alignment, unit_));
  const std::uint64_t end = align_up(first + bytes, unit_);
  if (!fits_ || end > top_) {
    fits_ = false;
    return {};
  }
  bottom_ = static_cast<std::uint32_t>(end);
  return {.address = static_cast<std::uint32_t>(first), .bytes = static_cast<std::uint32_t>(end - first)};
}

region scratchpad_allocator::high(std::uint64_t bytes, std::uint32_t alignment) {
  const std::uint64_t unit = std::max(alignment, unit_);
  if (!fits_ || bytes > top_) {
    fits_ = false;
    return {};
  }
  const std::uint64_t first = (top_ - bytes) / unit * unit;
  if (first < bottom_) {
    fits_ = false;
    return {};
  }
  const region taken{.address = static_cast<std::uint32_t>(first),
                     .bytes = static_cast<std::uint32_t>(align_up(bytes, unit_))};
  top_ = taken.address;
  return taken;
}

std::uint32_t scratchpad_plan::score_rows(std::uint32_t keys) const {
  return scores[0].bytes / (score_bytes * score_stride(keys));
}

plan_request request_plan(const config& model, const weights& w, std::uint32_t tile_rows, std::uint32_t most_keys,
                          std::uint32_t granule_bytes) {
  const auto last = w.layers.begin() + model.layers;
  return {.tile_rows = tile_rows,
          .most_keys = most_keys,
          .granule_bytes = granule_bytes,
          .identity = w.embedding.format == gen::tensor_format::bf16,
          .groups = std::any_of(w.layers.begin(), last, [](const layer_weights& l) {
            return l.ffn_down.format == gen::tensor_format::q8_group32;
          })};
}

bool plan_scratchpad(const config& model, const drivers::npu_limits& limits, const plan_request& request,
                     scratchpad_plan& plan) {
  const std::uint32_t whole = request.groups ? std::lcm(model.head_length, weight_group) : model.head_length;
  const std::uint32_t bank_bytes = limits.scratchpad_bytes / limits.scratchpad_banks;
  const std::uint32_t first_rows = request.tile_rows == 0 ? 32 : request.tile_rows;
  const std::uint32_t last_rows = request.tile_rows == 0 ? 4 : request.tile_rows;
  const std::uint32_t first_channels = std::max(whole, most_channels(limits.scratchpad_bytes) / whole * whole);
  bool found = false;
  for (std::uint32_t rows = first_rows; rows >= last_rows; rows /= 2) {
    for (std::uint32_t channels = first_channels; channels >= whole; channels = channels / 2 / whole * whole) {
      for (const std::uint32_t alignment : {bank_bytes, request.granule_bytes}) {
        scratchpad_plan candidate;
        if (alignment % request.granule_bytes != 0 ||
            !try_plan(model, limits, request, {.rows = rows, .channels = channels, .alignment = alignment},
                      candidate)) {
          continue;
        }
        if (comfortable(candidate, request.most_keys)) {
          plan = candidate;
          return true;
        }
        if (!found || candidate.staging[0].bytes > plan.staging[0].bytes) {
          plan = candidate;
          found = true;
        }
      }
    }
    if (found) {
      return true;
    }
  }
  return false;
}

}  // namespace dvp::kernels
