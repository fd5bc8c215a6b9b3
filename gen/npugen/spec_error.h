// The one kind of error a specification can have: a sentence that names file, key, fault and remedy.
#pragma once

#include <stdexcept>
#include <string>

namespace dvp::npugen {

// what() reads "file: key.path: what is wrong; what to do". `key` is empty where the whole file is meant.
class spec_error : public std::runtime_error {
 public:
  spec_error(const std::string& file, const std::string& key, const std::string& what, const std::string& remedy)
      : std::runtime_error(file + ": " + (key.empty() ? "" : key + ": ") + what + "; " + remedy) {}
};

}  // namespace dvp::npugen
