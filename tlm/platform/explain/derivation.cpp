#include "tlm/platform/explain/derivation.h"

#include <cmath>
#include <cstdio>
#include <sstream>

namespace dvp::platform {

namespace {

std::string digits(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// 3905306697 pJ as 3905.31 uJ, 5751 us as 5.751 ms; other units as they are.
std::string shown(const derivation& d) {
  if (!d.text.empty()) return d.text;
  struct larger {
    const char *unit, *then;
    double scale;
  };
  constexpr larger units[] = {{"pJ", "uJ", 1e6},    {"us", "ms", 1e3}, {"ps", "us", 1e6},
                              {"B/s", "GB/s", 1e9}, {"B", "MB", 1e6},  {"uW", "mW", 1e3}};
  for (const larger& u : units) {
    if (d.unit == u.unit && std::abs(d.value) >= u.scale) return digits(d.value / u.scale) + ' ' + u.then;
  }
  return digits(d.value) + (d.unit.empty() ? "" : ' ' + d.unit);
}

void write(std::ostream& out, const derivation& d, const std::string& indent) {
  out << indent << (d.name.empty() ? d.figure : d.name) << " = " << shown(d) << "   " << d.kind << '\n';
  const std::string below = indent + "    ";
  if (!d.formula.empty()) out << below << "= " << d.formula << '\n';
  if (!d.source.empty()) out << below << "(" << d.source << ")\n";
  for (const derivation& term : d.terms) write(out, term, below);
}

}  // namespace

nlohmann::ordered_json to_json(const derivation& d) {
  nlohmann::ordered_json json;
  if (!d.figure.empty()) json["figure"] = d.figure;
  json["name"] = d.name.empty() ? d.figure : d.name;
  if (d.text.empty()) {
    json["value"] = d.value;
    if (!d.unit.empty()) json["unit"] = d.unit;
  } else {
    json["text"] = d.text;
  }
  json["kind"] = d.kind;
  if (!d.formula.empty()) json["formula"] = d.formula;
  if (!d.source.empty()) json["source"] = d.source;
  for (const derivation& term : d.terms) json["terms"].push_back(to_json(term));
  return json;
}

std::string to_text(const derivation& d) {
  std::ostringstream out;
  write(out, d, "");
  return out.str();
}

}  // namespace dvp::platform
