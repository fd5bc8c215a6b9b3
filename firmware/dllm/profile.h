// Measures how long forwards take: the latency table that drafts fill stairs by (drafts.h).
#pragma once

#include "firmware/dllm/session.h"

namespace dvp::dllm {

// For every latency entry of the request, in order: a forward of entry.rows rows, all of which are asked for their
// token, over the prompt's positions as keys, as the cached steps of a decode run them; its time goes to entry.ns, as
// the CPU sees it, queueing and waking up included. The rows start at one position, the last entry's end with the
// prompt. A forward over everything comes first, unmeasured: it fills the cache. Times are as measured and may fall.
//
// Codes: ok, bad_request (rows that do not rise or are more than can be asked), npu_error, npu_timeout, memory_error,
// bad_image. On ok result().total_tokens is the prompt's.
[[nodiscard]] gen::result_code run_profile(session& s);

}  // namespace dvp::dllm
