// Loop 2 with staged stabilisation and, beside the NPU, the CPU path: dual-path progressive revision (DPPR).
//
// Tokens become visible at one confidence and final at a higher one (revision.h has the rules); visible ones are
// context for everything else meanwhile, across block borders, and may still be revised by the CPU (revision_job.h).
// This is the dual cache without full forwards: the first forward is over everything, as the dual cache's; from then on
// keys and values left of the window stay as they are, except where a revision replaces them (sparse refresh), and
// those right of it stay stale until the window gets there. On the shipped tiny-llada (500 samples, 64 tokens, 0.7 and
// 0.9, no CPU path) 478 answers are right with full forwards at block starts and without, which take a fifth less time.
//
// The window starts at the first position that is masked or whose token has not been a forward's input yet, unless a
// revision computed its keys and values. It is one block long, or reaches to the end of the block in work where it
// would hold none of its masks, and to the last position when there are none any more. Only masks of the block in work
// are predicted, and with drafts (drafts.h) positions behind it: those of a new block are dealt with by the first
// forward that asks about them.
//
// A step: the window moves, the NPU's forward is issued, beside it the CPU path chooses what it is to revise and
// starts; then transitions, drafts, and at its end, with the NPU idle, everything lands that has come back from the
// CPU. A revised token of the window keeps the window from leaving it behind until a forward had it as input.
//
// The CPU path is a job of hart 1, or of this hart while the NPU computes when there is no other. With the request's
// revision_wait a step waits for it, and what is decided is the same with and without that hart. Otherwise the NPU
// waits for no more of it than copying the window's rows of the cache before a forward that a job starts beside, and
// landing: a job lands at the first boundary at which it is done, and the next one starts in the forward behind it. The
// exception is one hart alone: there a step takes as long as the slower of the two paths, waited for or not. If tokens
// below the stability are left after the last mask: one forward, if there are tokens that have not been an input, then
// sweep steps, in which only the CPU path works, until each of those tokens is stable or has been revised since the
// last one that changed.
#pragma once

#include "firmware/dllm/request.h"
#include "firmware/dllm/session.h"

namespace dvp::dllm {

// For requests with a visibility. Codes: ok, npu_error, npu_timeout, bad_image, stable_write (the bookkeeping is
// broken; tokens and cache are not to be used). result().total_tokens and its ends as in llada.h; with stop_at_end,
// blocks after the first complete one that holds an end token are not decoded, even if a revision replaces that token
// later.
[[nodiscard]] gen::result_code run_dual_path(session& s, const work_layout& work);

}  // namespace dvp::dllm
