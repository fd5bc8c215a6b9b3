// The figures of a run as rows of a table.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dvp::platform::sweep {

struct figure {
  std::string path;  // dotted, in stats.json
  double value = 0;
  bool modelled = false;  // else measured by the simulation
};

// Every number below "total" of a stats.json, its raw counters apart. An object that has a value and says that it is
// modelled is a figure itself, and what is inside it is modelled, too, as is every energy.
std::vector<figure> figures_of_run(const nlohmann::ordered_json& stats);

}  // namespace dvp::platform::sweep
