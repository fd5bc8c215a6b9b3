#include "tlm/platform/shape/trajectory_model.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace dvp::platform {

namespace {

constexpr double least_confidence = 1e-3;
// Of a confident prediction that may be forgotten: above every threshold but 1.
constexpr float almost_certain = 0x1.fffffep-1F;
// Behind the kinds of decisions, each of which draws by itself.
constexpr std::uint32_t acceptance_kind = 0x100;

// [0, 1)
double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

// Forwards that `positions` take on average when each is confident with probability q and the best is always taken.
double expected_forwards(std::uint32_t positions, double q) {
  std::vector<double> forwards(positions + 1, 0.0);
  for (std::uint32_t m = 1; m <= positions; ++m) {
    // (1 - chance of none) goes to k of m; none counts as one.
    double chance = std::pow(1 - q, m);
    double sum = chance * forwards[m - 1];
    for (std::uint32_t k = 1; k <= m; ++k) {
      chance = q >= 1 ? (k == m ? 1.0 : 0.0) : chance * (m - k + 1) / k * q / (1 - q);
      sum += chance * forwards[m - k];
    }
    forwards[m] = 1 + sum;
  }
  return forwards[positions];
}

}  // namespace

double confident_share(std::uint32_t positions, double tokens_per_forward) {
  double low = 0, high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (positions / expected_forwards(positions, middle) < tokens_per_forward ? low : high) = middle;
  }
  return (low + high) / 2;
}

decision_generator::decision_generator(const decision_distribution& distribution, std::uint32_t positions,
                                       std::uint32_t vocabulary, std::vector<std::uint32_t> special, std::uint64_t seed)
    : distribution_(distribution),
      confident_(confident_share(positions, distribution.tokens_per_forward)),
      vocabulary_(vocabulary),
      special_(std::move(special)),
      seed_(seed) {}

void decision_generator::begin(std::size_t index) {
  const auto seed = [&](stream& random, std::uint32_t kind) {
    std::seed_seq all{static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32),
                      static_cast<std::uint32_t>(index), kind};
    random.seed(all);
  };
  for (std::uint32_t kind = 0; kind < streams_.size(); ++kind) seed(streams_[kind], kind);
  seed(acceptance_, acceptance_kind);
  standing_.clear();
}

std::uint32_t decision_generator::token(stream& random) {
  for (;;) {
    const std::uint32_t first = first_drawn_token(vocabulary_);
    const auto drawn = first + static_cast<std::uint32_t>(random() % (vocabulary_ - first));
    if (std::find(special_.begin(), special_.end(), drawn) == special_.end()) return drawn;
  }
}

void decision_generator::give(npu::decision kind, std::uint32_t first_row, std::span<std::uint32_t> words) {
  stream& random = streams_[static_cast<std::size_t>(kind)];
  switch (kind) {
    case npu::decision::sample:
      give_samples(random, first_row, words);
      break;
    case npu::decision::drift: {
      const double drift =
          distribution_.least_drift + uniform(random) * (distribution_.most_drift - distribution_.least_drift);
      words[0] = std::bit_cast<std::uint32_t>(static_cast<float>(drift * drift));
      words[1] = std::bit_cast<std::uint32_t>(1.0F);
      break;
    }
    case npu::decision::revision:
      give_revision(random, words);
      break;
    case npu::decision::activity:
    case npu::decision::ranking:
      give_order(random, words);
      break;
  }
}

bool decision_generator::stands() {
  return distribution_.draft_acceptance > 0 && uniform(acceptance_) < distribution_.draft_acceptance;
}

void decision_generator::give_samples(stream& random, std::uint32_t first_row, std::span<std::uint32_t> words) {
  const float confident_is = distribution_.draft_acceptance > 0 ? almost_certain : 1.0F;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const bool confident = uniform(random) < confident_;
    const auto other = static_cast<float>(uniform(random) * least_confidence);
    words[i] = token(random);
    words[i + 1] = std::bit_cast<std::uint32_t>(confident ? confident_is : other);
    const auto row = first_row + static_cast<std::uint32_t>(i / 2);
    if (const auto standing = standing_.find(row); standing != standing_.end()) {
      words[i] = standing->second;
      words[i + 1] = std::bit_cast<std::uint32_t>(1.0F);
    } else if (confident && stands()) {
      standing_.emplace(row, words[i]);
    }
  }
}

void decision_generator::give_revision(stream& random, std::span<std::uint32_t> words) {
  const revision_rates rates = distribution_.revision.value_or(revision_rates{});
  const bool agrees = uniform(random) < rates.agreement;
  const bool confident = uniform(random) < rates.confident;
  const auto other = static_cast<float>(uniform(random) * least_confidence);
  std::uint32_t another = token(random);
  while (another == words[0]) another = token(random);
  if (!agrees) words[0] = another;
  words[1] = std::bit_cast<std::uint32_t>(confident ? 1.0F : other);
}

void decision_generator::give_order(stream& random, std::span<std::uint32_t> words) {
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i % distribution_.run == 0) rank = std::bit_cast<std::uint32_t>(static_cast<float>(uniform(random)));
    words[i] = rank;
  }
}

}  // namespace dvp::platform
