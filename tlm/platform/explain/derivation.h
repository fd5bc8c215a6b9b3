// How a figure comes about: a tree of terms with their values, down to counters and prices.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace dvp::platform {

struct derivation {
  std::string figure;   // dotted path in stats.json; empty for a term that is not in it
  std::string name;     // what formulas call it
  double value = 0;     // as stored, or as computed where it is not in stats.json
  std::string unit;     // empty for plain numbers
  std::string text;     // in place of the value, for figures that are words
  std::string kind;     // measured, modelled, or of a configuration's value what kind_of_reason says
  std::string formula;  // over the names of the terms; empty for a leaf
  std::string source;   // where the formula stands, what a counter counts, or the reason of a price
  std::vector<derivation> terms;
  std::optional<double> computed;  // what the formula gives for the values of the terms; it has to be the value
};

nlohmann::ordered_json to_json(const derivation& d);

// The tree as indented lines, values with the unit that leaves few digits.
std::string to_text(const derivation& d);

}  // namespace dvp::platform
