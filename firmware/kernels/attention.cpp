#include <algorithm>

#include "firmware/kernels/compressed_attention.h"
#include "firmware/kernels/projection.h"
#include "tlm/numerics/special.h"

namespace dvp::kernels {
namespace {

using gen::operator_label;
using gen::vector_function;

// Some stacked rows of one KV head: the query heads that share it lie one below the other, so its keys stream once.
struct unit {
  std::uint32_t kv_head = 0;
  std::uint32_t first = 0;  // stacked row: query head within the group * t + row
  std::uint32_t rows = 0;
  region scores;
};

// One layer's attention over `keys` positions. Units overlap: the array turns to the next unit's scores while the
// vector unit makes probabilities of this one's.
class attention_schedule {
 public:
  attention_schedule(const config& model, const weights& w, std::uint32_t layer, std::uint32_t keys, run_state& state,
                     const row_span& span, compressed_prefix* prefix, bool rank)
      : model_(model),
        weights_(w.layers[layer]),
        layer_(layer),
        keys_(keys),
        state_(state),
        span_(span),
        prefix_(prefix),
        cached_from_(prefix != nullptr ? prefix->entries() : 0),
        rank_(rank && prefix != nullptr),
        mixed_{state.plan.normed.address, model.query_width() * 2} {}

  void project_queries();
  void mix();
  void project_output();

 private:
  matrix queries(std::uint32_t head) const {
    const std::uint32_t row_bytes = model_.head_length * 2;
    return {state_.plan.queries.address + head * span_.rows * row_bytes, row_bytes};
  }
  matrix scores(const unit& u) const { return {u.scores.address, score_stride(keys_) * 4}; }
  matrix probabilities(const unit& u) const {
    return {u.scores.address + u.rows * score_stride(keys_) * 4, score_stride(keys_) * 2};
  }
  std::uint32_t unit_rows() const;
  void score(const unit& u);
  void mix_values(const unit& u);

