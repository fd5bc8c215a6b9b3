#include "firmware/kernels/scratchpad_plan.h"

#include <algorithm>
#include <numeric>

#include "dvp_gen/descriptor.h"

namespace dvp::kernels {
namespace {

// More than this per staging buffer only delays the first product.
constexpr std::uint32_t most_staging_bytes = 128u << 10;
constexpr std::uint32_t most_channels = 256;
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
  plan.residual = space.low(rows * 4 * model.width, align);
  plan.normed = space.low(rows * 2 * std::max(model.width, model.query_width()), align);
  for (std::uint32_t i = 0; i < plan.results.size(); ++i) {
    const std::uint64_t bytes = rows * 4 * t.channels;
    plan.results[i] = i % 2 == 0 ? space.low(bytes, align) : space.high(bytes, align);
  }
  plan.cached[0] = space.low(rows * 2 * t.channels, align);
  plan.cached[1] = space.high(rows * 2 * t.channels, align);

  // The feed-forward network's needs are fixed; what it does not take, staging and scores share.
  scratchpad_allocator feed_forward = space;
  plan.activations[0] = feed_forward.low(rows * 2 * t.channels, align);
  plan.activations[1] = feed_forward.high(rows * 2 * t.channels, align);
  plan.down = feed_forward.low(rows * 4 * model.width, align);
  scratchpad_allocator attention = space;
  plan.queries = attention.low(rows * 2 * model.query_width(), align);
  if (!feed_forward.fits() || !attention.fits()) {
    return false;
  }
  const std::uint32_t common = std::min(feed_forward.free(), attention.free());
  const std::uint32_t staging =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(most_staging_bytes, common / 3 / align * align));
  if (staging == 0) {
    return false;
  }
  plan.staging[0] = space.low(staging, align);
  plan.staging[1] = space.high(staging, align);

  feed_forward = space;
  plan.activations[0] = feed_forward.low(rows * 2 * t.channels, align);
  plan.activations[1] = feed_forward.high(rows * 2 * t.channels, align);
  plan.down = feed_forward.low(rows * 4 * model.width, align);
  attention = space;
  plan.queries = attention.low(rows * 2 * model.query_width(), align);
  const std::uint64_t all_rows = rows * model.heads_per_kv() * score_bytes * score_stride(request.most_keys);
  const std::uint64_t scores = std::min<std::uint64_t>(align_up(all_rows, align), attention.free() / 2 / unit * unit);
  plan.scores[0] = attention.low(scores, unit);
  plan.scores[1] = attention.high(scores, unit);
  if (!space.fits() || !feed_forward.fits() || !attention.fits()) {
    return false;
  }

  // The embedding needs a whole row per piece, attention at least one row of scores.
  return staging >= 2 * model.width + staging_gap && plan.score_rows(request.most_keys) >= 1;
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
  const std::uint32_t first_channels = std::max(whole, most_channels / whole * whole);
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
