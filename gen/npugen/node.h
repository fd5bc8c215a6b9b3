// A place in a specification file: the JSON value there and the key path that error messages name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gen/npugen/parse.h"

namespace dvp::npugen {

// The key path of element `index` of the list at `list_path`: by the element's name where it has one, as in
// "registers[control]", else by number, as in "values[3]".
std::string element_path(const std::string& list_path, const nlohmann::json& element, std::size_t index);

// The key path of `key` in the object at `object_path`.
std::string member_path(const std::string& object_path, std::string_view key);

// Nodes refer to the source_file they came from, which must outlive them. The accessors of values expect a file that
// has passed its JSON Schema: a key they name is there, or is stated to be optional, and has the right type.
class node {
 public:
  explicit node(const source_file& source) : source_(&source), value_(&source.root) {}

  bool has(std::string_view key) const { return value_->contains(key); }
  node child(std::string_view key) const;
  std::vector<node> items(std::string_view key) const;  // of the list at `key`; empty where the key is absent

  std::string text(std::string_view key) const;                // "" where absent
  bool flag(std::string_view key) const;                       // false where absent
  std::vector<std::string> texts(std::string_view key) const;  // of the list of strings at `key`
  // A whole number, or a string of hexadecimal digits as in "0x8000_0000". Fails beyond 64 bits or `maximum`.
  std::uint64_t number(std::string_view key, std::uint64_t maximum = UINT64_MAX) const;
  std::uint32_t word(std::string_view key) const { return static_cast<std::uint32_t>(number(key, UINT32_MAX)); }

  const source_file& source() const { return *source_; }
  const std::string& path() const { return path_; }
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const;

 private:
  node(const source_file& source, const nlohmann::json& value, std::string path)
      : source_(&source), value_(&value), path_(std::move(path)) {}

  const source_file* source_;
  const nlohmann::json* value_;
  std::string path_;
};

}  // namespace dvp::npugen
