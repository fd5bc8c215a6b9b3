#include "tlm/platform/dram/result.h"

#include <algorithm>

namespace dvp::platform {

double dram_result::seconds() const {
  return static_cast<double>(end) * static_cast<double>(memory.dev.times.tCK_fs) * 1e-15;
}

double dram_result::peak_bytes_per_second() const {
  return lpddr5::peak_bytes_per_second(memory.dev) * memory.channels;
}

double dram_result::bytes_per_second() const {
  return end == 0 ? 0 : static_cast<double>(figures.read_bytes + figures.write_bytes) / seconds();
}

double dram_result::share(std::uint64_t clocks) const {
  return end == 0 ? 0 : static_cast<double>(clocks) / (static_cast<double>(end) * memory.channels);
}

double dram_result::busy_share() const {
  std::uint64_t busy = 0;
  for (const auto& c : figures.channels) busy += c.busy_cycles;
  return share(busy);
}

std::array<double, lpddr5::idle_cause_count> dram_result::idle_shares() const {
  std::array<double, lpddr5::idle_cause_count> shares{};
  double rest = end == 0 ? 0 : 1 - busy_share();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    std::uint64_t clocks = 0;
    for (const auto& c : figures.channels) clocks += c.idle_cycles[i];
    shares[i] = share(clocks);
    rest -= shares[i];
  }
  shares[static_cast<std::size_t>(lpddr5::idle_cause::no_request)] += std::max(0.0, rest);
  return shares;
}

}  // namespace dvp::platform
