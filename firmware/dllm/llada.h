// Loops 1 and 2: blocks of a bidirectional model, left to right.
//
// Loop 1 is LLaDA base, the loop that others are compared with: Nie et al., "Large Language Diffusion Models"
// (arXiv 2502.09992), generate() of the published code at CFG 0 and low-confidence remasking. Every step is a full
// forward over prompt and answer; the most confident masks of the block are committed, as many as transfer_count says.
// Where a block has more steps than positions, the steps that would commit nothing are left out.
//
// Loop 2 is Fast-dLLM v1: Wu et al. (arXiv 2505.22618), generate(), generate_with_prefix_cache() and
// generate_with_dual_cache() of the published llada/generate.py (github.com/NVlabs/Fast-dLLM, commit 24cc59e). What is
// committed is up to the request's rule. With a cache, a block's first forward is over everything and commits too;
// later ones work on the block and what is behind it (prefix) or on the block alone (dual) and take the other keys and
// values from the cache. After the first forward there is always one more, even if the block is full by then. With
// shifted logits, the row before the block is in work too: it predicts the block's first position.
//
// Editing (LLaDA2.1, Bie et al., arXiv 2602.08676), in both loops: a forward also predicts the filled positions of its
// block, and a token that differs from a prediction above edit_threshold is replaced. A full block is looked at again
// until a forward changes nothing, at most edit_steps times. Committed tokens change only in this way. It is for models
// trained on it: what a network that has only seen masked positions in training says at filled ones is noise.
//
// Drafts of later blocks, with the dual cache: drafts.h. While they are on, a step's window is one block long from the
// first position whose final token has no keys and values yet (with editing: from the block's first position).
#pragma once

#include "firmware/dllm/session.h"

namespace dvp::dllm {

// Codes: ok, npu_error, npu_timeout, bad_image. On ok result().total_tokens is set: prompt and generate_tokens, or up
// to and with the first end token when the request's stop_at_end ended the run after a block that holds one.
//
// Ends: every forward of a block that has masks commits one, so a block of B positions takes at most B forwards, one
// more with a cache, and edit_steps more with editing.
[[nodiscard]] gen::result_code run_llada(session& s);

}  // namespace dvp::dllm
