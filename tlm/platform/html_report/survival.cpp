#include "tlm/platform/html_report/survival.h"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

constexpr double least_shown = 0.005;  // what two decimals show as more than nothing

std::string with_decimals(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string gain(double value) {
  return with_decimals(value, 2);
}

// Not to be broken between lines.
std::string percent(double share) {
  return with_decimals(100 * share, 0) + "\u00a0%";
}

// "a, b and c"
std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  }
  return text;
}

// "0.05 is lost to refresh and 0.30 to the CPU; 0.02 is won by conversion; nothing that two decimals show is lost to
// rows"
std::string shares_of(const ordered_json& takes) {
  std::vector<std::string> lost, won, nothing;
  for (const auto& t : takes) {
    const std::string name = t["name"];
    const double amount = t["amount"];
    if (std::abs(amount) < least_shown) {
      nothing.push_back(name);
    } else if (amount > 0) {
      lost.push_back(gain(amount) + (lost.empty() ? " is lost to " : " to ") + name);
    } else {
      won.push_back(gain(-amount) + (won.empty() ? " is won by " : " by ") + name);
    }
  }
  std::string text;
  const auto add = [&](const std::string& part) { text += part.empty() ? "" : (text.empty() ? "" : "; ") + part; };
  add(listed(lost));
  add(listed(won));
  add(nothing.empty() ? "" : "nothing that two decimals show is lost to " + listed(nothing));
  return text;
}

// "68 % of the gain ... would survive", or that all, nothing, or no gain at all is there.
std::string verdict_of(const std::string& of, const ordered_json& survives) {
  if (survives.is_null()) return "there is no gain" + of + " that could survive";
  const double share = survives;
  const std::string part = share <= 0 ? "nothing" : share >= 1 ? "all" : percent(share);
  return part + " of the gain" + of + " would survive";
}

std::string sentence_of(const ordered_json& waterfall, const ordered_json& survival) {
  std::string which = waterfall["compares"];
  if (const auto slash = which.find(" / "); slash != std::string::npos) which.replace(slash, 3, " over ");
  const std::string of = " in " + waterfall["what"].get<std::string>() + " of " + which;
  std::string text = waterfall["subject"].get<std::string>() + ": " + verdict_of(of, survival["survives"]) + ": " +
                     gain(waterfall["start"]["value"]) + " on an ideal memory, " + gain(waterfall["end"]["value"]) +
                     " as modelled; " + shares_of(survival["takes"]);
  if (!survival["of_quoted"].is_null()) {
    text += "; the quoted " + gain(waterfall["quoted"]) + " is reached to " + percent(survival["of_quoted"]);
  }
  return text + ".";
}

}  // namespace

ordered_json survival_of(const ordered_json& waterfall) {
  const double start = waterfall["start"]["value"], end = waterfall["end"]["value"];
  ordered_json survival;
  double before = start;
  survival["takes"] = ordered_json::array();
  for (const auto& step : waterfall["steps"]) {
    const double after = step["value"];
    survival["takes"].push_back({{"name", step["name"]}, {"amount", before - after}});
    before = after;
  }
  survival["survives"] = gain(start) > gain(1) ? ordered_json((end - 1) / (start - 1)) : ordered_json();
  const bool quoted = waterfall.contains("quoted") && waterfall["quoted"].is_number() && waterfall["quoted"] > 0;
  survival["of_quoted"] = quoted ? ordered_json(end / waterfall["quoted"].get<double>()) : ordered_json();
  survival["sentence"] = sentence_of(waterfall, survival);
  return survival;
}

}  // namespace dvp::platform
