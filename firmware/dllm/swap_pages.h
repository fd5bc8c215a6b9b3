// Whole pages of the NPU's address window.
#pragma once

#include <array>
#include <cstdint>

namespace dvp::dllm {

// Bytes [bus, bus + bytes) of main memory.
struct byte_range {
  std::uint64_t bus = 0;
  std::uint64_t bytes = 0;

  std::uint64_t end() const { return bus + bytes; }
  friend bool operator==(const byte_range&, const byte_range&) = default;
};

struct window_limits {
  std::uint64_t bytes = 0;
  std::uint32_t entries = 0;
  std::uint32_t page_bytes = 0;  // a power of two

  friend bool operator==(const window_limits&, const window_limits&) = default;
};

// Whole pages at consecutive device addresses, mapped by one entry.
struct page_run {
  std::uint64_t bus = 0;
  std::uint64_t device = 0;
  std::uint64_t bytes = 0;
};

constexpr std::uint64_t page_floor(std::uint64_t address, std::uint32_t page_bytes) {
  return address & ~std::uint64_t{page_bytes - 1};
}
constexpr std::uint64_t page_ceil(std::uint64_t address, std::uint32_t page_bytes) {
  return page_floor(address + (page_bytes - 1), page_bytes);
}

// The pages of some extents, compact from a device address on: pages that extents share are there once, and pages one
// behind the other make one run.
class page_runs {
 public:
  static constexpr std::uint32_t most = 256;
  static constexpr std::uint64_t no_address = ~std::uint64_t{0};

  void start(std::uint32_t page_bytes, std::uint64_t device);
  // Extents come by ascending bus address; empty ones count nothing.
  void add(const byte_range& memory);

  std::uint32_t count() const { return count_; }
  bool complete() const { return count_ <= most; }  // all runs are kept
  std::uint64_t bytes() const { return bytes_; }
  const page_run& operator[](std::uint32_t i) const { return runs_[i]; }
  // Device address of a byte; no_address when no run has it.
  std::uint64_t device(std::uint64_t bus) const;

 private:
  std::uint32_t page_bytes_ = 0;
  std::uint64_t device_ = 0;
  std::uint32_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t end_ = 0;  // of the last run; 0: there is none
  std::array<page_run, most> runs_{};
};

}  // namespace dvp::dllm
