// Bases against eigenvalues by Jacobi's method in binary64.
#include "firmware/dllm/subspace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tlm/numerics/bf16.h"

namespace dvp {
namespace {

using numbers = std::vector<double>;

// Eigenvalues of a symmetric matrix, largest first: cyclic Jacobi rotations.
numbers eigenvalues(numbers a, std::uint32_t n) {
  const auto at = [&](std::uint32_t i, std::uint32_t j) -> double& { return a[i * n + j]; };
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (std::uint32_t p = 0; p < n; ++p) {
      for (std::uint32_t q = p + 1; q < n; ++q) {
        if (std::abs(at(p, q)) < 1e-300) {
          continue;
        }
        const double angle = 0.5 * std::atan2(2 * at(p, q), at(q, q) - at(p, p));
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::uint32_t k = 0; k < n; ++k) {
          const double x = at(k, p), y = at(k, q);
          at(k, p) = c * x - s * y;
          at(k, q) = s * x + c * y;
        }
        for (std::uint32_t k = 0; k < n; ++k) {
          const double x = at(p, k), y = at(q, k);
          at(p, k) = c * x - s * y;
          at(q, k) = s * x + c * y;
        }
      }
    }
  }
  numbers values;
  for (std::uint32_t i = 0; i < n; ++i) {
    values.push_back(at(i, i));
  }
  std::sort(values.rbegin(), values.rend());
  return values;
}

// Gram matrix of vectors along random orthonormal directions, as strong as `spectrum` says; in binary32.
std::vector<float> gram_of(std::mt19937& random, std::uint32_t n, const numbers& spectrum) {
  std::normal_distribution<double> gaussian;
  std::vector<numbers> directions;
  while (directions.size() < spectrum.size()) {
    numbers v(n);
    std::generate(v.begin(), v.end(), [&] { return gaussian(random); });
    for (const numbers& u : directions) {
      const double along = std::inner_product(v.begin(), v.end(), u.begin(), 0.0);
      std::transform(v.begin(), v.end(), u.begin(), v.begin(), [&](double x, double y) { return x - along * y; });
    }
    const double length = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
    for (double& x : v) {
      x /= length;
    }
    directions.push_back(v);
  }
  std::vector<float> gram(n * n);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = i; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < spectrum.size(); ++k) {
        sum += spectrum[k] * directions[k][i] * directions[k][j];
      }
      gram[i * n + j] = gram[j * n + i] = static_cast<float>(sum);
    }
  }
  return gram;
}

struct basis {
  std::uint32_t length, rank;
  std::vector<std::uint16_t> codes, transposed;

  double at(std::uint32_t k, std::uint32_t i) const { return numerics::from_bf16(codes[k * length + i]); }
  double dot(std::uint32_t a, std::uint32_t b) const {
    double sum = 0;
    for (std::uint32_t i = 0; i < length; ++i) {
      sum += at(a, i) * at(b, i);
    }
    return sum;
  }
};

basis find(const std::vector<float>& gram, std::uint32_t length, std::uint32_t rank, std::uint32_t iterations) {
  basis b{length, rank, std::vector<std::uint16_t>(rank * length, 0x1234),
          std::vector<std::uint16_t>(rank * length, 0x1234)};
  // Scratch with anything in it: nothing may depend on it.
  std::vector<double> scratch(dllm::subspace_scratch(length, rank), std::numeric_limits<double>::quiet_NaN());
  dllm::leading_subspace(gram, length, rank, iterations, scratch, b.codes, b.transposed);
  for (std::uint32_t k = 0; k < rank; ++k) {
    for (std::uint32_t i = 0; i < length; ++i) {
      EXPECT_EQ(b.transposed[i * rank + k], b.codes[k * length + i]);
    }
  }
  return b;
}

// Unit vectors at right angles, or nothing at all, up to what bf16 rounds off. Returns how many are not nothing.
std::uint32_t expect_orthonormal(const basis& b) {
  std::uint32_t vectors = 0;
  for (std::uint32_t k = 0; k < b.rank; ++k) {
    const double square = b.dot(k, k);
    EXPECT_TRUE(square == 0 || std::abs(square - 1) < 0.01) << square;
    vectors += square != 0 ? 1 : 0;
    for (std::uint32_t j = 0; j < k; ++j) {
      EXPECT_LT(std::abs(b.dot(k, j)), 0.01);
    }
  }
  return vectors;
}

