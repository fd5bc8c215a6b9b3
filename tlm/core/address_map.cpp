#include "tlm/core/address_map.h"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace dvp::core {

namespace {

std::string describe(const address_window& window) {
  std::ostringstream out;
  out << "'" << window.name << "' [0x" << std::hex << window.base << ", 0x" << window.last() << "]";
  return out.str();
}

}  // namespace

address_map::address_map(std::vector<address_window> windows) : windows_(std::move(windows)) {
  for (const address_window& window : windows_) {
    if (window.bytes == 0) throw std::invalid_argument("window '" + window.name + "' is empty");
    if (window.bytes - 1 > std::numeric_limits<std::uint64_t>::max() - window.base) {
      throw std::invalid_argument("window '" + window.name + "' ends above the 64-bit address space");
    }
  }
  by_base_.resize(windows_.size());
  std::iota(by_base_.begin(), by_base_.end(), std::size_t{0});
  std::stable_sort(by_base_.begin(), by_base_.end(),
                   [this](std::size_t a, std::size_t b) { return windows_[a].base < windows_[b].base; });
  for (std::size_t i = 1; i < by_base_.size(); ++i) {
    const address_window& below = windows_[by_base_[i - 1]];
    const address_window& above = windows_[by_base_[i]];
    if (above.base <= below.last()) {
      throw std::invalid_argument("windows " + describe(below) + " and " + describe(above) + " overlap");
    }
  }
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    if (*named(windows_[i].name) != i) throw std::invalid_argument("two windows are named '" + windows_[i].name + "'");
  }
}

std::vector<std::size_t>::const_iterator address_map::above(std::uint64_t address) const {
  return std::upper_bound(by_base_.begin(), by_base_.end(), address,
                          [this](std::uint64_t a, std::size_t w) { return a < windows_[w].base; });
}

std::optional<std::size_t> address_map::find(std::uint64_t address, std::uint64_t bytes) const {
  const auto next = above(address);
  if (next == by_base_.begin() || bytes == 0) return std::nullopt;
  const std::size_t window = *std::prev(next);
  const std::uint64_t last = windows_[window].last();
  if (address > last || bytes - 1 > last - address) return std::nullopt;
  return window;
}

address_range address_map::hole(std::uint64_t address) const {
  const auto next = above(address);
  address_range hole{0, std::numeric_limits<std::uint64_t>::max()};
  if (next != by_base_.begin()) hole.first = windows_[*std::prev(next)].last() + 1;
  if (next != by_base_.end()) hole.last = windows_[*next].base - 1;
  return hole;
}

std::optional<std::size_t> address_map::named(std::string_view name) const {
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    if (windows_[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace dvp::core
