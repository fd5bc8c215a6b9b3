#include "tlm/platform/sweep/spec.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>

#include "tlm/core/strict_json.h"
#include "tlm/platform/sweep/run_arguments.h"

namespace dvp::platform::sweep {

namespace {

using core::json_object;
using nlohmann::ordered_json;

constexpr double largest = 1e15;  // below which every whole number is a double
constexpr std::uint64_t most_values = 100'000;
constexpr std::uint64_t most_drawn = 1'000'000;

bool is_whole(double value) {
  return value == std::floor(value);
}

// As a whole number where it is one, so that nobody reads 32.0 for 32.
ordered_json number(double value) {
  if (is_whole(value)) return static_cast<std::int64_t>(value);
  return value;
}

// Without the last digits, which come from adding steps: 0.6 and not 0.6000000000000001.
double rounded(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.12g", value);
  return std::strtod(text, nullptr);
}

double between(const parameter& p, double share) {
  if (p.logarithmic) return p.from * std::pow(p.to / p.from, share);
  return p.from + share * (p.to - p.from);
}

void fill_range(parameter& p, const json_object& range) {
  p.from = range.number("from", -largest, largest);
  p.to = range.number("to", p.from, largest);
  constexpr core::named_value<bool> scales[] = {{"linear", false}, {"log", true}};
  p.logarithmic = range.choice_or("scale", false, scales);
  if (p.logarithmic && p.from <= 0) range.fail("from", "is not above 0, and scale is log; give a larger one");
  p.whole = range.flag_or("whole", false);
  const bool step = range.has("step"), count = range.has("count");
  if (step && (count || p.logarithmic || p.whole)) {
    range.fail("step", "does not go with count, scale log or whole; leave them out");
  }
  if (step) {
    const double by = range.number("step", 0, largest);
    if (by <= 0 || (p.to - p.from) / by > static_cast<double>(most_values)) {
      range.fail("step", "makes too many values; give a larger one");
    }
    const auto steps = static_cast<std::uint64_t>(std::floor((p.to - p.from) / by + 1e-9));
    for (std::uint64_t i = 0; i <= steps; ++i)
      p.values.push_back(number(rounded(p.from + static_cast<double>(i) * by)));
  }
  if (count) {
    const std::uint64_t values = range.whole("count", 2, most_values);
    for (std::uint64_t i = 0; i < values; ++i) {
      const double value = rounded(between(p, static_cast<double>(i) / static_cast<double>(values - 1)));
      ordered_json next = number(p.whole ? std::round(value) : value);
      if (p.values.empty() || p.values.back() != next) p.values.push_back(std::move(next));
    }
  }
  if (p.whole && !(is_whole(p.from) && is_whole(p.to))) range.fail("whole", "is true and from or to is not whole");
  range.finish();
}

void check_name(const json_object& where, const std::string& name, const ordered_json& value) {
  try {
    arguments_of(name, value);
  } catch (const std::invalid_argument& error) {
    where.fail(name, error.what());
  }
}

parameter read_parameter(const json_object& parameters, const std::string& name) {
  parameter p;
  p.name = name;
  const ordered_json& given = parameters.raw(name);
  if (given.is_array()) {
    if (given.empty() || given.size() > most_values) {
      parameters.fail(name, "lists no values, or too many; give from 1 to " + std::to_string(most_values));
    }
    p.values.assign(given.begin(), given.end());
    for (std::size_t i = 0; i < p.values.size(); ++i) {
      if (std::find(p.values.begin(), p.values.begin() + static_cast<std::ptrdiff_t>(i), p.values[i]) !=
          p.values.begin() + static_cast<std::ptrdiff_t>(i)) {
        parameters.fail(name, "lists " + p.values[i].dump() + " twice; remove one of them");
      }
    }
  } else if (given.is_object()) {
    fill_range(p, parameters.object(name));
  } else {
    parameters.fail(name,
                    "takes a list of values, or a range {\"from\": ..., \"to\": ...}; put a value that is the "
                    "same in all points into run");
  }
  check_name(parameters, name, p.values.empty() ? ordered_json(p.from) : p.values.front());
  return p;
}

// Only its keys' values are of anybody's choosing, so there is nothing to finish.
std::vector<std::string> keys_of(const json_object& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.value().items()) keys.push_back(item.key());
  return keys;
}

std::vector<std::string> read_run(const json_object& top) {
  std::vector<std::string> arguments;
  if (!top.has("run")) return arguments;
  const json_object run = top.object("run");
  const auto add = [&](const json_object& where, const std::string& key, const std::string& name) {
    try {
      for (auto& argument : arguments_of(name, where.raw(key))) arguments.push_back(std::move(argument));
    } catch (const std::invalid_argument& error) {
      where.fail(key, error.what());
    }
  };
  for (const auto& key : keys_of(run)) {
    if (key == "set") {
      const json_object set = run.object("set");
      for (const auto& path : keys_of(set)) add(set, path, path);
    } else {
      add(run, key, "--" + key);
    }
  }
  return arguments;
}

void read_listed(sweep_spec& spec, const json_object& top) {
  for (const auto& point : top.objects("points")) {
    for (const auto& name : keys_of(point)) check_name(point, name, point.raw(name));
    spec.listed.push_back(point.value());
  }
  if (spec.listed.empty()) top.fail("points", "lists no points; give at least one");
}

void read_constraints(sweep_spec& spec, const json_object& top) {
  if (!top.has("constraints")) return;
  std::vector<std::string> names;
  for (const auto& p : spec.parameters) names.push_back(p.name);
  for (const auto& point : spec.listed) {
    for (const auto& item : point.items()) names.push_back(item.key());
  }
  const ordered_json& list = top.raw("constraints");
  if (!list.is_array()) top.fail("constraints", "is not a list; write [\"a <= b\"]");
  for (const auto& text : list) {
    if (!text.is_string()) top.fail("constraints", text.dump() + " is not a text such as \"a <= b\"");
    try {
      spec.constraints.emplace_back(text.get<std::string>(), names);
    } catch (const std::invalid_argument& error) {
      top.fail("constraints", error.what());
    }
  }
}

void read_objectives(sweep_spec& spec, const json_object& top) {
  const json_object objectives = top.object("objectives");
  constexpr core::named_value<bool> goals[] = {{"min", false}, {"max", true}};
  for (const auto& figure : keys_of(objectives)) {
    if (!figure.starts_with("total.")) {
      objectives.fail(figure, "is not below total of stats.json; give a figure such as total.latency_us");
    }
    spec.objectives.push_back({figure, objectives.choice(figure, goals)});
  }
  if (spec.objectives.empty()) top.fail("objectives", R"(names no figure; such as {"total.latency_us": "min"})");
}

}  // namespace

