#include "firmware/kernels/dependencies.h"

#include <algorithm>

namespace dvp::kernels {
namespace {

std::uint32_t at(engine e) {
  return static_cast<std::uint32_t>(e);
}

}  // namespace

void dependency_tracker::start(std::uint32_t scratchpad_bytes, std::uint32_t window) {
  granule_shift_ = 0;
  while ((static_cast<std::uint64_t>(granules) << granule_shift_) < scratchpad_bytes) {
    ++granule_shift_;
  }
  window_ = std::min(window, most_window);
  histories_.fill({});
  clocks_.fill({});
  newest_ = {};
}

void dependency_tracker::begin(engine by) {
  by_ = by;
  range_count_ = 0;
}

void dependency_tracker::add(std::uint32_t first, std::uint32_t last, bool written) {
  ranges_[range_count_++] = {.first = first, .last = last, .written = written};
}

void dependency_tracker::touches(std::uint32_t address, std::uint32_t bytes, bool written) {
  add(address >> granule_shift_, (address + bytes - 1) >> granule_shift_, written);
}

void dependency_tracker::touches(dram_object object, bool written) {
  if (object != dram_object::nothing) {
    const std::uint32_t place = granules + static_cast<std::uint32_t>(object);
    add(place, place, written);
  }
}

dependency_tracker::wait_list dependency_tracker::resolve(std::uint32_t index) {
  clock needed{};
  for (std::uint32_t r = 0; r < range_count_; ++r) {
    for (std::uint32_t g = ranges_[r].first; g <= ranges_[r].last; ++g) {
      const history& past = histories_[g];
      std::uint32_t& writer = needed[at(past.writer)];
      writer = std::max(writer, past.written);
      if (ranges_[r].written) {
        for (std::uint32_t e = 0; e < engines; ++e) {
          needed[e] = std::max(needed[e], past.read[e]);
        }
      }
    }
  }
  // What the engine's previous descriptor had seen, and that descriptor itself.
  const std::uint32_t previous = newest_[at(by_)];
  pending_ = previous == 0 || index + 1 - previous > window_ ? clock{} : clocks_[(previous - 1) % window_];
  pending_[at(by_)] = std::max(pending_[at(by_)], previous);

  wait_list waits;
  for (;;) {
    std::uint32_t latest = engines;
    for (std::uint32_t e = 0; e < engines; ++e) {
      const bool open = needed[e] > pending_[e] && index + 1 - needed[e] <= window_;
      if (open && (latest == engines || needed[e] > needed[latest])) {
        latest = e;
      }
    }
    if (latest == engines) {
      return waits;
    }
    const std::uint32_t stamp = needed[latest];
    waits.index[waits.count++] = stamp - 1;
    const clock& seen = clocks_[(stamp - 1) % window_];
    for (std::uint32_t e = 0; e < engines; ++e) {
      pending_[e] = std::max(pending_[e], seen[e]);
    }
  }
}

void dependency_tracker::submitted(std::uint32_t index) {
  const std::uint32_t stamp = index + 1;
  for (std::uint32_t r = 0; r < range_count_; ++r) {
    for (std::uint32_t g = ranges_[r].first; g <= ranges_[r].last; ++g) {
      history& past = histories_[g];
      if (ranges_[r].written) {
        past = {.written = stamp, .writer = by_, .read = {}};
      } else {
        past.read[at(by_)] = stamp;
      }
    }
  }
  newest_[at(by_)] = stamp;
  pending_[at(by_)] = stamp;
  clocks_[index % window_] = pending_;
}

void dependency_tracker::barrier(std::uint32_t index) {
  pending_ = newest_;
  clocks_[index % window_] = newest_;
}

}  // namespace dvp::kernels
