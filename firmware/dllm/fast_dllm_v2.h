// Loop 3: Fast-dLLM v2, block-causal with a prefix cache.
//
// Wu et al., "Fast-dLLM v2: Efficient Block-Diffusion LLM" (arXiv 2509.26328). Whole blocks of the prompt are
// prefilled, keys and values stored; the prompt's tail shares the first block with masks. Sub-blocks are denoised in
// order by forwards over their whole block: what is more confident than the threshold is committed, the most confident
// mask always. A full block gets one more forward that stores its final keys and values and predicts the next block's
// first token. Every denoising forward recomputes the whole block: the publication's block cache is not implemented.
//
// With drafts, a forward also predicts masks of later sub-blocks, whose rows are in the window anyway, and confident
// ones become drafts as in drafts.h, with sub-blocks in the place of blocks. The publication has nothing of the kind.
//
// The run ends as soon as no mask is left before an end token or before the last token asked for, also within a block.
#pragma once

#include "firmware/dllm/session.h"

namespace dvp::dllm {

// Codes: ok, npu_error, npu_timeout, bad_image. On ok result().total_tokens is set: up to and with the end token, or
// prompt and generate_tokens.
[[nodiscard]] gen::result_code run_fast_dllm_v2(session& s);

}  // namespace dvp::dllm
