#include "tlm/lpddr5/engine/rules.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "tlm/lpddr5/engine/expression.h"

namespace dvp::lpddr5 {

namespace {

constexpr std::uint32_t longest_window = 8;

[[noreturn]] void refuse(std::size_t index, const rule_row& row, const std::string& what) {
  throw std::invalid_argument("timing rule " + std::to_string(index + 1) +
                              (row.why.empty() ? "" : " (" + row.why + ")") + ": " + what);
}

cycles value_of(std::size_t index, const rule_row& row, std::string_view expression, const timing& t) {
  cycles value = 0;
  try {
    value = evaluate(expression, t);
  } catch (const std::invalid_argument& error) {
    refuse(index, row, error.what());
  }
  if (value < 0) {
    refuse(index, row,
           "\"" + std::string(expression) + "\" is " + std::to_string(value) +
               " clocks for this device; write max(0, ...) where that is meant");
  }
  return value;
}

std::uint32_t mask_of(const std::vector<command>& commands) {
  std::uint32_t mask = 0;
  for (const command c : commands) mask |= 1U << static_cast<unsigned>(c);
  return mask;
}

void add_effect(std::vector<rule_effect>& effects, command later, cycles latency) {
  const auto known =
      std::find_if(effects.begin(), effects.end(), [&](const rule_effect& e) { return e.later == later; });
  if (known == effects.end()) {
    effects.push_back({later, latency});
  } else {
    known->latency = std::max(known->latency, latency);
  }
}

}  // namespace

rule_table compile(const std::vector<rule_row>& rows, const timing& t) {
  rule_table table;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const rule_row& row = rows[i];
    if (row.earlier.empty() || row.later.empty()) refuse(i, row, "it names no earlier or no later command; add one");
    if (row.window < 1 || row.window > longest_window) {
      refuse(i, row, "window " + std::to_string(row.window) + " is not 1 to " + std::to_string(longest_window));
    }
    const bool has_hole = !row.hole_from.empty() || !row.hole_to.empty();
    if (has_hole && (row.hole_from.empty() || row.hole_to.empty())) {
      refuse(i, row, "a hole needs both ends; give from and to");
    }
    const bool wide = row.scope == rule_scope::rank || row.scope == rule_scope::channel;
    if (!wide && (row.window > 1 || has_hole)) {
      refuse(i, row, "windows and holes exist for the scopes rank and channel only; choose one of them");
    }
    const cycles latency = value_of(i, row, row.latency, t);
    if (row.window > 1) {
      table.windows.push_back({row.scope, mask_of(row.earlier), mask_of(row.later), row.window, latency});
    } else {
      for (const command earlier : row.earlier) {
        auto& effects = table.effects[static_cast<std::size_t>(row.scope)][static_cast<std::size_t>(earlier)];
        for (const command later : row.later) add_effect(effects, later, latency);
      }
    }
    if (has_hole) {
      const cycles from = value_of(i, row, row.hole_from, t);
      const cycles to = value_of(i, row, row.hole_to, t);
      if (from < to) table.holes.push_back({row.scope, mask_of(row.earlier), mask_of(row.later), from, to});
    }
  }
  return table;
}

}  // namespace dvp::lpddr5
