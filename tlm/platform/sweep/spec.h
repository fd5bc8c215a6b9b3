// What a sweep is to run: parameters, how points are chosen among them, objectives. Described key by key in
// tlm/platform/configs/sweep.schema.json.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tlm/platform/sweep/constraint.h"

namespace dvp::platform::sweep {

// The values a parameter takes: listed ones, or all from `from` to `to`.
struct parameter {
  std::string name;                            // a configuration's path, or "--threshold": an option of dllm-vp run
  std::vector<nlohmann::ordered_json> values;  // empty: a continuous range
  double from = 0, to = 0;
  bool logarithmic = false;  // the continuous range is even in the logarithm
  bool whole = false;        // and whole numbers only
};

// `share` in [0, 1) of the way through the parameter's values, in their order.
nlohmann::ordered_json value_at(const parameter& p, double share);

enum class method { grid, list, random, latin_hypercube };

struct objective {
  std::string figure;  // dotted path in stats.json, below total
  bool maximise = false;
};

struct sweep_spec {
  std::string name;
  std::uint64_t seed = 1;                  // of random and latin_hypercube
  std::vector<std::string> run_arguments;  // of every point: {"--model=tiny-fdllm2", ...}
  std::vector<parameter> parameters;
  method how = method::grid;
  std::uint64_t count = 0;         // points of random and latin_hypercube
  std::vector<assignment> listed;  // points of list
  std::vector<constraint> constraints;
  std::vector<objective> objectives;
  std::uint64_t limit = 0;        // most points
  nlohmann::ordered_json source;  // the document
};

// Points that a file without "limit" may have.
constexpr std::uint64_t usual_limit = 1000;

// `file` is for messages. core::config_error, one sentence with file and key, for every fault of the document;
// what it gives to dllm-vp run is looked at by make_points.
sweep_spec parse_spec(const std::string& text, const std::string& file);

}  // namespace dvp::platform::sweep
