// Figures of LPDDR5-6400 x16 that are published or follow from arithmetic, simulated and compared; and the stream mode
// against the cycle mode.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tlm/lpddr5/config/memory_config.h"

namespace dvp::platform {

struct golden_row {
  std::string what;
  std::string unit;
  double ours = 0;
  double expected = 0;
  double tolerance = 0;  // relative
  bool at_most = false;  // expected is a bound: ours may be below it by as much as tolerance
  std::string basis;

  double difference() const { return ours / expected - 1; }
  bool ok() const;
};

// `memory` is LPDDR5-6400, x16, BG mode, 8 Gb; its policies and mapping are replaced case by case.
std::vector<golden_row> run_golden(const lpddr5::memory_config& memory);

std::string golden_table(const std::vector<golden_row>& rows);
std::string golden_count(const std::vector<golden_row>& rows);  // the line below the table

// A list of {case, ours, expected, unit, tolerance, at_most, basis, ok}.
nlohmann::ordered_json golden_json(const std::vector<golden_row>& rows);

}  // namespace dvp::platform
