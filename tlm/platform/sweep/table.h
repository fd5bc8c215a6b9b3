// What a sweep came to, for people and for spreadsheets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/platform/sweep/store.h"

namespace dvp::platform::sweep {

struct objective_column {
  std::string figure;
  bool maximise = false;
  std::string kind;  // measured or modelled; empty: no point has it
};

struct table_row {
  std::int64_t ordinal = 0;
  assignment parameters;
  std::string state, reason;
  std::vector<std::optional<double>> values;  // by objective; none: there is no such figure
  bool optimal = false;                       // no other point is as good in all objectives and better in one
};

struct sweep_table {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<objective_column> objectives;
  std::vector<table_row> rows;      // in the sweep's order
  std::vector<std::string> others;  // "number name" of the database's other sweeps
};

// The number of the last sweep of this name, or with this number; empty: of the last one. usage_error when there is
// none.
std::int64_t find_sweep(store& results, const std::string& which);

sweep_table read_table(store& results, std::int64_t sweep);

// Aligned columns and a sentence for every point that failed.
std::string as_text(const sweep_table& table, bool pareto_only);
// RFC 4180, one line a point and a head.
std::string as_csv(const sweep_table& table, bool pareto_only);

// One sentence for each objective that no point has, naming the nearest figure there is.
std::vector<std::string> unknown_objectives(store& results, const sweep_table& table);

}  // namespace dvp::platform::sweep
