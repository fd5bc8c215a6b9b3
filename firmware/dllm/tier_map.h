// How a forward reads the compressed prefix: whole, or by a map of tiers.
//
// A map follows Eq. 5 of arXiv 2609.01084: entries in the order of their largest query-key score, cut by the budget's
// shares. Entries before the first basis are always read at q8. Pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "firmware/kernels/kv_store.h"

namespace dvp::dllm {

// Which entries share a basis, by position: none before `first`, then a new one every `step` entries; the last basis
// there can be serves all entries behind it.
struct basis_ranges {
  static constexpr std::uint32_t never = ~0u;

  std::uint32_t first = never;
  std::uint32_t step = 0;  // 0: one basis for all

  // Number of the entry's basis, from 1 on; 0: none.
  std::uint32_t basis_of(std::uint32_t entry) const;
  // First entry that has not the basis `basis` any more, nor an earlier one; `never` behind the last.
  std::uint32_t end_of(std::uint32_t basis) const;
};

struct tier_shares {
  float q8 = 0;
  float q4 = 0;
  float q2 = 0;
};

struct tier_counts {
  std::uint32_t q8 = 0;
  std::uint32_t q4 = 0;
  std::uint32_t q2 = 0;
  std::uint32_t q0 = 0;

  friend bool operator==(const tier_counts&, const tier_counts&) = default;
};

// Each share of `entries`, rounded to the nearest number (a half up) and capped to what is left, in this order of
// tiers; q0 takes the rest.
tier_counts share_out(std::uint32_t entries, const tier_shares& shares);

// All entries at q8, ascending, in one segment per basis.
void read_whole(std::uint32_t entries, const basis_ranges& ranges, kernels::kv_reading& reading);

// Space for as many elements as there are entries with a basis.
struct tier_scratch {
  std::span<std::uint16_t> keys;
  std::span<std::uint32_t> order;
  std::span<std::uint32_t> spare;
  std::span<std::uint8_t> tiers;
};

// maxima: every entry's largest score, by position; their number is the number of entries. Compared as bf16; equal ones
// go to the lower position. list: as long; becomes the entries in the order of `reading`: those without a basis, then
// q8, q4, q2, q0, ascending within each tier. Returns how many entries with a basis each tier has.
tier_counts make_tier_map(std::span<const float> maxima, const basis_ranges& ranges, const tier_shares& shares,
                          const tier_scratch& scratch, std::span<std::uint32_t> list, kernels::kv_reading& reading);

}  // namespace dvp::dllm
