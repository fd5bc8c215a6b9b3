// A condition that a sweep's points have to meet, such as "npu.vector.lanes * 2 <= memory.config.channels".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dvp::platform::sweep {

// A point's values by parameter.
using assignment = nlohmann::ordered_json;

// Words between blanks: PRODUCT RELATION PRODUCT, a PRODUCT being OPERAND or OPERAND * OPERAND * ..., an OPERAND a
// parameter's name or a JSON value, a RELATION one of < <= > >= == !=. Products and order are of numbers.
class constraint {
 public:
  // std::invalid_argument saying what is wrong with the text.
  constraint(const std::string& text, const std::vector<std::string>& parameters);

  // Whether the point meets it. std::invalid_argument when its values cannot be compared so.
  bool holds(const assignment& point) const;

  const std::string& text() const { return text_; }

 private:
  struct operand {
    std::string parameter;  // empty: a constant
    nlohmann::ordered_json constant;
  };
  using product = std::vector<operand>;

  nlohmann::ordered_json value_of(const product& factors, const assignment& point) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string text_;
  product left_, right_;
  std::string relation_;
};

}  // namespace dvp::platform::sweep
