// Decisions drawn from a stated distribution: how a model that is not here might decode.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include "tlm/platform/shape/decision_feed.h"

namespace dvp::platform {

// Of a revision on the CPU: how often it says the token that is there, and how often it is confident.
struct revision_rates {
  double agreement = 1;
  double confident = 1;
};

struct decision_distribution {
  double tokens_per_forward = 1;  // committed, mean over a sub-block that is decoded from masks alone
  double least_drift = 0;         // of an interior step, relative to the anchor: uniform between the two
  double most_drift = 0;
  std::uint32_t run = 1;                        // neighbouring channels or entries that share a rank; 1: scattered
  double draft_acceptance = 0;                  // how often a confident prediction stands
  std::optional<revision_rates> revision = {};  // without it nothing is revised
};

// How often a masked position is confident, each by itself in each forward, so that `positions` of which at least one
// is committed per forward take positions / tokens_per_forward forwards on average. 0 to 1.
double confident_share(std::uint32_t positions, double tokens_per_forward);

// The first token that stands for no single byte, in a shape's vocabulary (shape_header.h); 0 in one too small for
// that.
constexpr std::uint32_t first_drawn_token(std::uint32_t vocabulary) {
  return vocabulary > 512 ? 256 : 0;
}

// What decides and how it is drawn:
//   sample    confident (confidence 1) with the share above, else uniform below 1/1000; a token that is not special
//             With a draft_acceptance, that share of the confident predictions stands: from then on the position has
//             that token, with a confidence above that of any first prediction. All others are forgotten. So a draft is
//             confirmed (firmware/dllm/drafts.h) with that probability, each by itself, chance hits apart.
//   revision  by its two rates, each by itself; another token is drawn as those of samples are
//   drift     uniform; activity and ranking: uniform for every `run` neighbours, so that every order is as likely
// An answer's draws depend on seed and its number alone, and each kind draws by itself: configurations and numbers of
// layers that sample the same rows commit the same tokens.
class decision_generator : public decision_feed {
 public:
  // positions: of a sub-block, or of a block where there are none. Tokens are first_drawn_token() to vocabulary - 1
  // without `special`, which are fewer.
  decision_generator(const decision_distribution& distribution, std::uint32_t positions, std::uint32_t vocabulary,
                     std::vector<std::uint32_t> special, std::uint64_t seed);

  void begin(std::size_t index) override;
  void made(npu::decision, std::span<const std::uint32_t>) override {}
  void give(npu::decision kind, std::uint32_t first_row, std::span<std::uint32_t> words) override;

 private:
  using stream = std::mt19937_64;
  std::uint32_t token(stream& random);
  void give_samples(stream& random, std::uint32_t first_row, std::span<std::uint32_t> words);
  bool stands();
  void give_revision(stream& random, std::span<std::uint32_t> words);
  void give_order(stream& random, std::span<std::uint32_t> words);

  decision_distribution distribution_;
  double confident_;
  std::uint32_t vocabulary_;
  std::vector<std::uint32_t> special_;
  std::uint64_t seed_;
  std::array<stream, npu::decisions> streams_;
  stream acceptance_;
  std::unordered_map<std::uint32_t, std::uint32_t> standing_;  // token by position
};

}  // namespace dvp::platform
