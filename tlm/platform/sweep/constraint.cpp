#include "tlm/platform/sweep/constraint.h"

#include <algorithm>
#include <array>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "tlm/core/nearest_word.h"

namespace dvp::platform::sweep {

namespace {

using nlohmann::ordered_json;

struct order {
  std::string_view name;
  bool (*holds)(double, double);
};

constexpr std::array<order, 4> orders{{{"<", [](double a, double b) { return a < b; }},
                                       {"<=", [](double a, double b) { return a <= b; }},
                                       {">", [](double a, double b) { return a > b; }},
                                       {">=", [](double a, double b) { return a >= b; }}}};

bool is_relation(const std::string& word) {
  return word == "==" || word == "!=" ||
         std::any_of(orders.begin(), orders.end(), [&](const order& o) { return o.name == word; });
}

}  // namespace

constraint::constraint(const std::string& text, const std::vector<std::string>& parameters) : text_(text) {
  std::istringstream words(text);
  product* side = &left_;
  bool operand_next = true;
  for (std::string word; words >> word; operand_next = !operand_next) {
    if (!operand_next) {
      if (word == "*") continue;
      if (!is_relation(word) || side == &right_) {
        fail(word + " stands where " + (side == &right_ ? "*" : "*, <, <=, >, >=, == or !=") +
             " is expected; write blanks between the words");
      }
      relation_ = word;
      side = &right_;
    } else if (std::find(parameters.begin(), parameters.end(), word) != parameters.end()) {
      side->push_back({word, nullptr});
    } else {
      ordered_json constant = ordered_json::parse(word, nullptr, false);
      if (constant.is_discarded()) {
        const std::string close = core::nearest_word(word, parameters);
        fail(word + " is neither a parameter of this sweep nor a JSON value" +
             (close.empty() ? "; texts stand in quotes" : "; did you mean " + close + "?"));
      }
      side->push_back({"", std::move(constant)});
    }
  }
  if (operand_next || side == &left_) fail("ends too early; it takes the form A <= B");
}

bool constraint::holds(const assignment& point) const {
  const ordered_json left = value_of(left_, point), right = value_of(right_, point);
  if (relation_ == "==") return left == right;
  if (relation_ == "!=") return left != right;
  if (!left.is_number() || !right.is_number()) {
    fail("compares " + left.dump() + " with " + right.dump() + ", which are not both numbers; only == and != do that");
  }
  const auto found = std::find_if(orders.begin(), orders.end(), [&](const order& o) { return o.name == relation_; });
  return found->holds(left.get<double>(), right.get<double>());
}

ordered_json constraint::value_of(const product& factors, const assignment& point) const {
  const auto value = [&](const operand& o) -> const ordered_json& {
    if (o.parameter.empty()) return o.constant;
    if (!point.contains(o.parameter)) fail("a point has no value for " + o.parameter + "; give every point one");
    return point[o.parameter];
  };
  if (factors.size() == 1) return value(factors[0]);
  double result = 1;
  for (const auto& factor : factors) {
    if (!value(factor).is_number()) fail("multiplies " + value(factor).dump() + ", which is not a number");
    result *= value(factor).get<double>();
  }
  return result;
}

void constraint::fail(const std::string& what) const {
  throw std::invalid_argument("\"" + text_ + "\": " + what);
}

}  // namespace dvp::platform::sweep
