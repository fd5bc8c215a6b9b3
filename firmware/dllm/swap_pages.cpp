#include "firmware/dllm/swap_pages.h"

#include <algorithm>

namespace dvp::dllm {

void page_runs::start(std::uint32_t page_bytes, std::uint64_t device) {
  page_bytes_ = page_bytes;
  device_ = device;
  count_ = 0;
  bytes_ = 0;
  end_ = 0;
}

void page_runs::add(const byte_range& memory) {
  if (memory.bytes == 0) {
    return;
  }
  const std::uint64_t first = page_floor(memory.bus, page_bytes_);
  const std::uint64_t end = page_ceil(memory.end(), page_bytes_);
  const bool joins = count_ != 0 && first <= end_;
  const std::uint64_t from = joins ? end_ : first;
  if (end <= from) {
    return;
  }
  if (!joins) {
    if (count_ < most) {
      runs_[count_] = {.bus = first, .device = device_ + bytes_, .bytes = 0};
    }
    ++count_;
  }
  if (complete()) {
    runs_[count_ - 1].bytes += end - from;
  }
  bytes_ += end - from;
  end_ = end;
}

std::uint64_t page_runs::device(std::uint64_t bus) const {
  for (std::uint32_t i = 0; i < std::min(count_, most); ++i) {
    if (bus >= runs_[i].bus && bus - runs_[i].bus < runs_[i].bytes) {
      return runs_[i].device + (bus - runs_[i].bus);
    }
  }
  return no_address;
}

}  // namespace dvp::dllm
