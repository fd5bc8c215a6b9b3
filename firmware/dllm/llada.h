// Loop 1: LLaDA base, the loop that others are compared with.
//
// Nie et al., "Large Language Diffusion Models" (arXiv 2502.09992), generate() of the published code at CFG 0 and
// low-confidence remasking. Blocks left to right; every step is a full bidirectional forward over prompt and answer;
// the most confident masked positions of the block are committed, as many as transfer_count says.
// Where a block has more steps than positions, the steps that would commit nothing are left out.
#pragma once

#include "firmware/dllm/session.h"

namespace dvp::dllm {

// Codes: ok, npu_error, npu_timeout, bad_image. On ok result().total_tokens is set: prompt and generate_tokens, or up
// to and with the first end token when the request's stop_at_end ended the run after a block that holds one.
[[nodiscard]] gen::result_code run_llada(session& s);

}  // namespace dvp::dllm
