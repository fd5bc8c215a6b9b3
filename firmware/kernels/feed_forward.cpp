#include <algorithm>

#include "firmware/kernels/layer.h"
#include "firmware/kernels/streamed_product.h"

namespace dvp::kernels {

using gen::operator_label;
using gen::vector_function;

void feed_forward(const config& model, const weights& w, std::uint32_t layer, run_state& state, const row_span& span) {
  const layer_weights& l = w.layers[layer];
  const matrix sum{state.plan.down.address, model.width * 4};

  struct chunk {
    std::uint32_t first = 0;
    std::uint32_t channels = 0;
    matrix activation;  // bf16 [t][channels]
  };

  const auto activate = [&](const chunk& c) {
    const matrix gate{state.result.next(state.plan.results).address, c.channels * 4};
    state.stream.label(operator_label::ffn_gate, layer);
    stream_product(state, weight_rows(l.ffn_gate, c.first), c.channels, model.width, span.normed, span.rows, gate);
    const matrix up{state.result.next(state.plan.results).address, c.channels * 4};
    state.stream.label(operator_label::ffn_up, layer);
    stream_product(state, weight_rows(l.ffn_up, c.first), c.channels, model.width, span.normed, span.rows, up);
    state.stream.label(operator_label::ffn_activation, layer);
    state.stream.apply({.function = vector_function::silu_multiply,
                        .rows = span.rows,
                        .columns = c.channels,
                        .s0 = gate,
                        .s1 = up,
                        .d = c.activation});
  };
  const auto accumulate_down = [&](const chunk& c) {
    state.stream.label(operator_label::ffn_down, layer);
    stream_product(state, weight_rows(l.ffn_down, 0, c.first), model.width, c.channels, c.activation, span.rows, sum,
                   c.first != 0);
  };

  // One chunk behind: the array goes on with the next gate and up while the vector unit activates this chunk.
  chunk before;
  std::uint32_t number = 0;
  for (std::uint32_t first = 0, channels = 0; first < model.ffn_width; first += channels) {
    channels =
        state.enter({operator_label::ffn_gate, layer, first}, std::min(state.plan.channels, model.ffn_width - first));
    const chunk current{
        .first = first,
        .channels = channels,
        .activation = {state.plan.activations[number % state.plan.activations.size()].address, channels * 2}};
    activate(current);
    if (number++ != 0) {
      accumulate_down(before);
    }
    before = current;
  }
  accumulate_down(before);
  state.stream.apply({.function = vector_function::add,
                      .rows = span.rows,
                      .columns = model.width,
                      .s0 = span.residual,
                      .s1 = sum,
                      .d = span.residual});
}

}  // namespace dvp::kernels
