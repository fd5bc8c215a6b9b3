#include "gen/npugen/names.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>

namespace dvp::npugen {
namespace {

// SystemVerilog's keywords need no mention: its identifiers are camel-cased or joined from several names.
constexpr std::string_view keywords[] = {
    "alignas",     "alignof",   "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",      "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",  "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit", "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",   "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",  "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",      "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",       "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",     "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",    "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",    "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",       "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",   "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq"};

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = SIZE_MAX;
  for (const std::string& candidate : known) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i + 1);
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t replaced = diagonal + (name[i] == candidate[j] ? 0 : 1);
        diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

std::string choose_from(std::string_view name, const std::vector<std::string>& known) {
  std::string list;
  for (const std::string& item : known) {
    list += (list.empty() ? "" : ", ") + item;
  }
  return "did you mean '" + nearest(name, known) + "'? Possible: " + list;
}

std::string name_scope::add(const node& item) {
  const std::string name = item.text("name");
  const node place = item.child("name");
  if (std::find(std::begin(keywords), std::end(keywords), name) != std::end(keywords)) {
    place.fail("'" + name + "' is a keyword of C++", "choose another name");
  }
  if (name.back() == '_' || name.find("__") != std::string::npos) {
    place.fail("'" + name + "' has a trailing or double underscore", "use single underscores between words");
  }
  if (std::find(taken_.begin(), taken_.end(), name) != taken_.end()) {
    place.fail("'" + name + "' is a name the generated code uses itself", "choose another name");
  }
  add_derived(item, name);
  return name;
}

void name_scope::add_derived(const node& item, const std::string& name) {
  const auto [previous, inserted] = paths_.emplace(name, item.source().shown + ": " + item.path());
  if (!inserted) {
    item.child("name").fail("the name '" + name + "' is taken by " + previous->second, "choose another name");
  }
}

}  // namespace dvp::npugen
