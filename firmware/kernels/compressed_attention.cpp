#include "firmware/kernels/compressed_attention.h"

#include <algorithm>

#include "firmware/kernels/precision_bits.h"
#include "firmware/kernels/projection.h"

namespace dvp::kernels {
namespace {

using gen::operator_label;
using gen::precision;
using gen::vector_function;

constexpr bool is_narrow(precision tier) {
  return tier == precision::q4 || tier == precision::q2;
}

}  // namespace

compressed_prefix::compressed_prefix(const config& model, const weights& w, std::uint32_t layer, run_state& state)
    : model_(model),
      weights_(w),
      layer_(layer),
      state_(state),
      store_(state.compressed->store),
      reading_(state.compressed->reading[layer]),
      entries_(state.compressed->entries) {}

template <class Work>
void compressed_prefix::for_segments(Work&& work) const {
  place at;
  for (std::uint32_t s = 0; s < reading_.count; ++s) {
    at.segment = reading_.segments[s];
    work(at);
    at.first += at.segment.count;
    at.codes += at.segment.count * row_bytes(at.segment);
    at.turned += (at.segment.count + 3) / 4 * 4;
  }
}

// Of all heads' codes of an entry, as they arrive.
std::uint32_t compressed_prefix::row_bytes(const kv_segment& segment) const {
  return model_.kv_width() * element_bits(segment.tier) / 8;
}

matrix compressed_prefix::head_codes(kv_half half, const place& at, std::uint32_t kv_head) const {
  const std::uint32_t row = row_bytes(at.segment);
  return {state_.plan.kv_codes[static_cast<std::size_t>(half)].address + at.codes + row / model_.kv_heads * kv_head,
          row};
}

// A head's keys, rebuilt, in list order.
matrix compressed_prefix::keys(std::uint32_t kv_head) const {
  const std::uint32_t row = model_.head_length * 2;
  return {state_.plan.kv_keys.address + kv_head * store_.capacity * row, row};
}

// A head's value codes of a segment, feature by feature; segments lie one behind the other, each from a whole word on.
matrix compressed_prefix::turned_codes(const place& at, std::uint32_t kv_head) const {
  const std::uint32_t row = packed_bytes(at.segment.tier, at.segment.count);
  return {state_.plan.kv_turned.address + (kv_head * turned_entries(store_.capacity) + at.turned) * model_.head_length,
          row};
}

std::uint32_t compressed_prefix::basis_place(std::uint32_t basis, kv_half half, std::uint32_t kv_head) const {
  const std::uint32_t number = ((basis - 1) * 2 + static_cast<std::uint32_t>(half)) * model_.kv_heads + kv_head;
  return state_.plan.kv_bases.address + number * store_.basis_bytes(model_);
}

matrix compressed_prefix::terms(kv_half half, std::uint32_t kv_head) const {
  return matrix{state_.plan.kv_terms.address, store_.term_row_bytes(model_)}.from(
      0, store_.head_term_bytes(model_, half, kv_head));
}

// Term `term` of a head's values, side by side in list order, from entry `first` of the list on.
matrix compressed_prefix::value_column(std::uint32_t kv_head, std::uint32_t term, std::uint32_t first) const {
  return matrix{state_.plan.kv_columns.address, store_.capacity * 2}.from(kv_head * store_.head_terms() + term,
                                                                          first * 2);
}

void compressed_prefix::prepare() {
  state_.enter({operator_label::kv_rebuild, layer_, 0}, entries_);
  state_.stream.label(operator_label::kv_rebuild, layer_);
  load_rotary();
  state_.stream.load({.dram = store_.list(model_, layer_),
                      .scratchpad = {state_.plan.kv_list.address, 0},
                      .row_bytes = entries_ * 4,
                      .purpose = gen::purpose::kv_metadata});
  state_.stream.load({.dram = store_.terms(model_, layer_, 0),
                      .scratchpad = {state_.plan.kv_terms.address, 0},
                      .row_bytes = entries_ * store_.term_row_bytes(model_),
                      .purpose = gen::purpose::kv_metadata,
                      .object = dram_object::kv_store});
  load_bases();
  load_codes(kv_half::keys);
  load_codes(kv_half::values);
  for (std::uint32_t kv_head = 0; kv_head < model_.kv_heads; ++kv_head) {
    rebuild_keys(kv_head);
  }
  for (std::uint32_t kv_head = 0; kv_head < model_.kv_heads; ++kv_head) {
    turn_values(kv_head);
  }
}

// Rows of the rotary table stay from forward to forward.
void compressed_prefix::load_rotary() {
  std::uint32_t& there = state_.compressed->rotary_rows;
  if (there >= entries_) {
    return;
  }
  const std::uint32_t row = model_.head_length * 4;
  state_.stream.load({.dram = weights_.rope_table.data + std::uint64_t{there} * row,
                      .scratchpad = {state_.plan.kv_rotary.address + there * row, 0},
                      .row_bytes = (entries_ - there) * row,
                      .purpose = gen::purpose::parameters});
  there = entries_;
}

void compressed_prefix::load_bases() {
  std::uint32_t used = 0;
  for_segments([&](const place& at) { used = std::max(used, at.segment.basis); });
  if (used == 0 || store_.rank == 0) {
    return;
  }
  // A layer's bases lie one behind the other, in both places.
  state_.stream.load({.dram = store_.basis(model_, layer_, 1, kv_half::keys, 0),
                      .scratchpad = {basis_place(1, kv_half::keys, 0), 0},
                      .row_bytes = used * 2 * model_.kv_heads * store_.basis_bytes(model_),
                      .purpose = gen::purpose::kv_metadata});
}

void compressed_prefix::load_codes(kv_half half) {
  for_segments([&](const place& at) {
    const std::uint32_t row = row_bytes(at.segment);
    if (row == 0 || at.segment.count == 0) {
      return;
    }
    const transfer t{.dram = store_.codes(model_, layer_, half, reading_.whole ? at.first : 0),
                     .dram_stride = model_.kv_width(),
                     .scratchpad = head_codes(half, at, 0),
                     .row_bytes = row,
                     .rows = at.segment.count,
                     .purpose = gen::purpose::prefix_kv,
                     .precision = at.segment.tier,
                     .object = dram_object::kv_store};
    if (reading_.whole) {
      state_.stream.load(t);
    } else {
      state_.stream.gather(t, store_.list(model_, layer_) + std::uint64_t{4} * at.first, entries_);
    }
  });
}

void compressed_prefix::rebuild_keys(std::uint32_t kv_head) {
  for_segments([&](const place& at) {
    if (at.segment.count == 0) {
      return;
    }
    const std::uint32_t rank = at.segment.basis != 0 ? store_.rank : 0;
    state_.stream.rebuild({.precision = at.segment.tier,
                           .rows = at.segment.count,
                           .columns = model_.head_length,
                           .codes = head_codes(kv_half::keys, at, kv_head),
                           // Without a basis only the scale, behind the coefficients, counts.
                           .terms = terms(kv_half::keys, kv_head).from(0, (store_.rank - rank) * 2),
                           .basis = rank != 0 ? basis_place(at.segment.basis, kv_half::keys, kv_head) : 0,
                           .rope = state_.plan.kv_rotary.address,
                           .list = state_.plan.kv_list.address + at.first * 4,
                           .d = keys(kv_head).from(at.first),
                           .rank = rank,
                           .limit = entries_,
                           .rotate = true,
                           .halves = model_.rope_halves,
                           .half_step = is_narrow(at.segment.tier)});
  });
}

void compressed_prefix::turn_values(std::uint32_t kv_head) {
  state_.stream.apply({.function = vector_function::gather_transpose,
                       .rows = entries_,
                       .columns = store_.head_terms(),
                       .s0 = terms(kv_half::values, kv_head),
                       .s1 = {state_.plan.kv_list.address, 0},
                       .d = value_column(kv_head, 0, 0),
                       .scalar_int = entries_});
  for_segments([&](const place& at) {
    if (row_bytes(at.segment) == 0 || at.segment.count == 0) {
      return;
    }
    state_.stream.apply({.function = vector_function::transpose_codes,
                         .rows = at.segment.count,
                         .columns = model_.head_length,
                         .s0 = head_codes(kv_half::values, at, kv_head),
                         .s1 = {},
                         .d = turned_codes(at, kv_head),
                         .precision = at.segment.tier});
  });
}

void compressed_prefix::score(std::uint32_t kv_head, const matrix& queries, std::uint32_t rows, const matrix& scores) {
  state_.stream.label(operator_label::scores, layer_);
  const std::uint32_t most = state_.limits.accumulator_vectors;
  for (std::uint32_t first = 0; first < entries_; first += most) {
    state_.stream.multiply({.precision = precision::bf16,
                            .tokens = rows,
                            .vectors = std::min(most, entries_ - first),
                            .reduction = model_.head_length,
                            .group = model_.head_length,
                            .x = queries,
                            .w = keys(kv_head).from(first),
                            .scales = {},
                            .out = scores.from(0, first * 4)});
  }
}

void compressed_prefix::rank(const matrix& scores, std::uint32_t rows) {
  state_.stream.label(operator_label::kv_rank, layer_);
  state_.stream.apply({.function = vector_function::column_max,
                       .rows = rows,
                       .columns = entries_,
                       .s0 = scores,
                       .s1 = {},
                       .d = {state_.plan.kv_maxima.address, 0},
                       .accumulate = ranked_});
  ranked_ = true;
}

void compressed_prefix::store_maxima() {
  state_.stream.label(operator_label::kv_rank, layer_);
  state_.stream.store({.dram = store_.maxima(model_, layer_),
                       .scratchpad = {state_.plan.kv_maxima.address, 0},
                       .row_bytes = entries_ * 4,
                       .purpose = gen::purpose::kv_metadata,
                       .object = dram_object::kv_side});
}

bool compressed_prefix::mix(std::uint32_t kv_head, const matrix& probabilities, std::uint32_t rows, const matrix& out) {
  state_.stream.label(operator_label::values, layer_);
  bool started = mix_coefficients(probabilities, kv_head, rows, out);
  for_segments([&](const place& at) {
    if (row_bytes(at.segment) != 0 && at.segment.count != 0) {
      mix_residuals(at, probabilities, kv_head, rows, out, started);
      started = true;
    }
  });
  return started;
}

// out = sum over the bases of bf16(P C) U.
bool compressed_prefix::mix_coefficients(const matrix& probabilities, std::uint32_t kv_head, std::uint32_t rows,
                                         const matrix& out) {
  bool started = false;
  for (std::uint32_t basis = 1; basis <= most_bases && store_.rank != 0; ++basis) {
    const matrix sums{state_.plan.kv_mixed.address, store_.rank * 4};
    const matrix rounded{sums.address + rows * sums.stride, store_.rank * 2};
    bool used = false;
    for_segments([&](const place& at) {
      if (at.segment.basis != basis || at.segment.count == 0) {
        return;
      }
      state_.stream.multiply({.precision = precision::bf16,
                              .tokens = rows,
                              .vectors = store_.rank,
                              .reduction = at.segment.count,
                              .group = at.segment.count,
                              .x = probabilities.from(0, at.first * 2),
                              .w = value_column(kv_head, 0, at.first),
                              .scales = {},
                              .out = sums,
                              .accumulate = used});
      used = true;
    });
    if (!used) {
      continue;
    }
    state_.stream.apply({.function = vector_function::to_bf16,
                         .rows = rows,
                         .columns = store_.rank,
                         .s0 = sums,
                         .s1 = {},
                         .d = rounded});
    const std::uint32_t transposed = basis_place(basis, kv_half::values, kv_head) + store_.basis_bytes(model_) / 2;
    state_.stream.multiply({.precision = precision::bf16,
                            .tokens = rows,
                            .vectors = model_.head_length,
                            .reduction = store_.rank,
                            .group = store_.rank,
                            .x = rounded,
                            .w = {transposed, store_.rank * 2},
                            .scales = {},
                            .out = out,
                            .accumulate = started});
    started = true;
  }
  return started;
}

void compressed_prefix::mix_residuals(const place& at, const matrix& probabilities, std::uint32_t kv_head,
                                      std::uint32_t rows, const matrix& out, bool accumulate) {
  // Pieces start at whole bytes of every tier.
  constexpr std::uint32_t unit = 32;
  const std::uint32_t most = std::max(1u, state_.plan.staging[0].bytes / (rows * 2) / unit) * unit;
  const matrix codes = turned_codes(at, kv_head);
  for (std::uint32_t done = 0; done < at.segment.count; done += most) {
    const std::uint32_t count = std::min(most, at.segment.count - done);
    const matrix scaled{state_.staging.next(state_.plan.staging).address, count * 2};
    state_.stream.apply({.function = vector_function::scale_columns,
                         .rows = rows,
                         .columns = count,
                         .s0 = probabilities.from(0, (at.first + done) * 2),
                         .s1 = value_column(kv_head, store_.rank, at.first + done),
                         .d = scaled});
    state_.stream.multiply({.precision = at.segment.tier,
                            .tokens = rows,
                            .vectors = model_.head_length,
                            .reduction = count,
                            .group = count,
                            .x = scaled,
                            .w = codes.from(0, done * element_bits(at.segment.tier) / 8),
                            .scales = {},
                            .out = out,
                            .accumulate = accumulate || done != 0,
                            .unscaled = true,
                            .half_step = is_narrow(at.segment.tier)});
  }
}

}  // namespace dvp::kernels