  const config& model_;
  const layer_weights& weights_;
  std::uint32_t layer_;
  std::uint32_t keys_;
  run_state& state_;
  const row_span& span_;
  compressed_prefix* prefix_;  // of positions [0, cached_from_); null: there are none
  std::uint32_t cached_from_;
  bool rank_;
  matrix mixed_;  // bf16 [t][query_width], where the normalised rows were
};

void attention_schedule::project_queries() {
  const bias_places biases = places_of(model_, state_.plan);
  state_.stream.label(operator_label::query_projection, layer_);
  load_bias(model_, weights_.attn_q_bias, biases.q, state_);
  for (std::uint32_t first = 0, channels = 0; first < model_.query_width(); first += channels) {
    channels = state_.enter({operator_label::query_projection, layer_, first},
                            std::min(state_.plan.channels, model_.query_width() - first));
    const matrix projected = project(model_, weights_.attn_q, biases.q, first, channels, state_, span_);
    for (std::uint32_t c = 0; c < channels; c += model_.head_length) {
      state_.stream.apply({.function = rope_function(model_),
                           .rows = span_.rows,
                           .columns = model_.head_length,
                           .s0 = projected.from(0, c * 4),
                           .s1 = span_.rope,
                           .d = queries((first + c) / model_.head_length),
                           .scalar_int = model_.head_length});
    }
  }
}

// As many stacked rows as the score and result regions hold: whole heads, or nearly equal parts of one.
std::uint32_t attention_schedule::unit_rows() const {
  const std::uint32_t most =
      std::min(state_.plan.score_rows(keys_), state_.plan.results[0].bytes / (model_.head_length * 4));
  const std::uint32_t heads = std::min(most / span_.rows, model_.heads_per_kv());
  if (heads != 0) {
    return heads * span_.rows;
  }
  const std::uint32_t parts = (span_.rows + most - 1) / most;
  return (span_.rows + parts - 1) / parts;
}

void attention_schedule::score(const unit& u) {
  state_.stream.label(operator_label::scores, layer_);
  const streamed_operand keys{.precision = gen::precision::bf16,
                              .purpose = gen::purpose::prefix_kv,
                              .object = dram_object::kv_cache,
                              .data = state_.cache.keys(model_, layer_, u.kv_head, cached_from_),
                              .stride = model_.head_length * 2};
  const matrix stacked = queries(u.kv_head * model_.heads_per_kv()).from(u.first);
  if (prefix_ != nullptr) {
    prefix_->score(u.kv_head, stacked, u.rows, scores(u));
    state_.stream.label(operator_label::scores, layer_);
  }
  stream_product(state_, keys, keys_ - cached_from_, model_.head_length, stacked, u.rows,
                 scores(u).from(0, cached_from_ * 4));
  if (rank_) {
    prefix_->rank(scores(u), u.rows);
  }
  state_.stream.label(operator_label::softmax, layer_);
  state_.stream.apply({.function = vector_function::softmax,
                       .rows = u.rows,
                       .columns = keys_,
                       .s0 = scores(u),
                       .s1 = {},
                       .d = probabilities(u),
                       .scalar0 = numerics::rsqrt(static_cast<float>(model_.head_length))});
}

void attention_schedule::mix_values(const unit& u) {
  state_.stream.label(operator_label::values, layer_);
  const streamed_operand values{
      .precision = gen::precision::bf16,
      .purpose = gen::purpose::prefix_kv,
      .object = dram_object::kv_cache,
      .data = state_.cache.values(model_, layer_, u.kv_head * model_.head_length, cached_from_),
      .stride = state_.cache.capacity * 2};
  const matrix out{state_.result.next(state_.plan.results).address, model_.head_length * 4};
  const bool started = prefix_ != nullptr && prefix_->mix(u.kv_head, probabilities(u), u.rows, out);
  stream_product(state_, values, model_.head_length, keys_ - cached_from_, probabilities(u).from(0, cached_from_ * 2),
                 u.rows, out, started);
  // Stacked rows go back to their place beside the other heads.
  for (std::uint32_t done = 0; done < u.rows;) {
    const std::uint32_t head = u.kv_head * model_.heads_per_kv() + (u.first + done) / span_.rows;
    const std::uint32_t row = (u.first + done) % span_.rows;
    const std::uint32_t rows = std::min(span_.rows - row, u.rows - done);
    state_.stream.apply({.function = vector_function::to_bf16,
                         .rows = rows,
                         .columns = model_.head_length,
                         .s0 = out.from(done),
                         .s1 = {},
                         .d = mixed_.from(row, head * model_.head_length * 2)});
    done += rows;
  }
}

void attention_schedule::mix() {
  state_.enter({operator_label::scores, layer_, 0}, model_.kv_width());
  const std::uint32_t stacked = model_.heads_per_kv() * span_.rows;
  const std::uint32_t rows = unit_rows();
  unit before;
  std::uint32_t number = 0;
  for (std::uint32_t kv_head = 0; kv_head < model_.kv_heads; ++kv_head) {
    for (std::uint32_t first = 0; first < stacked; first += rows) {
      const unit u{.kv_head = kv_head,
                   .first = first,
                   .rows = std::min(rows, stacked - first),
                   .scores = state_.plan.scores[number % state_.plan.scores.size()]};
      score(u);
      if (number++ != 0) {
        mix_values(before);
      }
      before = u;
    }
  }
  if (rank_) {
    prefix_->store_maxima();
  }
  mix_values(before);
}

void attention_schedule::project_output() {
  state_.stream.label(operator_label::attn_output, layer_);
  for (std::uint32_t first = 0, channels = 0; first < model_.width; first += channels) {
    channels = state_.enter({operator_label::attn_output, layer_, first},
                            std::min(state_.plan.channels, model_.width - first));
    const matrix out{state_.result.next(state_.plan.results).address, channels * 4};
    stream_product(state_, weight_rows(weights_.attn_output, first), channels, model_.query_width(), mixed_, span_.rows,
                   out);
    state_.stream.apply({.function = vector_function::add,
                         .rows = span_.rows,
                         .columns = channels,
                         .s0 = span_.residual.from(0, first * 4),
                         .s1 = out,
                         .d = span_.residual.from(0, first * 4)});
  }
}

}  // namespace

void attend(const config& model, const weights& w, std::uint32_t layer, std::uint32_t keys, run_state& state,
            const row_span& span, compressed_prefix* prefix, bool rank) {
  attention_schedule schedule(model, w, layer, keys, state, span, prefix, rank);
  schedule.project_queries();
  schedule.mix();
  schedule.project_output();
}

}  // namespace dvp::kernels
