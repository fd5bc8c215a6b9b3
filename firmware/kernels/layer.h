// The operators of one transformer layer, and what comes before and after the layers, as schedules. Each issues
// descriptors and returns; nothing waits, but for move_feed_forward.
#pragma once

#include <cstdint>

#include "firmware/kernels/run_state.h"

namespace dvp::kernels {

class compressed_prefix;

// Rows of the sequence in work at the same time, at most a tile, and where their operands lie.
struct row_span {
  std::uint32_t first = 0;  // position of row 0
  std::uint32_t rows = 0;   // t
  matrix residual;          // fp32 [t][width]
  matrix normed;            // bf16 [t][width]
  matrix rope;              // fp32 [t][head_length]
};

struct sampling_rule {
  std::uint32_t suppressed_token = gen::no_token;
  float temperature = 0;
  std::uint64_t noise_key = 0;
};

// Residual rows from the embeddings of the tokens at the span's positions.
void embed(const config& model, const weights& w, run_state& state, const row_span& span);

// The span's rows of the rotary table.
void load_rope(const config& model, const weights& w, run_state& state, const row_span& span);

// Residual rows from and to DRAM; first_row: which row of state.residual is row 0 of the span.
void load_residual(const config& model, run_state& state, const row_span& span, std::uint32_t first_row);
void store_residual(const config& model, run_state& state, const row_span& span, std::uint32_t first_row);

// normed = rms_norm(residual), with the weight brought to `place`.
void normalise(const config& model, const tensor& weight, const region& place, gen::operator_label label,
               std::uint32_t layer, run_state& state, const row_span& span);

// The same with the weight that is at `place` already.
void normalise_again(const config& model, const region& place, run_state& state, const row_span& span);

// Keys and values of the span's normalised rows, to the cache at their positions.
// With `encode` also to the compressed cache, with `gram` to its Gram matrices.
void store_keys_values(const config& model, const weights& w, std::uint32_t layer, run_state& state,
                       const row_span& span, bool encode = false, bool gram = false);

// residual += output_projection(softmax(q k / sqrt(head_length)) v) over cached positions 0 to keys - 1. Uses up
// normed.
// prefix: the first positions, prepared; null: all are in the plain cache. rank: leave the prefix's largest scores.
void attend(const config& model, const weights& w, std::uint32_t layer, std::uint32_t keys, run_state& state,
            const row_span& span, compressed_prefix* prefix, bool rank);

// residual += down(silu(gate(normed)) * up(normed)).
void feed_forward(const config& model, const weights& w, std::uint32_t layer, run_state& state, const row_span& span);

// The same, with the norm before it, from state.anchors' weights: computed whole and anchored, or moved from the anchor
// that the same rows have left; see anchored_ffn.h. Uses up normed. Moving waits for the NPU and asks the policy.
void anchor_feed_forward(const config& model, const weights& w, std::uint32_t layer, run_state& state,
                         const row_span& span);
void move_feed_forward(const config& model, const weights& w, std::uint32_t layer, run_state& state,
                       const row_span& span);

// Token and confidence of every row of the span, to state.results from record first_result on.
void sample_rows(const config& model, const weights& w, run_state& state, const row_span& span,
                 const sampling_rule& rule, std::uint32_t first_result);

}  // namespace dvp::kernels
