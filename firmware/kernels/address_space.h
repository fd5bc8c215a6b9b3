// Where an NPU with an address window finds main memory: the ranges of bus addresses in the window, and their device
// addresses.
//
// Whoever decides about residency keeps it up to date; the command stream translates with it when it composes a
// descriptor, so that schedules know bus addresses alone.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/kernels/dependencies.h"

namespace dvp::kernels {

struct address_range {
  std::uint64_t bus = 0;
  std::uint64_t bytes = 0;
  std::uint64_t device = 0;
  std::uint32_t owner = 0;                    // who is in the window by it; chosen by whoever adds the range
  dram_object object = dram_object::nothing;  // staged: what the stage engine writes and loads read
};

class address_space {
 public:
  static constexpr std::uint32_t most_ranges = 1024;

  void clear() { count_ = 0; }

  // False, and nothing is added, when there are most_ranges already. Ranges may overlap: any one serves.
  [[nodiscard]] bool add(const address_range& range);
  void remove(std::uint32_t owner);

  // The range that holds all of [bus, bus + bytes); null when none does.
  const address_range* find(std::uint64_t bus, std::uint64_t bytes);

  std::uint32_t size() const { return count_; }

 private:
  std::uint32_t count_ = 0;
  std::uint32_t last_ = 0;  // found by the last search
  std::array<address_range, most_ranges> ranges_{};
};

}  // namespace dvp::kernels
