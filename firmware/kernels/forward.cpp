#include "firmware/kernels/forward.h"

#include <algorithm>
#include <optional>

#include "firmware/kernels/compressed_attention.h"

namespace dvp::kernels {
namespace {

using gen::operator_label;

// Positions [first, first + rows).
struct position_range {
  std::uint32_t first = 0;
  std::uint32_t rows = 0;
};

class forward_schedule {
 public:
  forward_schedule(const config& model, const weights& w, run_state& state, const forward_pass& pass)
      : model_(model), weights_(w), state_(state), pass_(pass), resident_(pass.rows <= state.plan.tile_rows) {}

  void run() {
    const position_range all{pass_.first, pass_.rows};
    const position_range selected{pass_.logits_first, pass_.logits_rows};
    if (state_.reachable != nullptr) {
      state_.reachable->begin(
          {.tiles = tiles(all), .selected_tiles = tiles(selected), .anchored = pass_.ffn != ffn_pass::whole});
    }
    for_tiles(all, [&](const row_span& span) {
      embed(model_, weights_, state_, span);
      leave(span);
    });
    if (resident_) {
      load_rope(model_, weights_, state_, span_at(all));
    }
    for (std::uint32_t layer = 0; layer < model_.layers; ++layer) {
      const bool attends = layer + 1 < model_.layers || selected.rows != 0 || pass_.ffn != ffn_pass::whole;
      std::optional<compressed_prefix> prefix;
      if (state_.compressed != nullptr && state_.compressed->entries != 0 && attends) {
        prefix.emplace(model_, weights_, layer, state_).prepare();
      }
      for_tiles(all, [&](const row_span& span) {
        enter(span);
        normalise_for_attention(layer, span);
        store_keys_values(model_, weights_, layer, state_, span, pass_.encode, pass_.gram);
      });
      for_tiles(layer + 1 == model_.layers && pass_.ffn == ffn_pass::whole ? selected : all, [&](const row_span& span) {
        if (!resident_) {
          enter(span);
          normalise_for_attention(layer, span);
        }
        attend(model_, weights_, layer, pass_.keys, state_, span, prefix ? &*prefix : nullptr, pass_.rank);
        run_feed_forward(layer, span);
        leave(span);
      });
    }
    for_tiles(selected, [&](const row_span& span) {
      if (!resident_) {
        load_residual(model_, state_, span, span.first - pass_.first);
      }
      sample_rows(model_, weights_, state_, span, pass_.rule, span.first - pass_.logits_first);
    });
  }

 private:
  std::uint32_t tiles(const position_range& range) const {
    return (range.rows + state_.plan.tile_rows - 1) / state_.plan.tile_rows;
  }

  template <class Work>
  void for_tiles(const position_range& range, Work&& work) {
    for (std::uint32_t done = 0; done < range.rows; done += state_.plan.tile_rows) {
      work(span_at({range.first + done, std::min(state_.plan.tile_rows, range.rows - done)}));
    }
  }

  // With one tile, every row has its own place; with several, each tile starts at row 0.
  row_span span_at(const position_range& range) const {
    const std::uint32_t row = resident_ ? range.first - pass_.first : 0;
    const scratchpad_plan& plan = state_.plan;
    return {.first = range.first,
            .rows = range.rows,
            .residual = matrix{plan.residual.address, model_.width * 4}.from(row),
            .normed = matrix{plan.normed.address, model_.width * 2}.from(row),
            .rope = matrix{plan.rope.address, model_.head_length * 4}.from(row)};
  }

  void enter(const row_span& span) {
    if (!resident_) {
      load_residual(model_, state_, span, span.first - pass_.first);
      load_rope(model_, weights_, state_, span);
    }
  }

  void leave(const row_span& span) {
    if (!resident_) {
      store_residual(model_, state_, span, span.first - pass_.first);
    }
  }

  void normalise_for_attention(std::uint32_t layer, const row_span& span) {
    normalise(model_, weights_.layers[layer].attn_norm, state_.plan.attn_norm, operator_label::attn_norm, layer, state_,
              span);
  }

  void run_feed_forward(std::uint32_t layer, const row_span& span) {
    switch (pass_.ffn) {
      case ffn_pass::whole:
        normalise(model_, weights_.layers[layer].ffn_norm, state_.plan.ffn_norm, operator_label::ffn_norm, layer,
                  state_, span);
        feed_forward(model_, weights_, layer, state_, span);
        break;
      case ffn_pass::anchor:
        anchor_feed_forward(model_, weights_, layer, state_, span);
        break;
      case ffn_pass::interior:
        move_feed_forward(model_, weights_, layer, state_, span);
        break;
    }
  }

  const config& model_;
  const weights& weights_;
  run_state& state_;
  const forward_pass& pass_;
  bool resident_;  // all rows in work stay in the scratchpad
};

}  // namespace

std::uint32_t issue_forward(const config& model, const weights& w, run_state& state, const forward_pass& pass) {
  if (pass.ffn != ffn_pass::whole && (state.anchors == nullptr || pass.rows > state.plan.tile_rows)) {
    state.stream.fail(drivers::npu_code::bad_argument);
  }
  forward_schedule(model, w, state, pass).run();
  const std::uint32_t index = state.stream.finish();
  if (state.reachable != nullptr) {
    state.reachable->end();
  }
  return index;
}

drivers::npu_code forward(const config& model, const weights& w, run_state& state, const forward_pass& pass) {
  return state.stream.wait(issue_forward(model, w, state, pass));
}

}  // namespace dvp::kernels
