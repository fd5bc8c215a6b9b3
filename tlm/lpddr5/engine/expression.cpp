#include "tlm/lpddr5/engine/expression.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string>

namespace dvp::lpddr5 {

namespace {

constexpr cycles largest = cycles{1} << 40;
constexpr int deepest = 64;

class reader {
 public:
  reader(std::string_view text, const timing& t) : text_(text), timing_(t) {}

  cycles whole() {
    const cycles value = sum();
    if (next() != '\0') fail(std::string("unexpected '") + next() + "'");
    return value;
  }

 private:
  char next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }

  cycles sum() {
    cycles value = product();
    while (true) {
      if (take('+')) {
        value = bounded(value + product());
      } else if (take('-')) {
        value = bounded(value - product());
      } else {
        return value;
      }
    }
  }

  cycles product() {
    cycles value = factor();
    while (true) {
      if (take('*')) {
        cycles result = 0;
        if (__builtin_mul_overflow(value, factor(), &result)) fail_range();
        value = bounded(result);
      } else if (take('/')) {
        const cycles divisor = factor();
        if (divisor == 0) fail("division by zero");
        value /= divisor;
      } else {
        return value;
      }
    }
  }

  cycles factor() {
    if (++depth_ > deepest) fail("nested too deep");
    const cycles value = plain_factor();
    --depth_;
    return value;
  }

  cycles plain_factor() {
    if (take('-')) return -factor();
    if (take('(')) {
      const cycles value = sum();
      expect(')');
      return value;
    }
    const char c = next();
    if (std::isdigit(static_cast<unsigned char>(c))) return integer();
    if (std::isalpha(static_cast<unsigned char>(c))) return named();
    fail(c == '\0' ? "the expression ends where a value is expected" : std::string("unexpected '") + c + "'");
  }

  cycles integer() {
    cycles value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      value = bounded(value * 10 + (text_[at_++] - '0'));
    }
    return value;
  }

  cycles named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "max" || name == "min") {
      expect('(');
      const cycles a = sum();
      expect(',');
      const cycles b = sum();
      expect(')');
      return name == "max" ? std::max(a, b) : std::min(a, b);
    }
    const auto value = timing_value(timing_, name);
    if (!value) {
      at_ = begin;
      fail("no timing is called " + std::string(name));
    }
    return bounded(*value);
  }

  cycles bounded(cycles value) const {
    if (value > largest || value < -largest) fail_range();
    return value;
  }

  [[noreturn]] void fail_range() const { fail("the value goes beyond 2^40"); }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument("expression \"" + std::string(text_) + "\": " + what + " at position " +
                                std::to_string(at_ + 1) +
                                "; it takes + - * / ( ) integers max(a, b) min(a, b) and names of timings");
  }

  std::string_view text_;
  const timing& timing_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

cycles evaluate(std::string_view expression, const timing& t) {
  return reader(expression, t).whole();
}

}  // namespace dvp::lpddr5
