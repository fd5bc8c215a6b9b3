#include "tlm/core/statistics.h"

#include <algorithm>
#include <stdexcept>

namespace dvp::core {

namespace {

[[noreturn]] void refuse(std::string_view path, const char* why) {
  throw std::invalid_argument("statistics path '" + std::string(path) + "' " + why);
}

bool well_formed(std::string_view path) {
  return !path.empty() && path.front() != '.' && path.back() != '.' && path.find("..") == std::string_view::npos;
}

}  // namespace

bool statistics::path_less::operator()(std::string_view a, std::string_view b) const {
  const auto rank = [](char c) { return c == '.' ? 0 : static_cast<unsigned char>(c) + 1; };
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [&](char x, char y) { return rank(x) < rank(y); });
}

void statistics::refuse_conflict(std::string_view path) const {
  if (!well_formed(path)) refuse(path, "has an empty name");
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    if (figures_.find(path.substr(0, dot)) != figures_.end()) refuse(path, "lies below a figure");
  }
  const std::string below = std::string(path) + '.';
  const auto next = figures_.lower_bound(below);
  if (next != figures_.end() && next->first.compare(0, below.size(), below) == 0) refuse(path, "has figures below it");
}

template <typename T>
T& statistics::leaf(std::string_view path) {
  auto found = figures_.find(path);
  if (found == figures_.end()) {
    refuse_conflict(path);
    found = figures_.emplace(std::string(path), T{}).first;
  }
  T* value = std::get_if<T>(&found->second);
  if (value == nullptr) refuse(path, "is both a counter and a gauge");
  return *value;
}

void statistics::add(std::string_view path, std::uint64_t n) {
  counter(path) += n;
}
void statistics::set(std::string_view path, std::uint64_t value) {
  counter(path) = value;
}
void statistics::set_gauge(std::string_view path, double value) {
  gauge(path) = value;
}
std::uint64_t& statistics::counter(std::string_view path) {
  return leaf<std::uint64_t>(path);
}
double& statistics::gauge(std::string_view path) {
  return leaf<double>(path);
}

std::uint64_t statistics::count_of(std::string_view path) const {
  const auto found = figures_.find(path);
  if (found == figures_.end()) return 0;
  const auto* value = std::get_if<std::uint64_t>(&found->second);
  return value != nullptr ? *value : 0;
}

double statistics::gauge_of(std::string_view path) const {
  const auto found = figures_.find(path);
  if (found == figures_.end()) return 0;
  const auto* value = std::get_if<double>(&found->second);
  return value != nullptr ? *value : 0;
}

nlohmann::ordered_json statistics::tree() const {
  nlohmann::ordered_json root = nlohmann::ordered_json::object();
  for (const auto& [path, value] : figures_) {
    nlohmann::ordered_json* node = &root;
    std::size_t begin = 0;
    for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', begin)) {
      node = &(*node)[path.substr(begin, dot - begin)];
      begin = dot + 1;
    }
    std::visit([&](auto number) { (*node)[path.substr(begin)] = number; }, value);
  }
  return root;
}

}  // namespace dvp::core
