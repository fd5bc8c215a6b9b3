#include "tlm/lpddr5/engine/figures.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace dvp::lpddr5 {

namespace {

constexpr std::size_t exact = 1024;  // latencies below have a bucket each
constexpr std::size_t steps = 64;    // buckets per power of two above
constexpr unsigned exact_log2 = 10;

}  // namespace

const char* name_of(idle_cause cause) {
  static constexpr const char* names[idle_cause_count] = {"no_request", "refresh", "row",         "bank_group",
                                                          "turnaround", "core",    "command_bus", "power_down"};
  return names[static_cast<std::size_t>(cause)];
}

std::size_t latency_histogram::index(cycles latency) {
  const std::uint64_t n = latency < 0 ? 0 : static_cast<std::uint64_t>(latency);
  if (n < exact) return n;
  const unsigned power = static_cast<unsigned>(std::bit_width(n)) - 1;
  return exact + (power - exact_log2) * steps + (n >> (power - 6)) - steps;
}

cycles latency_histogram::lower(std::size_t index) {
  if (index < exact) return static_cast<cycles>(index);
  const std::size_t power = (index - exact) / steps + exact_log2;
  return static_cast<cycles>(((index - exact) % steps + steps) << (power - 6));
}

void latency_histogram::add(cycles latency) {
  const std::size_t i = index(latency);
  if (i >= counts_.size()) counts_.resize(i + 1);
  ++counts_[i];
  min_ = count_ == 0 ? latency : std::min(min_, latency);
  max_ = std::max(max_, latency);
  ++count_;
  sum_ += static_cast<std::uint64_t>(latency);
}

double latency_histogram::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

cycles latency_histogram::percentile(double p) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(static_cast<double>(count_) * p / 100));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= wanted && seen != 0) return std::min(max_, lower(i + 1) - 1);
  }
  return max_;
}

std::vector<latency_histogram::bucket> latency_histogram::buckets() const {
  std::vector<bucket> filled;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0) filled.push_back({lower(i), lower(i + 1), counts_[i]});
  }
  return filled;
}

}  // namespace dvp::lpddr5