ordered_json value_at(const parameter& p, double share) {
  if (!p.values.empty()) {
    return p
        .values[std::min(p.values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(p.values.size())))];
  }
  if (!p.whole) return between(p, share);
  // Every whole number has its own part of the range.
  if (p.logarithmic) return number(std::min(p.to, std::floor(p.from * std::pow((p.to + 1) / p.from, share))));
  return number(std::min(p.to, std::floor(p.from + share * (p.to + 1 - p.from))));
}

sweep_spec parse_spec(const std::string& text, const std::string& file) {
  sweep_spec spec;
  spec.source = core::parse_json(text, file);
  const json_object top(spec.source, file);
  spec.name = top.text("name");
  if (spec.name.empty()) top.fail("name", "is empty; give the sweep a name");
  top.text_or("description", "");
  spec.seed = top.whole_or("seed", 1, 0, static_cast<std::uint64_t>(largest));
  spec.limit = top.whole_or("limit", usual_limit, 1, most_drawn);
  spec.run_arguments = read_run(top);
  constexpr core::named_value<method> methods[] = {{"grid", method::grid},
                                                   {"list", method::list},
                                                   {"random", method::random},
                                                   {"latin_hypercube", method::latin_hypercube}};
  spec.how = top.choice("method", methods);
  if (spec.how == method::list) {
    if (top.has("parameters")) top.fail("parameters", "is not read by method list; its points name theirs");
    read_listed(spec, top);
  } else {
    const json_object parameters = top.object("parameters");
    for (const auto& name : keys_of(parameters)) spec.parameters.push_back(read_parameter(parameters, name));
    if (spec.parameters.empty()) top.fail("parameters", "names none, so that there is nothing to sweep; add one");
  }
  if (spec.how == method::grid) {
    if (top.has("points")) top.fail("points", "is not read by method grid, which runs every combination; remove it");
    for (const auto& p : spec.parameters) {
      if (p.values.empty()) top.fail("parameters." + p.name, "needs step or count, as method grid runs every value");
    }
  } else if (spec.how != method::list) {
    spec.count = top.whole("points", 1, most_drawn);
  }
  read_constraints(spec, top);
  read_objectives(spec, top);
  top.finish();
  return spec;
}

}  // namespace dvp::platform::sweep
