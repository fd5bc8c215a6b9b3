// Multi-block speculative decoding (MBSD): guesses for later blocks from rows that cost no time.
//
// The NPU's time over its rows is a staircase. The window of a step is one block long and starts at the first position
// whose final token has no keys and values yet; as the commit frontier moves on, the window slides over the block's
// end. When few masks are left in the block, further rows are looked at as long as they open no new stair, and
// confident predictions behind the block become drafts. A draft is context for later forwards and nothing else: it
// never completes its block, and shows as a mask to everybody outside. When its block becomes current it is a mask
// again, and the block's first forward, which computes everything afresh, decides: it is committed if that forward
// predicts the same token there, with a confidence among the block's highest, as many as there were drafts. Else it is
// dropped.
//
// Trigger, look-ahead and acceptance are this implementation's choice; the publication leaves them open.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dvp_gen/request.h"
#include "firmware/dllm/commit.h"

namespace dvp::dllm {

inline constexpr std::uint32_t most_latency_entries = 64;
inline constexpr std::uint32_t most_look_ahead = 32;
// Positions behind the block that may hold drafts.
inline constexpr std::uint32_t most_drafts = 64;

// How a forward's time rises with its rows.
struct latency_table {
  std::array<gen::latency_entry, most_latency_entries> entries{};  // ascending rows
  std::uint32_t count = 0;
  std::uint32_t row_tile = 1;  // without entries: a stair every so many rows

  // The most rows, at least `rows` and at most `limit`, that take no longer than `rows` rows. Nothing is known about
  // more rows than the last entry's: then `rows`.
  std::uint32_t same_time(std::uint32_t rows, std::uint32_t limit) const;
};

// The request's table, for a firmware that works on row_tile rows at a time.
latency_table read_latencies(const gen::request_record& request, std::uint32_t row_tile);

// Guesses for the positions from `base` on, the first one behind the block in work.
struct draft_set {
  std::uint32_t base = 0;
  position_set held = 0;  // bit i: position base + i
  std::array<std::uint32_t, most_drafts> tokens{};
  std::array<float, most_drafts> confidences{};
};

// The block of `length` positions at drafts.base becomes current: its drafts are returned, `drafts` keeps those behind.
draft_set take_block(draft_set& drafts, std::uint32_t length);

// Which drafts of a block its fresh prediction confirms. confidences and predicted are those of the block's masks.
position_set confirmed(const draft_set& drafts, std::span<const float> confidences,
                       std::span<const std::uint32_t> predicted, position_set masks);

// Adds predictions for the positions `asked`, none of which is held, that are more confident than the threshold
// (inclusive: or equal). confidences and predicted start at drafts.base. Returns how many were added.
std::uint32_t add_drafts(draft_set& drafts, std::span<const float> confidences,
                         std::span<const std::uint32_t> predicted, position_set asked, float threshold, bool inclusive);

// Puts the drafts into the sequence for a forward, and masks back afterwards.
void show(const draft_set& drafts, std::span<std::uint32_t> tokens);
void hide(const draft_set& drafts, std::span<std::uint32_t> tokens, std::uint32_t mask_token);

}  // namespace dvp::dllm
