// Which window an address belongs to. Plain C++, no simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dvp::core {

struct address_window {
  std::string name;
  std::uint64_t base = 0;   // byte address
  std::uint64_t bytes = 0;  // 1 or more; the window ends below 2^64

  std::uint64_t last() const { return base + (bytes - 1); }
};

// Both ends belong to it.
struct address_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

class address_map {
 public:
  // std::invalid_argument, naming the windows, when two overlap or share a name, or one is empty or wraps around.
  explicit address_map(std::vector<address_window> windows);

  std::size_t size() const { return windows_.size(); }
  const address_window& operator[](std::size_t window) const { return windows_[window]; }

  // The window that holds all of [address, address + bytes), bytes 1 or more; nothing when there is none.
  std::optional<std::size_t> find(std::uint64_t address, std::uint64_t bytes) const;
  // All addresses around this one that are in no window as it is; the address must be in none.
  address_range hole(std::uint64_t address) const;
  std::optional<std::size_t> named(std::string_view name) const;

 private:
  // The first of by_base_ whose window starts above the address.
  std::vector<std::size_t>::const_iterator above(std::uint64_t address) const;

  std::vector<address_window> windows_;  // in the order given
  std::vector<std::size_t> by_base_;
};

}  // namespace dvp::core
