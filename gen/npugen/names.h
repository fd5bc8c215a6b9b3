// Rules for names: what one may look like, and that two things in one scope do not share one.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gen/npugen/node.h"

namespace dvp::npugen {

// The entry of `known` with the smallest edit distance to `name`; empty where `known` is.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

// "write one of a, b, c", led by "did you mean 'b'?" where one is near.
std::string choose_from(std::string_view name, const std::vector<std::string>& known);

// The names of one scope of the generated code, each with the key path that introduced it.
class name_scope {
 public:
  // `taken` are names the generated code uses itself.
  explicit name_scope(std::vector<std::string> taken = {}) : taken_(std::move(taken)) {}

  // Takes the name of `item` (its key "name") and returns it. Fails where it is a keyword of C++, has a trailing or
  // double underscore, or is taken already.
  std::string add(const node& item);
  // The same for a name that is derived from `item`, such as a port.
  void add_derived(const node& item, const std::string& name);

 private:
  std::vector<std::string> taken_;
  std::map<std::string, std::string> paths_;
};

}  // namespace dvp::npugen
