// The basis of a head's keys or values: the directions that hold most of their energy.
//
// BRQ-KV (arXiv 2609.01084) keeps the leading eigenvectors of a streamed Gram matrix. They are found by subspace
// iteration (Golub and Van Loan, Matrix Computations, 4th ed., section 8.2.4): multiply by the matrix, make
// orthonormal, repeat. Sums are binary64 and in a fixed order, so every machine finds the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dvp::dllm {

inline constexpr std::uint32_t most_basis_rank = 8;

// gram: [length][length], symmetric, of numbers that are not negative on the diagonal. basis: [rank][length] bf16, and
// `transposed` the same as [length][rank]. scratch: subspace_scratch(length, rank) numbers. Where the matrix has fewer
// directions than `rank`, or no finite numbers, the vectors left over are 0: harmless, they describe nothing.
void leading_subspace(std::span<const float> gram, std::uint32_t length, std::uint32_t rank, std::uint32_t iterations,
                      std::span<double> scratch, std::span<std::uint16_t> basis, std::span<std::uint16_t> transposed);

constexpr std::size_t subspace_scratch(std::uint32_t length, std::uint32_t rank) {
  return std::size_t{2} * rank * length;
}

// Multiply-accumulates that it takes.
constexpr std::uint64_t subspace_macs(std::uint32_t length, std::uint32_t rank, std::uint32_t iterations) {
  const std::uint64_t product = std::uint64_t{rank} * length * length;
  const std::uint64_t orthogonal = std::uint64_t{2} * rank * rank * length;
  return iterations * (product + orthogonal);
}

}  // namespace dvp::dllm
