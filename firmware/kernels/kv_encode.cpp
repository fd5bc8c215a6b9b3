#include "firmware/kernels/kv_encode.h"

namespace dvp::kernels {
namespace {

using gen::operator_label;
using gen::precision;
using gen::vector_function;

// One head of a half, on its way into the store.
class head_encoder {
 public:
  head_encoder(const config& model, std::uint32_t layer, kv_half half, std::uint32_t kv_head, const matrix& numbers,
               std::uint32_t rows, run_state& state)
      : model_(model),
        layer_(layer),
        half_(half),
        kv_head_(kv_head),
        numbers_(numbers),
        rows_(rows),
        state_(state),
        store_(state.compressed->store),
        space_(state.plan.encoding),
        terms_(matrix{space_.terms.address, store_.term_row_bytes(model)}.from(
            0, store_.head_term_bytes(model, half, kv_head))) {}

  void encode() {
    const bool based = state_.compressed->basis != 0 && store_.rank != 0;
    if (based) {
      project_on_basis();
    }
    state_.stream.apply({.function = vector_function::encode,
                         .rows = rows_,
                         .columns = model_.head_length,
                         .s0 = numbers_,
                         .s1 = based ? base() : matrix{},
                         .d = matrix{space_.codes[static_cast<std::size_t>(half_)].address, model_.kv_width()}.from(
                             0, kv_head_ * model_.head_length),
                         .e = terms_.from(0, store_.rank * 2),
                         .scalar_int = based ? 1u : 0u});
  }

  void add_to_gram() {
    const matrix turned{space_.rounded.address, rows_ * 2};
    const matrix gram{space_.gram.address, model_.head_length * 4};
    const transfer whole{.dram = store_.gram(model_, layer_, half_, kv_head_),
                         .scratchpad = {space_.gram.address, 0},
                         .row_bytes = static_cast<std::uint32_t>(store_.gram_bytes(model_)),
                         .purpose = gen::purpose::kv_metadata,
                         .object = dram_object::kv_side};
    state_.stream.label(operator_label::kv_basis, layer_);
    state_.stream.load(whole);
    state_.stream.apply({.function = vector_function::transpose_to_bf16,
                         .rows = rows_,
                         .columns = model_.head_length,
                         .s0 = numbers_,
                         .s1 = {},
                         .d = turned});
    state_.stream.multiply({.precision = precision::bf16,
                            .tokens = model_.head_length,
                            .vectors = model_.head_length,
                            .reduction = rows_,
                            .group = rows_,
                            .x = turned,
                            .w = turned,
                            .scales = {},
                            .out = gram,
                            .accumulate = true});
    state_.stream.store(whole);
  }

 private:
  matrix base() const { return {space_.base.address, model_.head_length * 4}; }

  // Coefficients into the terms, and what they stand for into the base.
  void project_on_basis() {
    const matrix rounded{space_.rounded.address, model_.head_length * 2};
    const matrix sums{space_.coefficients.address, store_.rank * 4};
    const std::uint32_t basis = space_.basis.address;
    state_.stream.load({.dram = store_.basis(model_, layer_, state_.compressed->basis, half_, kv_head_),
                        .scratchpad = {basis, 0},
                        .row_bytes = store_.basis_bytes(model_),
                        .purpose = gen::purpose::kv_metadata});
    state_.stream.apply({.function = vector_function::to_bf16,
                         .rows = rows_,
                         .columns = model_.head_length,
                         .s0 = numbers_,
                         .s1 = {},
                         .d = rounded});
    state_.stream.multiply({.precision = precision::bf16,
                            .tokens = rows_,
                            .vectors = store_.rank,
                            .reduction = model_.head_length,
                            .group = model_.head_length,
                            .x = rounded,
                            .w = {basis, model_.head_length * 2},
                            .scales = {},
                            .out = sums});
    state_.stream.apply({.function = vector_function::to_bf16,
                         .rows = rows_,
                         .columns = store_.rank,
                         .s0 = sums,
                         .s1 = {},
                         .d = terms_});
    state_.stream.multiply({.precision = precision::bf16,
                            .tokens = rows_,
                            .vectors = model_.head_length,
                            .reduction = store_.rank,
                            .group = store_.rank,
                            .x = terms_,
                            .w = {basis + store_.basis_bytes(model_) / 2, store_.rank * 2},
                            .scales = {},
                            .out = base()});
  }

  const config& model_;
  std::uint32_t layer_;
  kv_half half_;
  std::uint32_t kv_head_;
  matrix numbers_;
  std::uint32_t rows_;
  run_state& state_;
  const kv_store& store_;
  const encoding_space& space_;
  matrix terms_;  // of the head
};

}  // namespace

void encode_heads(const config& model, std::uint32_t layer, kv_half half, std::uint32_t first, std::uint32_t heads,
                  const matrix& numbers, std::uint32_t rows, bool gram, run_state& state) {
  for (std::uint32_t h = 0; h < heads; ++h) {
    head_encoder encoder(model, layer, half, first + h, numbers.from(0, h * model.head_length * 4), rows, state);
    state.stream.label(operator_label::kv_encode, layer);
    encoder.encode();
    if (gram) {
      encoder.add_to_gram();
    }
  }
}

void store_entries(const config& model, std::uint32_t layer, std::uint32_t rows, run_state& state) {
  const kv_store& store = state.compressed->store;
  const std::uint32_t entries = state.compressed->entries;
  state.stream.label(operator_label::kv_encode, layer);
  for (const kv_half half : {kv_half::keys, kv_half::values}) {
    state.stream.store({.dram = store.codes(model, layer, half, entries),
                        .scratchpad = {state.plan.encoding.codes[static_cast<std::size_t>(half)].address, 0},
                        .row_bytes = rows * model.kv_width(),
                        .purpose = gen::purpose::step_kv,
                        .precision = precision::q8,
                        .object = dram_object::kv_store});
  }
  state.stream.store({.dram = store.terms(model, layer, entries),
                      .scratchpad = {state.plan.encoding.terms.address, 0},
                      .row_bytes = rows * store.term_row_bytes(model),
                      .purpose = gen::purpose::kv_metadata,
                      .object = dram_object::kv_store});
}

}  // namespace dvp::kernels
