// Proves that a queue's waits order every conflicting pair of accesses.
//
// Two descriptors conflict when the bytes one writes and the bytes the other reads or writes overlap, in the scratchpad
// or in DRAM. The earlier one must then be complete whenever the later one starts, whatever the engines' speed: because
// it is earlier on the same engine (engines work in order, one descriptor at a time), or because of waits, also through
// other descriptors. Ranges are exact, gaps of strided rows included.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tlm/npu/descriptor_view.h"

namespace dvp::testbench {

class hazard_checker {
 public:
  // ring: descriptors in the ring. One that is a whole ring back is complete, its slot being in use again.
  // bus_of: the bus address behind a device address when a descriptor is added; ranges are taken to be in one piece.
  // list_of: as many words as asked for from a device address on, when a descriptor is added; none if it has no memory.
  hazard_checker(std::uint32_t ring, std::function<std::uint64_t(std::uint64_t)> bus_of,
                 std::function<std::vector<std::uint32_t>(std::uint64_t, std::uint32_t)> list_of)
      : ring_(ring), bus_of_(std::move(bus_of)), list_of_(std::move(list_of)) {}

  // Takes the queue's next descriptor. Empty, or what is wrong.
  std::string add(const npu::descriptor_view& descriptor);

  std::uint64_t waits() const { return waits_; }
  std::uint64_t fences() const { return fences_; }

 private:
  static constexpr std::uint32_t engines = 6;
  // Number of descriptors of each engine's past that are known complete: the newest of them as index + 1.
  using knowledge = std::array<std::uint64_t, engines>;
  struct strip {
    bool dram;
    bool written;
    std::uint64_t first;
    std::uint64_t end;
    std::uint64_t row_bytes;
    std::uint64_t rows;
    std::uint64_t stride;
  };
  struct entry {
    std::uint64_t index = 0;
    std::uint32_t engine = engines;  // engines: a fence
    knowledge at_start{};
    knowledge at_end{};
    std::vector<strip> strips;
    std::string name;
  };

  static bool overlap(const strip& a, const strip& b);
  std::vector<strip> strips_of(const npu::descriptor_view& descriptor) const;

  std::uint64_t ring_;
  std::function<std::uint64_t(std::uint64_t)> bus_of_;
  std::function<std::vector<std::uint32_t>(std::uint64_t, std::uint32_t)> list_of_;
  std::uint64_t next_ = 0;
  std::uint64_t waits_ = 0;
  std::uint64_t fences_ = 0;
  std::deque<entry> past_;  // the last ring_ descriptors
  knowledge newest_{};
};

}  // namespace dvp::testbench
