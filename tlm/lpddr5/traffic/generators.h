// Traffic made by rule. Everything is a function of the parameters and the seed.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tlm/lpddr5/traffic/traffic_source.h"

namespace dvp::lpddr5 {

enum class pattern : std::uint8_t {
  stream,   // addresses follow each other
  random,   // uniform over the range, at multiples of the request size from its start
  strided,  // `stride` bytes apart; each lap of the range starts one request further
  gemm,     // see gemm_shape
  mixed     // sequential tagged reads whose precision changes from run to run
};
constexpr std::string_view pattern_names[] = {"stream", "random", "strided", "gemm", "mixed"};

constexpr std::string_view name_of(pattern p) {
  return pattern_names[static_cast<std::size_t>(p)];
}

// results[M][N] = activations[M][K] weights[K][N] on a weight-stationary array. For each tile of columns and each tile
// of the reduction: the weight tile (stored in one piece) is read, then that part of every row of the activations; when
// the reduction is through, the finished columns of every row are written. Sums in between stay on the chip.
struct gemm_shape {
  std::uint64_t m = 64, n = 1024, k = 1024;
  std::uint64_t tile_n = 64, tile_k = 64;
  std::uint64_t element_bytes = 1;
};

struct generator_options {
  pattern what = pattern::stream;
  std::uint64_t requests = 1'000'000;  // of gemm: at most so many; 0: all of it
  std::uint64_t request_bytes = 32;
  double reads = 1.0;  // share of reads, 0 to 1; stream, random, strided
  std::uint64_t first_address = 0;
  std::uint64_t range_bytes = 0;  // addresses stay in [first_address, first_address + range_bytes)
  std::uint64_t seed = 1;
  std::uint64_t stride_bytes = 4096;  // strided
  bool laps = true;                   // strided: each lap starts one request further; otherwise at the same address
  gemm_shape gemm;                    // gemm; its range begins with the weights, then activations, then results
  std::uint64_t run_elements = 1024;  // mixed: elements of one precision; a request ends with its run
  // mixed: shares of the runs at 8, 4, 2 and 0 bits, in any unit.
  double share_q8 = 1, share_q4 = 1, share_q2 = 1, share_q0 = 1;
  std::uint64_t interval_fs = 0;  // at most one request in so long; 0: as fast as accepted
};

// Bytes of the address range that the options need at least.
std::uint64_t least_range(const generator_options& options);

// traffic_error naming the parameter when they make no sense together.
std::unique_ptr<traffic_source> make_generator(const generator_options& options);

}  // namespace dvp::lpddr5
