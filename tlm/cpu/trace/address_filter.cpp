#include "tlm/cpu/trace/address_filter.h"

#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>

#include "tlm/core/nearest_word.h"
#include "tlm/cpu/trace/function_map.h"

namespace dvp::cpu::trace {

namespace {

// Addresses are hexadecimal, with 0x or without.
std::optional<std::uint64_t> number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Without the parameters: "dvp::npu::run(int)" is called "dvp::npu::run". Those of a scope stay:
// "(anonymous namespace)::run".
std::string bare(const std::string& name) {
  constexpr std::string_view unnamed = "(anonymous namespace)";
  std::size_t open = name.find('(');
  while (open != std::string::npos && name.compare(open, unnamed.size(), unnamed) == 0) {
    open = name.find('(', open + unnamed.size());
  }
  return name.substr(0, open);
}

// Without the scopes too: "run".
std::string last_part(const std::string& bare_name) {
  const std::size_t colon = bare_name.rfind("::");
  return colon == std::string::npos ? bare_name : bare_name.substr(colon + 2);
}

bool is_range(const std::string& text) {
  return text.find_first_not_of("0123456789abcdefABCDEFxX-") == std::string::npos &&
         (text.find('-') != std::string::npos || std::isdigit(static_cast<unsigned char>(text.front())) != 0);
}

}  // namespace

address_filter::address_filter(const std::string& text, const core::symbol_table& symbols) {
  if (!text.empty() && (is_range(text) || std::isdigit(static_cast<unsigned char>(text.front())) != 0)) {
    take_addresses(text);
  } else {
    take_functions(text, symbols);
  }
}

void address_filter::take_addresses(const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto first = number(text.substr(0, dash));
  const auto last = dash == std::string::npos ? std::nullopt : number(text.substr(dash + 1));
  if (!first || !last || *first > *last) {
    throw std::invalid_argument("trace filter " + text +
                                ": is no range of addresses; write first-last, such as 0x80000000-0x800000fe");
  }
  ranges_.push_back({*first, *last});
}

void address_filter::take_functions(const std::string& text, const core::symbol_table& symbols) {
  function_map functions(symbols);
  const auto take = [&](auto wanted) {
    for (const core::symbol& s : symbols.all()) {
      if (!s.function || !wanted(s.name)) continue;
      const function& f = functions.at(s.address);
      ranges_.push_back({f.begin, f.end - 1});
    }
    return !ranges_.empty();
  };
  if (take([&](const std::string& name) { return name == text || bare(name) == text; })) return;
  std::set<std::string> fitting;  // by their last part
  std::vector<std::string> names;
  for (const core::symbol& s : symbols.all()) {
    if (!s.function) continue;
    names.push_back(bare(s.name));
    if (last_part(names.back()) == text) fitting.insert(names.back());
  }
  if (fitting.size() == 1) {
    take([&](const std::string& name) { return bare(name) == *fitting.begin(); });
    return;
  }
  if (!fitting.empty()) {
    std::string list;
    for (const std::string& name : fitting) list += (list.empty() ? "" : ", ") + name;
    throw std::invalid_argument("trace filter " + text + ": may be any of " + list + "; write one of them");
  }
  const std::string nearest = core::nearest_word(text, names);
  throw std::invalid_argument("trace filter " + text + ": the image has no function of that name" +
                              (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

}  // namespace dvp::cpu::trace
