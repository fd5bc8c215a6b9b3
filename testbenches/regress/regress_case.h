// One case of the RTL regression: a design and a seed. Everything that happens in it follows from the two.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "testbenches/regress/cover_points.h"

namespace dvp::regress {

struct case_options {
  std::string design;                  // "array/<configuration>" or "converter"
  std::uint32_t seed = 1;              // of stimulus and of the registers' initial contents
  std::uint64_t cycles = 4000;         // of traffic; what is then in flight is awaited
  std::string waves = {};              // FST file; empty: none
  std::uint64_t first_wave_cycle = 0;  // recorded cycles, both included
  std::uint64_t last_wave_cycle = std::numeric_limits<std::uint64_t>::max();
  // Array: rows from this one on are loaded as inactive. Narrows a wrong sum down to the row that made it.
  std::uint32_t row_limit = std::numeric_limits<std::uint32_t>::max();
};

// The first thing that is not as the contract says.
struct mismatch {
  std::uint64_t cycle = 0;
  std::string place;    // "tile 14, row 5, column 22", as far as it is known
  std::string history;  // what the design had just been given
  std::string expected;
  std::string got;
};

struct case_result {
  std::optional<mismatch> failure;
  std::uint64_t cycles = 0;
  std::uint64_t compared = 0;  // sums of the array, bursts of the converter
};

// Stops at the first mismatch; for a wrong sum of an array it finds the row by running the case again.
// Throws std::invalid_argument for a design that is not built.
case_result run_case(const case_options& options, cover_points& points);

case_result run_array_case(const case_options& options, cover_points& points);
case_result run_converter_case(const case_options& options, cover_points& points);

}  // namespace dvp::regress
