#include "firmware/kernels/anchored_ffn.h"

#include <algorithm>

#include "firmware/hal/hal.h"
#include "firmware/kernels/layer.h"
#include "firmware/kernels/narrow_correction.h"
#include "firmware/kernels/precision_bits.h"

namespace dvp::kernels {
namespace {

using gen::operator_label;
using gen::precision;
using gen::vector_function;

// Channels that are worked on alike.
struct tier {
  precision codes = precision::q8;
  std::uint32_t first = 0;  // place in the layer's order; of an anchor, the channel itself
  std::uint32_t count = 0;
  matrix x;  // input of gate and up, bf16 [t][width]
  std::uint8_t view = 0;
  bool half_step = false;
  bool listed = true;             // by the layer's order
  std::uint32_t corrections = 0;  // 1: q4's, 2: also q2's; the last of them corrects down
};

// Some of a tier's channels, on their way through the engines.
struct channel_piece {
  tier of;
  std::uint32_t number = 0;
  std::uint32_t first = 0;
  std::uint32_t channels = 0;  // 0: there is none
  bool last = false;           // of its tier
  matrix codes;                // [channels][3 width], packed
  matrix scales;
  std::array<matrix, 2> factors;            // of the tier's corrections
  matrix activation;                        // bf16 [channels][t]: what is added, scale of down included
  matrix down;                              // codes [width][channels], packed
  narrow_correction* correction = nullptr;  // of down
  std::uint32_t down_factors = 0;
};

// One layer. Each piece is fetched, and its part of down turned, while the one before is in the array; the array goes
// on with its gate and up while the vector unit updates the one before. Pieces alternate between low and high regions,
// which lie in different banks.
class anchored_schedule {
 public:
  anchored_schedule(const config& model, const weights& w, std::uint32_t layer, run_state& state, const row_span& span)
      : model_(model),
        norm_(w.layers[layer].ffn_norm),
        anchors_(*state.anchors),
        channels_(state.anchors->layers[layer].channels),
        layer_(layer),
        state_(state),
        span_(span),
        anchor_span_(span),
        sums_(state.plan.anchored_sums.address + layer * model.ffn_width * span.rows * 4),
        output_{state.plan.anchored_outputs.address + layer * span.rows * model.width * 4, model.width * 4},
        difference_{state.plan.down.address, model.width * 2},
        corrections_{narrow_correction(model, factors_q4(), state.anchors->correction_rank, 0, state, span),
                     narrow_correction(model, factors_q2(), state.anchors->correction_rank, 1, state, span)} {
    anchor_span_.normed = {state.plan.anchored_inputs.address + layer * span.rows * model.width * 2, model.width * 2};
  }

  void anchor();
  void move();

 private:
  struct drift {
    float moved = 0;
    float anchored = 0;
  };

  drift measure();
  void touch(const channel_counts& counts);
  void reach_channels() { state_.enter({operator_label::ffn_update, layer_, 0}, model_.ffn_width); }
  void work_on(const tier& t);
  void advance(const channel_piece& next);
  void load_list();
  void finish();
  std::uint32_t channel_bytes(const tier& t) const;
  channel_piece place(const tier& t, std::uint32_t first, std::uint32_t channels) const;
  void fetch(channel_piece& p);
  void turn(channel_piece& p);
  void update(const channel_piece& p);
  void add_down(const channel_piece& p);
  void add_to_residual();

  narrow_correction::factors factors_q4() const {
    const channel_weights& w = anchors_.layers[layer_];
    return {w.correction_q4_inputs, w.correction_q4_channels, w.correction_q4_outputs};
  }
  narrow_correction::factors factors_q2() const {
    const channel_weights& w = anchors_.layers[layer_];
    return {w.correction_q2_inputs, w.correction_q2_channels, w.correction_q2_outputs};
  }
  void prepare_corrections(const channel_counts& counts);
  // The first so many corrections, as far as they exist.
  template <class Work>
  void for_corrections(std::uint32_t count, Work&& work) {
    for (std::uint32_t c = 0; c < count; ++c) {
      if (corrections_[c].exists()) {
        work(c);
      }
    }
  }
  std::uint32_t scale_bytes() const { return channels_.scale_row_bytes / 3; }
  std::uint32_t groups() const { return model_.width / weight_group; }
  std::uint32_t list(std::uint32_t place) const {
    return state_.plan.channel_words.address + scratchpad_plan::list_offset + place * 4;
  }
  std::uint64_t order(std::uint32_t place) const {
    return anchors_.order + 4 * (std::uint64_t{layer_} * model_.ffn_width + place);
  }

