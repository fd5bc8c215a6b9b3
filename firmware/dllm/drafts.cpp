#include "firmware/dllm/drafts.h"

#include <algorithm>

#include "firmware/hal/hal.h"

namespace dvp::dllm {
std::uint32_t latency_table::same_time(std::uint32_t rows, std::uint32_t limit) const {
  if (count == 0) {
    const std::uint32_t stair = (rows + row_tile - 1) / row_tile * row_tile;
    return std::max(rows, std::min(stair, limit));
  }
  std::uint32_t i = 0;
  while (i < count && entries[i].rows < rows) {
    ++i;
  }
  if (i == count) {
    return rows;
  }
  const std::uint32_t ns = entries[i].ns;
  while (i + 1 < count && entries[i + 1].ns == ns) {
    ++i;
  }
  return std::max(rows, std::min(entries[i].rows, limit));
}

latency_table read_latencies(const gen::request_record& request, std::uint32_t row_tile) {
  latency_table table;
  const auto entries = hal::objects<gen::latency_entry>(request.latency_address, request.latency_entries);
  std::copy(entries.begin(), entries.end(), table.entries.begin());
  table.count = static_cast<std::uint32_t>(entries.size());
  table.row_tile = row_tile;
  return table;
}

draft_set take_block(draft_set& drafts, std::uint32_t length) {
  draft_set block = drafts;
  block.held &= positions(0, length);
  drafts.base += length;
  drafts.held = length == most_drafts ? 0 : drafts.held >> length;
  for (std::uint32_t i = length; i < most_drafts; ++i) {
    drafts.tokens[i - length] = drafts.tokens[i];
    drafts.confidences[i - length] = drafts.confidences[i];
  }
  return block;
}

position_set confirmed(const draft_set& drafts, std::span<const float> confidences,
                       std::span<const std::uint32_t> predicted, position_set masks) {
  position_set result = drafts.held & choose_by_count(confidences, masks, count(drafts.held));
  for (position_set rest = result; rest != 0; rest &= rest - 1) {
    if (predicted[lowest(rest)] != drafts.tokens[lowest(rest)]) {
      result &= ~(rest & -rest);
    }
  }
  return result;
}

std::uint32_t add_drafts(draft_set& drafts, std::span<const float> confidences,
                         std::span<const std::uint32_t> predicted, position_set asked, float threshold,
                         bool inclusive) {
  position_set added = 0;
  for (position_set rest = asked; rest != 0; rest &= rest - 1) {
    const std::uint32_t i = lowest(rest);
    if (confidences[i] > threshold || (inclusive && confidences[i] == threshold)) {
      drafts.tokens[i] = predicted[i];
      drafts.confidences[i] = confidences[i];
      added |= rest & -rest;
    }
  }
  drafts.held |= added;
  return count(added);
}

void show(const draft_set& drafts, std::span<std::uint32_t> tokens) {
  for (position_set rest = drafts.held; rest != 0; rest &= rest - 1) {
    tokens[drafts.base + lowest(rest)] = drafts.tokens[lowest(rest)];
  }
}

void hide(const draft_set& drafts, std::span<std::uint32_t> tokens, std::uint32_t mask_token) {
  for (position_set rest = drafts.held; rest != 0; rest &= rest - 1) {
    tokens[drafts.base + lowest(rest)] = mask_token;
  }
}

}  // namespace dvp::dllm
