// Sampling: against a long double softmax, against its own per-element definition, and cut into chunks.
#include "tlm/numerics/sampling.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "testbenches/unit/numerics/values.h"
#include "tlm/numerics/fp32.h"
#include "tlm/numerics/noise.h"
#include "tlm/numerics/special.h"

namespace dvp::numerics::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::uint64_t key = 0x0123'4567'89ab'cdef;
constexpr std::uint32_t seed = 4711;

std::vector<float> random_logits(operand_source& source, std::size_t n) {
  std::vector<float> logits(n);
  for (float& l : logits) l = source.fp32();
  return logits;
}

running_sample whole(const std::vector<float>& logits, std::uint32_t suppressed, float temperature) {
  running_sample state = start();
  update(state, logits.data(), static_cast<std::uint32_t>(logits.size()), 0, suppressed, temperature, key, 5);
  return state;
}

// The header's definition, element by element.
running_sample defined(const std::vector<float>& logits, std::uint32_t suppressed, float temperature) {
  running_sample s = start();
  for (std::uint32_t token = 0; token < logits.size(); ++token) {
    const float logit = logits[token];
    if (token == suppressed || logit == -infinity) continue;
    if (logit > s.maximum) {
      s.sum = add(multiply(s.sum, exp(s.maximum - logit)), 1.0f);
      s.maximum = logit;
    } else {
      s.sum = add(s.sum, exp(logit - s.maximum));
    }
    const float value = temperature == 0 ? logit : add(logit / temperature, gumbel_noise(key, 5, token));
    if (value > s.best_value) {
      s.best_value = value;
      s.best_logit = logit;
      s.best_token = token;
    }
  }
  return s;
}

void expect_same(const running_sample& a, const running_sample& b) {
  EXPECT_EQ(bits(a.maximum), bits(b.maximum));
  EXPECT_EQ(bits(a.sum), bits(b.sum));
  EXPECT_EQ(bits(a.best_value), bits(b.best_value));
  EXPECT_EQ(bits(a.best_logit), bits(b.best_logit));
  EXPECT_EQ(a.best_token, b.best_token);
}

TEST(sampling, agrees_with_long_double) {
  operand_source source(seed, 0.0);
  for (std::size_t n : {2u, 63u, 500u, 4000u}) {
    const std::vector<float> logits = random_logits(source, n);
    const auto suppressed = static_cast<std::uint32_t>(n / 2);
    std::uint32_t best = no_token;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i != suppressed && (best == no_token || logits[i] > logits[best])) best = i;
    }
    long double sum = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i != suppressed) sum += std::exp(static_cast<long double>(logits[i]) - logits[best]);
    }
    const sample s = finish(whole(logits, suppressed, 0.0f));
    EXPECT_EQ(s.token, best);
    EXPECT_NEAR(static_cast<double>(s.confidence * static_cast<float>(sum)), 1.0, 2e-5) << n;
  }
}

TEST(sampling, equals_its_definition_however_it_is_cut) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (double special_share : {0.0, 0.003, 0.3}) {
    operand_source source(seed, special_share);
    for (int round = 0; round < 60; ++round) {
      std::vector<float> logits = random_logits(source, 1 + source.below(700));
      if (round % 3 == 0) {
        for (float& l : logits) l = std::nearbyint(l);  // many ties
      }
      if (round % 5 == 0) std::fill_n(logits.begin(), logits.size() / 2, -infinity);
      const std::uint32_t suppressed = round % 4 ? source.below(static_cast<std::uint32_t>(logits.size())) : no_token;
      const float temperature = round % 2 ? 0.7f : 0.0f;
      const running_sample expected = defined(logits, suppressed, temperature);
      SCOPED_TRACE(testing::Message() << "round " << round << ", special share " << special_share);
      expect_same(whole(logits, suppressed, temperature), expected);
      running_sample state = start();
      for (std::uint32_t first = 0; first < logits.size();) {
        const std::uint32_t n =
            std::min<std::uint32_t>(1 + source.below(150), static_cast<std::uint32_t>(logits.size()) - first);
        update(state, logits.data() + first, n, first, suppressed, temperature, key, 5);
        first += n;
      }
      expect_same(state, expected);
      if (HasFailure()) return;
    }
  }
}