  const config& model_;
  const tensor& norm_;
  const anchored_ffn& anchors_;
  const tensor& channels_;
  std::uint32_t layer_;
  run_state& state_;
  const row_span& span_;
  row_span anchor_span_;  // its normed is the anchor of the input
  std::uint32_t sums_;    // bf16 [ffn_width][2 t]
  matrix output_;         // fp32 [t][width]: anchor of the output
  matrix difference_;     // bf16 [t][width]: input minus its anchor
  std::array<narrow_correction, 2> corrections_;
  channel_piece fetched_;
  channel_piece updated_;
  std::uint32_t pieces_ = 0;
  std::uint32_t touched_ = 0;
  bool anchoring_ = false;
  bool from_zero_ = false;  // activations and output are computed whole
  bool summing_ = false;    // output_ holds something to add to
};

void anchored_schedule::anchor() {
  anchoring_ = true;
  from_zero_ = true;
  normalise(model_, norm_, state_.plan.ffn_norm, operator_label::ffn_norm, layer_, state_, anchor_span_);
  reach_channels();
  work_on({.count = model_.ffn_width, .x = anchor_span_.normed, .listed = false});
  finish();
  state_.stream.label(operator_label::ffn_update, layer_);
  state_.stream.store({.dram = anchors_.activity + std::uint64_t{4} * layer_ * model_.ffn_width,
                       .scratchpad = {list(0), 0},
                       .row_bytes = model_.ffn_width * 4,
                       .purpose = gen::purpose::ffn_state,
                       .object = dram_object::ffn_side});
  add_to_residual();
}

void anchored_schedule::move() {
  normalise(model_, norm_, state_.plan.ffn_norm, operator_label::ffn_norm, layer_, state_, span_);
  const drift d = measure();
  if (state_.stream.status() != drivers::npu_code::ok) {
    return;
  }
  const channel_counts counts = anchors_.policy->decide(layer_, d.moved, d.anchored);
  if (d.moved != 0) {
    touch(counts);
  }
  add_to_residual();
}

anchored_schedule::drift anchored_schedule::measure() {
  state_.stream.label(operator_label::ffn_drift, layer_);
  const matrix sums{state_.plan.channel_words.address, 0};
  state_.stream.apply({.function = vector_function::difference,
                       .rows = span_.rows,
                       .columns = model_.width,
                       .s0 = span_.normed,
                       .s1 = anchor_span_.normed,
                       .d = difference_,
                       .e = sums});
  const std::uint64_t place = anchors_.drift + std::uint64_t{sizeof(drift)} * layer_;
  state_.stream.store({.dram = place,
                       .scratchpad = sums,
                       .row_bytes = sizeof(drift),
                       .purpose = gen::purpose::ffn_state,
                       .object = dram_object::ffn_side});
  state_.stream.drain();
  const auto found = hal::objects<const float>(place, 2);
  if (found.empty()) {
    state_.stream.fail(drivers::npu_code::bad_argument);
    return {};
  }
  return {.moved = found[0], .anchored = found[1]};
}

void anchored_schedule::touch(const channel_counts& counts) {
  const std::uint64_t touched = std::uint64_t{counts.q8} + counts.q4 + counts.q2;
  if (touched > model_.ffn_width) {
    state_.stream.fail(drivers::npu_code::bad_argument);
    return;
  }
  if (touched != 0) {
    reach_channels();
    touched_ = counts.touched();
    prepare_corrections(counts);
    from_zero_ = counts.q8 == model_.ffn_width;
    summing_ = !from_zero_;
    work_on({.count = counts.q8, .x = span_.normed});
    work_on({.codes = precision::q4,
             .first = counts.q8,
             .count = counts.q4,
             .x = difference_,
             .view = anchors_.q4_view(layer_),
             .half_step = anchors_.half_step_q4[layer_],
             .corrections = 1});
    work_on({.codes = precision::q2,
             .first = counts.q8 + counts.q4,
             .count = counts.q2,
             .x = difference_,
             .view = anchors_.q2_view(layer_),
             .half_step = anchors_.half_step_q2[layer_],
             .corrections = 2});
    finish();
  }
  // The same bits again, where they are looked for next time.
  state_.stream.label(operator_label::ffn_norm, layer_);
  normalise_again(model_, state_.plan.ffn_norm, state_, anchor_span_);
}

void anchored_schedule::prepare_corrections(const channel_counts& counts) {
  if (anchors_.correction_rank == 0 || counts.q4 + counts.q2 == 0) {
    return;
  }
  state_.stream.load({.dram = anchors_.order + std::uint64_t{4} * model_.layers * model_.ffn_width,
                      .scratchpad = {state_.plan.numbers.address, 0},
                      .row_bytes = std::min(state_.plan.channel_piece(), model_.ffn_width) * 4,
                      .purpose = gen::purpose::ffn_state});
  for_corrections(counts.q2 != 0 ? 2 : 1, [&](std::uint32_t c) { corrections_[c].prepare(difference_); });
}

void anchored_schedule::work_on(const tier& t) {
  const std::uint32_t room = state_.plan.staging[0].bytes - staging_gap;
  const std::uint32_t most =
      std::min({state_.plan.channel_piece(), state_.limits.accumulator_vectors, room / channel_bytes(t)});
  const std::uint32_t parts = (t.count + most - 1) / most;
  for (std::uint32_t done = 0, part = 0; part < parts; ++part) {
    const std::uint32_t channels = (t.count - done) / (parts - part);
    channel_piece next = place(t, t.first + done, channels);
    next.last = part + 1 == parts;
    fetch(next);
    turn(next);
    advance(next);
    done += channels;
  }
}

void anchored_schedule::advance(const channel_piece& next) {
  if (fetched_.channels != 0) {
    // Behind the first codes: it is wanted later than they are.
    if (fetched_.number == 0 && fetched_.of.listed) {
      load_list();
    }
    update(fetched_);
  }
  if (updated_.channels != 0) {
    add_down(updated_);
  }
  updated_ = fetched_;
  fetched_ = next;
  // After a decision the NPU has run dry: it need not wait for a batch.
  if (!anchoring_) {
    state_.stream.flush();
  }
}

void anchored_schedule::load_list() {
  state_.stream.label(operator_label::ffn_update, layer_);
  state_.stream.load(
      {.dram = order(0), .scratchpad = {list(0), 0}, .row_bytes = touched_ * 4, .purpose = gen::purpose::ffn_state});
}

void anchored_schedule::finish() {
  advance({});
  advance({});
}

std::uint32_t anchored_schedule::channel_bytes(const tier& t) const {
  std::uint32_t bytes = packed_bytes(t.codes, 3 * model_.width) + scale_bytes();
  for (std::uint32_t c = 0; c < t.corrections; ++c) {
    bytes += corrections_[c].row_bytes();
  }
  return bytes;
}

channel_piece anchored_schedule::place(const tier& t, std::uint32_t first, std::uint32_t channels) const {
  const std::uint32_t side = pieces_ % 2;
  const region& turned = state_.plan.turned[pieces_ % state_.plan.turned.size()];
  // The next but one goes to the other half, where both fit.
  const region& staging = state_.plan.staging[side];
  const std::uint32_t half = staging.bytes / 2 / state_.stream.granule_bytes() * state_.stream.granule_bytes();
  const std::uint32_t stage =
      staging.address + (channels * channel_bytes(t) + staging_gap <= half ? pieces_ / 2 % 2 * half : 0);
  channel_piece p;
  p.of = t;
  p.number = pieces_;
  p.first = first;
  p.channels = channels;
  p.codes = {stage, packed_bytes(t.codes, 3 * model_.width)};
  p.scales = {stage + (p.codes.stride * channels + staging_gap - 1) / staging_gap * staging_gap, scale_bytes()};
  std::uint32_t behind = p.scales.from(channels).address;
  for (std::uint32_t c = 0; c < t.corrections; ++c) {
    p.factors[c] = {behind, corrections_[c].row_bytes()};
    behind = p.factors[c].from(channels).address;
  }
  p.activation = {state_.plan.activations[side].address, span_.rows * 2};
  p.down = {turned.address, packed_bytes(t.codes, channels)};
  p.down_factors = turned.address + model_.width * state_.plan.channel_piece();
  return p;
}

void anchored_schedule::fetch(channel_piece& p) {
  const tier& t = p.of;
  const std::uint32_t narrowing = static_cast<std::uint32_t>(t.codes) - static_cast<std::uint32_t>(precision::q8);
  transfer code_rows{.dram = channels_.data,
                     .dram_stride = channels_.row_bytes,
                     .scratchpad = p.codes,
                     .row_bytes = p.codes.stride,
                     .rows = p.channels,
                     .purpose = gen::purpose::weights,
                     .precision = t.codes,
                     .view = t.view};
  transfer scale_rows{.dram = channels_.scales + narrowing * scale_bytes(),
                      .dram_stride = channels_.scale_row_bytes,
                      .scratchpad = p.scales,
                      .row_bytes = p.scales.stride,
                      .rows = p.channels,
                      .purpose = gen::purpose::scales};
  state_.stream.label(operator_label::ffn_gate, layer_);
  ++pieces_;
  if (!t.listed) {
    code_rows.dram += std::uint64_t{p.first} * channels_.row_bytes;
    scale_rows.dram += std::uint64_t{p.first} * channels_.scale_row_bytes;
    state_.stream.load(code_rows);
    state_.stream.load(scale_rows);
    return;
  }
  state_.stream.gather(code_rows, order(p.first), channels_.rows);
  state_.stream.gather(scale_rows, order(p.first), channels_.rows);
  for_corrections(t.corrections,
                  [&](std::uint32_t c) { corrections_[c].fetch(order(p.first), p.channels, p.factors[c]); });
}

// The channels' part of down, one output's codes side by side.
void anchored_schedule::turn(channel_piece& p) {
  state_.stream.label(operator_label::ffn_down, layer_);
  state_.stream.apply({.function = vector_function::transpose_codes,
                       .rows = p.channels,
                       .columns = model_.width,
                       .s0 = p.codes.from(0, 2 * packed_bytes(p.of.codes, model_.width)),
                       .s1 = {},
                       .d = p.down,
                       .precision = p.of.codes});
  for_corrections(p.of.corrections, [&](std::uint32_t c) {
    if (c + 1 == p.of.corrections) {
      p.correction = &corrections_[c];
      p.correction->turn(p.factors[c], p.channels, state_.plan.numbers.address, p.down_factors);
    }
  });
}

// New gate, up and activation.
void anchored_schedule::update(const channel_piece& p) {
  const tier& t = p.of;
  const std::uint32_t side = p.number % 2;
  const matrix gate{state_.plan.results[side].address, span_.rows * 4};
  const matrix up{state_.plan.results[side + 2].address, span_.rows * 4};
  const auto project = [&](operator_label label, std::uint32_t half, const matrix& out) {
    state_.stream.label(label, layer_);
    state_.stream.multiply({.precision = t.codes,
                            .tokens = span_.rows,
                            .vectors = p.channels,
                            .reduction = model_.width,
                            .group = weight_group,
                            .x = t.x,
                            .w = p.codes.from(0, half * packed_bytes(t.codes, model_.width)),
                            .scales = p.scales.from(0, half * groups() * 2),
                            .out = out,
                            .half_step = t.half_step,
                            .transposed_out = true});
  };
  project(operator_label::ffn_gate, 0, gate);
  project(operator_label::ffn_up, 1, up);

  state_.stream.label(operator_label::ffn_update, layer_);
  for_corrections(t.corrections,
                  [&](std::uint32_t c) { corrections_[c].add_sums(p.factors[c], p.channels, gate, up); });
  state_.stream.update({.rows = p.channels,
                        .columns = span_.rows,
                        .gate = gate.address,
                        .up = up.address,
                        .sums_stride = gate.stride,
                        .state = t.listed ? sums_ : sums_ + p.first * span_.rows * 4,
                        .state_rows = t.listed ? model_.ffn_width : p.channels,
                        .list = t.listed ? list(p.first) : gen::no_list,
                        .scales = p.scales.from(0, 2 * groups() * 2),
                        .d = p.activation,
                        .add_state = t.codes != precision::q8,
                        .fresh = from_zero_});
  if (anchoring_) {
    state_.stream.apply({.function = vector_function::row_abs_sum,
                         .rows = p.channels,
                         .columns = span_.rows,
                         .s0 = p.activation,
                         .s1 = {},
                         .d = {list(p.first), 4}});
  }
}

// output_ += activation of the piece times its columns of down.
void anchored_schedule::add_down(const channel_piece& p) {
  state_.stream.label(operator_label::ffn_down, layer_);
  const std::uint32_t most = state_.limits.accumulator_vectors;
  for (std::uint32_t first = 0; first < model_.width; first += most) {
    state_.stream.multiply({.precision = p.of.codes,
                            .tokens = span_.rows,
                            .vectors = std::min(most, model_.width - first),
                            .reduction = p.channels,
                            .group = p.channels,
                            .x = p.activation,
                            .w = p.down.from(first),
                            .scales = {},
                            .out = output_.from(0, first * 4),
                            .accumulate = summing_,
                            .unscaled = true,
                            .half_step = p.of.half_step,
                            .transposed_x = true});
  }
  summing_ = true;
  if (p.correction != nullptr) {
    p.correction->add_down(p.down_factors, p.channels, p.activation);
    if (p.last) {
      p.correction->finish(output_);
    }
  }
}

void anchored_schedule::add_to_residual() {
  state_.stream.label(operator_label::ffn_down, layer_);
  state_.stream.apply({.function = vector_function::add,
                       .rows = span_.rows,
                       .columns = model_.width,
                       .s0 = span_.residual,
                       .s1 = output_,
                       .d = span_.residual});
}

}  // namespace

void anchor_feed_forward(const config& model, const weights& w, std::uint32_t layer, run_state& state,
                         const row_span& span) {
  anchored_schedule(model, w, layer, state, span).anchor();
}

void move_feed_forward(const config& model, const weights& w, std::uint32_t layer, run_state& state,
                       const row_span& span) {
  anchored_schedule(model, w, layer, state, span).move();
}

}  // namespace dvp::kernels
