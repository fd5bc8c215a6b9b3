// What the loader throws: one sentence that names the file, the tensor or key, what is wrong and what to do.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dvp::loader {

// A model file that cannot be used. what() reads "<file>: <subject> <problem>; <remedy>"; subject and remedy may be
// empty. A program that ends because of it exits with exit_code.
class load_error : public std::runtime_error {
 public:
  static constexpr int exit_code = 3;

  load_error(std::string_view file, std::string_view subject, std::string_view problem, std::string_view remedy = {});
};

// Text out of a file, fit to be shown on one line of a terminal: control characters and bytes that are not UTF-8 are
// written as \xNN, and what exceeds 80 bytes is replaced by "...".
std::string printable(std::string_view text);

// 81212416 -> "81,212,416".
std::string grouped(std::uint64_t number);

}  // namespace dvp::loader
