#include "firmware/dllm/commit.h"

namespace dvp::dllm {
namespace {

position_set bit(std::uint32_t position) {
  return position_set{1} << position;
}

bool is_nan(float value) {
  return value != value;
}

// The most confident of a set that is not empty.
std::uint32_t best_of(std::span<const float> confidences, position_set candidates) {
  std::uint32_t best = lowest(candidates);
  for (position_set rest = candidates & (candidates - 1); rest != 0; rest &= rest - 1) {
    const std::uint32_t position = lowest(rest);
    const bool better = confidences[position] > confidences[best];
    if (better || (is_nan(confidences[best]) && !is_nan(confidences[position]))) {
      best = position;
    }
  }
  return best;
}

bool above(float confidence, float threshold, bool inclusive) {
  return confidence > threshold || (inclusive && confidence == threshold);
}

}  // namespace

std::uint32_t transfer_count(std::uint32_t masks, std::uint32_t steps, std::uint32_t step) {
  return masks / steps + (step < masks % steps ? 1 : 0);
}

position_set choose_by_count(std::span<const float> confidences, position_set candidates, std::uint32_t count) {
  position_set chosen = 0;
  for (; count != 0 && candidates != 0; --count) {
    const position_set best = bit(best_of(confidences, candidates));
    chosen |= best;
    candidates &= ~best;
  }
  return chosen;
}

position_set choose_by_threshold(std::span<const float> confidences, position_set candidates, float threshold,
                                 bool inclusive) {
  if (candidates == 0) {
    return 0;
  }
  position_set chosen = bit(best_of(confidences, candidates));
  for (position_set rest = candidates; rest != 0; rest &= rest - 1) {
    const std::uint32_t position = lowest(rest);
    if (above(confidences[position], threshold, inclusive)) {
      chosen |= bit(position);
    }
  }
  return chosen;
}

position_set choose_by_factor(std::span<const float> confidences, position_set candidates, float factor,
                              bool inclusive) {
  position_set chosen = 0;
  for (float next = 2; candidates != 0; next += 1) {
    const std::uint32_t best = best_of(confidences, candidates);
    const float doubt = next * (1 - confidences[best]);
    if (chosen != 0 && !(doubt < factor || (inclusive && doubt == factor))) {
      break;
    }
    chosen |= bit(best);
    candidates &= ~bit(best);
  }
  return chosen;
}

position_set choose_edits(std::span<const float> confidences, std::span<const std::uint32_t> predicted,
                          std::span<const std::uint32_t> tokens, position_set filled, float threshold, bool inclusive) {
  position_set chosen = 0;
  for (position_set rest = filled; rest != 0; rest &= rest - 1) {
    const std::uint32_t position = lowest(rest);
    if (predicted[position] != tokens[position] && above(confidences[position], threshold, inclusive)) {
      chosen |= bit(position);
    }
  }
  return chosen;
}

}  // namespace dvp::dllm
