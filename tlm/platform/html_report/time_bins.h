// A sum over time in a fixed number of bins that widen as time goes on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dvp::platform {

// Width shared by several sums, so that all keep the same bins.
class time_bins {
 public:
  static constexpr std::size_t count = 512;

  // A new sum; its number.
  std::size_t add_row() {
    rows_.emplace_back(count, 0.0);
    return rows_.size() - 1;
  }

  // Spreads `amount` evenly over [begin, end), microseconds, 0 <= begin <= end. Memory and time are bounded.
  void add(std::size_t row, double begin_us, double end_us, double amount) {
    while (end_us > width_us_ * count) fold();
    const double length = end_us - begin_us;
    if (length <= 0) return;
    std::vector<double>& sums = rows_[row];
    const auto last = std::min(static_cast<std::size_t>(end_us / width_us_), count - 1);
    for (auto bin = std::min(static_cast<std::size_t>(begin_us / width_us_), last); bin <= last; ++bin) {
      const double from = std::max(begin_us, static_cast<double>(bin) * width_us_);
      const double to = std::min(end_us, static_cast<double>(bin + 1) * width_us_);
      if (to > from) sums[bin] += amount * (to - from) / length;
    }
  }

  double width_us() const { return width_us_; }
  const std::vector<double>& row(std::size_t number) const { return rows_[number]; }

 private:
  void fold() {
    width_us_ *= 2;
    for (std::vector<double>& sums : rows_) {
      for (std::size_t bin = 0; bin < count / 2; ++bin) sums[bin] = sums[2 * bin] + sums[2 * bin + 1];
      std::fill(sums.begin() + count / 2, sums.end(), 0.0);
    }
  }

  double width_us_ = 1.0 / 1024;
  std::vector<std::vector<double>> rows_;
};

}  // namespace dvp::platform