TEST(sampling, ties_keep_the_lower_token) {
  const sample s = finish(whole({1.0f, 3.0f, 3.0f, 2.0f}, no_token, 0.0f));
  EXPECT_EQ(s.token, 1u);
}

TEST(sampling, suppressed_token_neither_chosen_nor_counted) {
  const sample s = finish(whole({1.0f, 9.0f, 1.0f}, 1, 0.0f));
  EXPECT_EQ(s.token, 0u);
  EXPECT_EQ(s.confidence, 0.5f);
}

TEST(sampling, special_values) {
  EXPECT_EQ(finish(start()).token, no_token);
  EXPECT_EQ(bits(finish(start()).confidence), 0u);
  EXPECT_EQ(finish(whole({-infinity, -infinity}, no_token, 0.0f)).token, no_token);
  const sample with_nan = finish(whole({1.0f, value_of(0xffc0'0000), 2.0f}, no_token, 0.0f));
  EXPECT_EQ(with_nan.token, 2u);
  EXPECT_EQ(bits(with_nan.confidence), canonical_nan_bits);
  const sample with_infinity = finish(whole({1.0f, infinity, 2.0f}, no_token, 0.0f));
  EXPECT_EQ(with_infinity.token, 1u);
  EXPECT_EQ(bits(with_infinity.confidence), canonical_nan_bits);
}

TEST(sampling, confidence_at_temperature_is_the_plain_probability) {
  const std::vector<float> logits = {0.0f, std::log(3.0f)};
  for (std::uint32_t position = 0; position < 50; ++position) {
    running_sample state = start();
    update(state, logits.data(), 2, 0, no_token, 1.0f, key, position);
    const sample s = finish(state);
    EXPECT_NEAR(static_cast<double>(s.confidence), s.token == 0 ? 0.25 : 0.75, 1e-6);
  }
}

TEST(noise, known_value) {
  // mix(x) is SplitMix64's output function: the generator seeded with 0 first gives 0xe220a8397b1dcdaf.
  // noise_bits(0, 0, 0) = mix(mix(0) + g) = mix(g), that very value.
  EXPECT_EQ(noise_bits(0, 0, 0), 0xe220'a839'7b1d'cdafu);
  EXPECT_EQ(noise_bits(0, 0, 1), 0x6e78'9e6a'a1b9'65f4u);
}

TEST(noise, frequencies_follow_the_softmax) {
  const std::array<float, 4> logits = {0.0f, 1.0f, -1.0f, 0.5f};
  for (float temperature : {1.0f, 0.5f}) {
    std::array<double, 4> expected{};
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += expected[i] = std::exp(static_cast<double>(logits[i] / temperature));
    std::array<int, 4> seen{};
    constexpr int draws = 40000;
    for (std::uint32_t position = 0; position < draws; ++position) {
      running_sample state = start();
      update(state, logits.data(), 4, 100, no_token, temperature, key, position);
      ++seen[finish(state).token - 100];
    }
    for (std::size_t i = 0; i < 4; ++i) {
      const double p = expected[i] / sum;
      EXPECT_NEAR(seen[i], draws * p, 5 * std::sqrt(draws * p * (1 - p))) << "token " << i << " at " << temperature;
    }
  }
}

TEST(noise, stays_inside_its_bounds) {
  for (std::uint32_t token = 0; token < 100000; ++token) {
    const float u = uniform_noise(key, 1, token);
    ASSERT_GT(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    const float g = gumbel_noise(key, 1, token);
    ASSERT_GT(g, -2.9f);
    ASSERT_LT(g, 16.7f);
  }
}

}  // namespace
}  // namespace dvp::numerics::test
