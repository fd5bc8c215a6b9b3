#include "firmware/dllm/tier_map.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "firmware/dllm/ranking.h"

namespace dvp::dllm {
namespace {

using gen::precision;
using kernels::kv_reading;

constexpr std::array<precision, 4> tiers = {precision::q8, precision::q4, precision::q2, precision::q0};

// Adds an entry behind the last one.
void append(kv_reading& reading, precision tier, std::uint32_t basis, std::uint32_t entries) {
  if (entries == 0) {
    return;
  }
  kernels::kv_segment* last = reading.count == 0 ? nullptr : &reading.segments[reading.count - 1];
  if (last != nullptr && last->tier == tier && last->basis == basis) {
    last->count += entries;
  } else {
    reading.segments[reading.count++] = {.tier = tier, .basis = basis, .count = entries};
  }
}

}  // namespace

std::uint32_t basis_ranges::basis_of(std::uint32_t entry) const {
  if (entry < first) {
    return 0;
  }
  return step == 0 ? 1 : std::min(1 + (entry - first) / step, kernels::most_bases);
}

std::uint32_t basis_ranges::end_of(std::uint32_t basis) const {
  if (basis == 0) {
    return first;
  }
  return step == 0 || basis == kernels::most_bases ? never : first + basis * step;
}

tier_counts share_out(std::uint32_t entries, const tier_shares& shares) {
  std::uint32_t left = entries;
  const auto take = [&](float share) {
    const double wanted = static_cast<double>(share) * entries + 0.5;
    const std::uint32_t taken = wanted >= left ? left : static_cast<std::uint32_t>(wanted);
    left -= taken;
    return taken;
  };
  tier_counts counts;
  counts.q8 = take(shares.q8);
  counts.q4 = take(shares.q4);
  counts.q2 = take(shares.q2);
  counts.q0 = left;
  return counts;
}

void read_whole(std::uint32_t entries, const basis_ranges& ranges, kv_reading& reading) {
  reading = {};
  for (std::uint32_t from = 0; from < entries;) {
    const std::uint32_t basis = ranges.basis_of(from);
    const std::uint32_t end = std::min(entries, ranges.end_of(basis));
    append(reading, precision::q8, basis, end - from);
    from = end;
  }
}

tier_counts make_tier_map(std::span<const float> maxima, const basis_ranges& ranges, const tier_shares& shares,
                          const tier_scratch& scratch, std::span<std::uint32_t> list, kv_reading& reading) {
  const std::uint32_t entries = static_cast<std::uint32_t>(maxima.size());
  const std::uint32_t first = std::min(entries, ranges.first);
  const std::uint32_t ranked = entries - first;
  const tier_counts counts = share_out(ranked, shares);

  const auto order = scratch.order.first(ranked);
  std::iota(order.begin(), order.end(), 0u);
  std::transform(maxima.begin() + first, maxima.end(), scratch.keys.begin(), falling_key);
  sort_by_key(scratch.keys, order, scratch.spare.first(ranked));
  const std::array<std::uint32_t, 3> ends = {counts.q8, counts.q8 + counts.q4, counts.q8 + counts.q4 + counts.q2};
  for (std::uint32_t place = 0; place < ranked; ++place) {
    const auto cuts_before = std::count_if(ends.begin(), ends.end(), [&](std::uint32_t end) { return place >= end; });
    scratch.tiers[order[place]] = static_cast<std::uint8_t>(cuts_before);
  }

  reading = {};
  reading.whole = false;
  append(reading, precision::q8, 0, first);
  std::iota(list.begin(), list.begin() + first, 0u);
  auto next = list.begin() + first;
  for (std::uint32_t tier = 0; tier < tiers.size(); ++tier) {
    for (std::uint32_t i = 0; i < ranked; ++i) {
      if (scratch.tiers[i] == tier) {
        append(reading, tiers[tier], ranges.basis_of(first + i), 1);
        *next++ = first + i;
      }
    }
  }
  return counts;
}

}  // namespace dvp::dllm
