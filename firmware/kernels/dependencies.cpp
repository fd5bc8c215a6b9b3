#include "firmware/kernels/dependencies.h"

#include <algorithm>
#include <span>

namespace dvp::kernels {
namespace {

// The innermost work of every descriptor: unrolled, and a store only where something changes.
void raise(std::uint32_t& stamp, std::uint32_t to) {
  if (stamp < to) {
    stamp = to;
  }
}

void raise(std::array<std::uint32_t, engines>& stamps, const std::array<std::uint32_t, engines>& to) {
#pragma GCC unroll 8
  for (std::uint32_t e = 0; e < engines; ++e) {
    raise(stamps[e], to[e]);
  }
}

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
  for (const range& touched : std::span(ranges_).first(range_count_)) {
    for (std::uint32_t g = touched.first; g <= touched.last; ++g) {
      const history& past = histories_[g];
      raise(needed[at(past.writer)], past.written);
      if (touched.written) {
        raise(needed, past.read);
      }
    }
  }
  // What the engine's previous descriptor had seen, and that descriptor itself.
  const std::uint32_t previous = newest_[at(by_)];
  pending_ = previous == 0 || index + 1 - previous > window_ ? clock{} : clocks_[(previous - 1) % window_];
  pending_[at(by_)] = std::max(pending_[at(by_)], previous);

  wait_list waits;
  for (;;) {
    // The latest of those that are not complete.
    std::uint32_t stamp = 0;
#pragma GCC unroll 8
    for (std::uint32_t e = 0; e < engines; ++e) {
      if (needed[e] > pending_[e] && needed[e] > stamp && index + 1 - needed[e] <= window_) {
        stamp = needed[e];
      }
    }
    if (stamp == 0) {
      return waits;
    }
    waits.index[waits.count++] = stamp - 1;
    raise(pending_, clocks_[(stamp - 1) % window_]);
  }
}

void dependency_tracker::submitted(std::uint32_t index) {
  const std::uint32_t stamp = index + 1;
  const history overwritten = {.written = stamp, .writer = by_, .read = {}};
  for (const range& touched : std::span(ranges_).first(range_count_)) {
    for (std::uint32_t g = touched.first; g <= touched.last; ++g) {
      if (touched.written) {
        histories_[g] = overwritten;
      } else {
        histories_[g].read[at(by_)] = stamp;
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