double captured(const basis& b, const std::vector<float>& gram) {
  double sum = 0;
  for (std::uint32_t k = 0; k < b.rank; ++k) {
    for (std::uint32_t i = 0; i < b.length; ++i) {
      for (std::uint32_t j = 0; j < b.length; ++j) {
        sum += b.at(k, i) * static_cast<double>(gram[i * b.length + j]) * b.at(k, j);
      }
    }
  }
  return sum;
}

double possible(const std::vector<float>& gram, std::uint32_t length, std::uint32_t rank) {
  const numbers values = eigenvalues({gram.begin(), gram.end()}, length);
  return std::accumulate(values.begin(), values.begin() + rank, 0.0);
}

TEST(subspace, catches_the_energy_of_gapped_spectra_in_eight_iterations) {
  const std::uint32_t seed = 20261130;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const std::uint32_t length : {2u, 6u, 8u, 16u, 32u, 64u}) {
    for (std::uint32_t rank = 1; rank <= std::min(length, dllm::most_basis_rank); ++rank) {
      for (const double size : {1e-12, 1.0, 1e20}) {
        // `rank` strong directions, the rest four times weaker than the weakest of these or more.
        numbers spectrum;
        for (std::uint32_t k = 0; k < length; ++k) {
          spectrum.push_back(size * (k < rank ? 8.0 - 0.5 * k : 1.0 / (k - rank + 1)));
        }
        const auto gram = gram_of(random, length, spectrum);
        const basis b = find(gram, length, rank, 8);
        EXPECT_EQ(expect_orthonormal(b), rank);
        EXPECT_GT(captured(b, gram), 0.99 * possible(gram, length, rank)) << length << " " << rank << " " << size;
      }
    }
  }
}

TEST(subspace, weak_directions_beside_a_strong_one_are_found_too) {
  std::mt19937 random(21);
  const auto gram = gram_of(random, 32, {1e6, 1, 0.01, 0.01});
  const basis b = find(gram, 32, 2, 8);
  EXPECT_EQ(expect_orthonormal(b), 2u);
  // Of what the strong one leaves.
  double second = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    for (std::uint32_t j = 0; j < 32; ++j) {
      second += b.at(1, i) * static_cast<double>(gram[i * 32 + j]) * b.at(1, j);
    }
  }
  EXPECT_GT(second, 0.9);
}

TEST(subspace, what_is_not_there_is_nothing) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinite = std::numeric_limits<float>::infinity();
  std::mt19937 random(22);
  EXPECT_EQ(expect_orthonormal(find(std::vector<float>(16 * 16, 0.0f), 16, 4, 8)), 0u);
  std::vector<float> one(16 * 16, 0.0f);
  one[5 * 16 + 5] = 3;
  const basis b = find(one, 16, 4, 8);
  EXPECT_EQ(expect_orthonormal(b), 1u);
  EXPECT_EQ(std::abs(b.at(0, 5)), 1.0);
  for (const float bad : {nan, infinite, -infinite}) {
    auto gram = gram_of(random, 16, {3, 2, 1});
    gram[37] = bad;
    EXPECT_EQ(expect_orthonormal(find(gram, 16, 3, 8)), 0u);
  }
  // The identity has no leading directions: any will do.
  std::vector<float> identity(16 * 16, 0.0f);
  for (std::uint32_t i = 0; i < 16; ++i) {
    identity[i * 17] = 1;
  }
  EXPECT_EQ(expect_orthonormal(find(identity, 16, 8, 8)), 8u);
  // Full of the largest number.
  expect_orthonormal(find(std::vector<float>(16 * 16, std::numeric_limits<float>::max()), 16, 2, 8));
  // Of the smallest.
  expect_orthonormal(find(std::vector<float>(16 * 16, std::numeric_limits<float>::denorm_min()), 16, 2, 8));
  EXPECT_TRUE(find(identity, 16, 0, 8).codes.empty());
}

TEST(subspace, the_same_matrix_gives_the_same_bits) {
  std::mt19937 random(23);
  const auto gram = gram_of(random, 32, {5, 4, 3, 2, 1});
  EXPECT_EQ(find(gram, 32, 4, 8).codes, find(gram, 32, 4, 8).codes);
  EXPECT_EQ(dllm::subspace_macs(32, 2, 8), 8u * (2 * 32 * 32 + 2 * 2 * 2 * 32));
}

}  // namespace
}  // namespace dvp
