#include "firmware/kernels/address_space.h"

namespace dvp::kernels {
namespace {

bool holds(const address_range& range, std::uint64_t bus, std::uint64_t bytes) {
  return bus >= range.bus && bytes <= range.bytes && bus - range.bus <= range.bytes - bytes;
}

}  // namespace

bool address_space::add(const address_range& range) {
  if (count_ == most_ranges) {
    return false;
  }
  ranges_[count_++] = range;
  return true;
}

void address_space::remove(std::uint32_t owner) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (ranges_[i].owner != owner) {
      ranges_[kept++] = ranges_[i];
    }
  }
  count_ = kept;
  last_ = 0;
}

const address_range* address_space::find(std::uint64_t bus, std::uint64_t bytes) {
  if (last_ < count_ && holds(ranges_[last_], bus, bytes)) {
    return &ranges_[last_];
  }
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (holds(ranges_[i], bus, bytes)) {
      last_ = i;
      return &ranges_[i];
    }
  }
  return nullptr;
}

}  // namespace dvp::kernels
