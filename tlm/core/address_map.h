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

class address_map {
 public:
  // std::invalid_argument, naming the windows, when two overlap or share a name, or one is empty or wraps around.
  explicit address_map(std::vector<address_window> windows);

  std::size_t size() const { return windows_.size(); }
  const address_window& operator[](std::size_t window) const { return windows_[window]; }

  // The window that holds all of [address, address + bytes), bytes 1 or more; nothing when there is none.
  std::optional<std::size_t> find(std::uint64_t address, std::uint64_t bytes) const;
  std::optional<std::size_t> named(std::string_view name) const;

 private:
  std::vector<address_window> windows_;  // in the order given
  std::vector<std::size_t> by_base_;
};

}  // namespace dvp::core
